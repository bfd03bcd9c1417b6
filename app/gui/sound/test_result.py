"""Describes a device test: its progress, the recognised words, and how to fix any problems."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.widgets.form import column, wrapped
from app.gui.widgets.panel import Quiet
from app.services.microphone_check import MicrophoneTest


class SoundTestResult(QWidget):
    """Two lines, `state` and `verdict`, each hidden while empty."""

    reshaped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state = wrapped(self, self.tr("How the test goes"))
        self.verdict = Quiet(parent=self, selectable=True, name=self.tr("What the test found"))
        column(self.state, self.verdict, within=self, spacing=4)
        self.show_text("")

    def show_text(self, state: str, verdict: str = "") -> None:
        """Sets both lines."""
        if (self.state.text(), self.verdict.text()) == (state, verdict) and self.isHidden() == (not state + verdict):
            return
        for label, words in ((self.state, state), (self.verdict, verdict)):
            label.setText(words)
            label.setVisible(bool(words))
        self.setVisible(bool(state or verdict))
        self.reshaped.emit()

    def show_found(self, found: MicrophoneTest) -> None:
        """Describes the result of a microphone test."""
        self.show_text(self._words(found), self._advice(found) + self._figures(found))

    def _words(self, found: MicrophoneTest) -> str:
        if found.words:
            return self.tr("Understood: “{0}”").format(found.words)
        if found.speech_dbfs is not None:
            return self.tr("You were heard, but no words were understood. The app's speech recognition knows English.")
        return ""

    def _advice(self, found: MicrophoneTest) -> str:
        match found.verdict:
            case "good":
                return self.tr("Good: loud enough, and clear.")
            case "silent":
                return self.tr(
                    "Nothing at all came from “{0}”. Check that it is not muted, by its own switch or in the "
                    "system's sound settings, and that it is the right one."
                ).format(found.name)
            case "quiet":
                return self.tr(
                    "Too quiet: move closer, or raise the microphone's level in the system's sound settings."
                )
            case "clipped":
                return self.tr(
                    "Too loud, so that the sound is cut off: move away a little, or lower the microphone's level in "
                    "the system's sound settings."
                )
            case "noisy":
                return self.tr(
                    "Noise almost drowns out your voice: move closer, find its source, or switch noise suppression on."
                )
            case "no speech":
                words = self.tr("“{0}” works, but nobody spoke. Try again, and speak while it listens.")
                return words.format(found.name)

    def _figures(self, found: MicrophoneTest) -> str:
        if found.verdict == "silent":
            return ""
        figures = [self.tr("loudest {0} dB").format(_decibels(found.peak_dbfs))]
        if found.speech_dbfs is not None:
            figures.append(self.tr("speech {0} dB").format(_decibels(found.speech_dbfs)))
        figures.append(self.tr("noise {0} dB").format(_decibels(found.noise_dbfs)))
        return " (" + ", ".join(figures) + ")"


def _decibels(level: float) -> str:
    return f"{level:.0f}".replace("-", "\u2212")
