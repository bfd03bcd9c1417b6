"""The section of the dialog “Sound” that chooses how the microphone's sound is processed."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from app.conversation.sound_processing import Processing
from app.gui.widgets.panel import Quiet
from app.settings.declarations import Settings

INDENT_PX = 24


class ProcessingBox(QWidget):
    """Three check boxes, each with an explanation."""

    changed = Signal(object)
    """The chosen `Processing`."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.echo = QCheckBox(self.tr("&Echo cancellation"), self)
        self.noise = QCheckBox(self.tr("&Noise suppression"), self)
        self.gain = QCheckBox(self.tr("Automatic &gain"), self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for box, words in (
            (self.echo, self.tr("Removes the app's own voice, so that you can interrupt it while using loudspeakers.")),
            (self.noise, self.tr("Removes steady noise, such as a fan's; a voice may lose some brightness.")),
            (self.gain, self.tr("Makes a quiet voice louder, and everything else that can be heard with it.")),
        ):
            explanation = Quiet(words, self)
            explanation.setContentsMargins(INDENT_PX, 0, 0, 0)
            box.setAccessibleName(box.text().replace("&", ""))
            box.setAccessibleDescription(words)
            box.clicked.connect(lambda: self.changed.emit(self.processing))
            column.addWidget(box)
            column.addSpacing(-6)
            column.addWidget(explanation)

    @property
    def processing(self) -> Processing:
        """What is chosen."""
        return Processing(self.echo.isChecked(), self.noise.isChecked(), self.gain.isChecked())

    def show_settings(self, settings: Settings) -> None:
        """Shows the settings' values."""
        self.echo.setChecked(settings.echo_cancellation)
        self.noise.setChecked(settings.noise_suppression)
        self.gain.setChecked(settings.auto_gain)
