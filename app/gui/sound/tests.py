"""The level meters and the device tests in the Sound dialog.

The owner must mute a running session between `began` and `ended`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from app.gui.design.plain import set_tip
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.form import column, grid, row, wrapped
from app.gui.widgets.level_meter import LevelMeter
from app.gui.widgets.panel import ElidedLabel, Quiet
from app.services.microphone_check import MicrophoneTest
from app.services.sound_service import SoundTestService


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
            label.say(words)
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


TASK = "test a sound device"

SAY_SECONDS = 5.0
"""The maximum duration of a microphone test."""

DONE_MS = 400
"""If no level is reported for this long, the recording has ended and is being transcribed."""


class SoundTests(QWidget):
    """Runs device tests. Emits `began` before a test opens a device, and `ended` once no test has a device open."""

    began = Signal()
    ended = Signal()
    reshaped = Signal()

    def __init__(self, service: SoundTestService, background: BackgroundTasks, parent: QWidget) -> None:
        super().__init__(parent)
        self._service = service
        self._background = background
        self._microphone = self._loudspeaker = ""
        self._running = 0
        """The number of tests that may have a device open. A cancelled test takes a moment to close its device."""
        self._active: QPushButton | None = None
        self._recorded = False
        self._shown_at = 0.0
        self.microphone_name, self.loudspeaker_name = ElidedLabel(parent=self), ElidedLabel(parent=self)
        self.microphone = LevelMeter(self.tr("Microphone level, dB"), self)
        self.loudspeaker = LevelMeter(self.tr("Loudspeaker level, dB"), self)
        self.say_button, self.back_button, self.play_button = (QPushButton(self) for _ in range(3))
        for button in self._buttons:
            button.setAutoDefault(False)
        self.back_button.setToolTip(
            self.tr("Plays the microphone's recording, before any processing, on the loudspeaker.")
        )
        self.play_button.setToolTip(self.tr("Plays two tones and a sentence in the app's voice."))
        self.answer = SoundTestResult(self)
        self.answer.reshaped.connect(self.reshaped)
        self._silence_timer = QTimer(self, singleShot=True, interval=DONE_MS)
        self._silence_timer.timeout.connect(lambda: self.answer.show_text(self.tr("Transcribing what you said …")))
        self._lay_out()
        self.say_button.clicked.connect(self._say_something)
        self.back_button.clicked.connect(self._play_back)
        self.play_button.clicked.connect(self._play)
        self.show_devices("", "")
        self._name_buttons()

    @property
    def testing(self) -> bool:
        """Whether a test is running."""
        return self._active is not None

    def show_devices(self, microphone: str, loudspeaker: str) -> None:
        """Sets the names of the devices to test; empty for the system default."""
        self._microphone, self._loudspeaker = microphone, loudspeaker
        for label, name in ((self.microphone_name, microphone), (self.loudspeaker_name, loudspeaker)):
            label.setText(name or self.tr("The system's default"))
            set_tip(label, name)

    def show_level(self, user_dbfs: float, assistant_dbfs: float, at: float, clipped: bool) -> None:
        """Shows the session's levels in dBFS at session time `at`. During a test, the microphone meter shows the test's
        levels instead.
        """
        if at < self._shown_at:  # a new session has started
            self.loudspeaker.clear()
            if not self.testing:
                self.microphone.clear()
        self._shown_at = at
        if not self.testing:
            self.microphone.set_level(user_dbfs, at, clipped)
        self.loudspeaker.set_level(assistant_dbfs, at)

    def clear(self) -> None:
        """Clears levels and results; the previous recording can no longer be played back."""
        self._clear_meters()
        self._recorded = False
        self._name_buttons()
        self.answer.show_text("")

    def leave(self) -> None:
        """Cancels any running test without showing a result."""
        if self.testing:
            self._background.cancel(TASK)
            self._finish()
            self.answer.show_text("")

    # -- the tests

    def _say_something(self) -> None:
        self._start(
            self.say_button,
            self.tr("Opening the microphone …"),
            lambda: self._service.test_microphone(self._microphone, SAY_SECONDS, self._on_level),
            self._on_found,
        )

    def _play_back(self) -> None:
        self._start(
            self.back_button,
            self.tr("This is what the microphone recorded."),
            lambda: self._service.play_back(self._loudspeaker),
            lambda _: self._show_done(""),
        )

    def _play(self) -> None:
        self._start(
            self.play_button,
            self.tr("You should hear two tones now, and then a voice."),
            lambda: self._service.test_loudspeaker(self._loudspeaker),
            lambda _: self._show_done(
                self.tr("If you heard nothing: turn the loudspeaker up, or choose another one in the window.")
            ),
        )

    def _start(
        self, button: QPushButton, words: str, work: Callable[[], Coroutine[Any, Any, Any]], done: Callable[[Any], None]
    ) -> None:
        if self.testing:  # only the running test's button is enabled, and it stops the test
            self._service.stop()
            return
        self._active = button
        self._clear_meters()
        self._name_buttons()
        self.answer.show_text(words)
        self._background.run(self, TASK, lambda: self._run(work), done, self._show_done)

    async def _run(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        self._running += 1
        if self._running == 1:
            self.began.emit()
        try:
            return await work()
        finally:
            self._running -= 1
            if not self._running:
                with contextlib.suppress(RuntimeError):  # the window has been destroyed
                    self.ended.emit()

    def _on_level(self, level_dbfs: float, clipped: bool) -> None:
        if self._active is not self.say_button:
            return
        if not self._silence_timer.isActive():
            self.answer.show_text(self.tr("Listening. Say something, as you would in a conversation."))
        self._silence_timer.start()
        self.microphone.set_level(level_dbfs, time.monotonic(), clipped)

    def _on_found(self, found: MicrophoneTest) -> None:
        self._recorded = True
        self._finish()
        self.answer.show_found(found)

    def _show_done(self, sentence: str) -> None:
        self._finish()
        self.answer.show_text("", sentence)

    def _finish(self) -> None:
        self._active = None
        self._silence_timer.stop()
        self._clear_meters()
        self._name_buttons()

    @property
    def _buttons(self) -> tuple[QPushButton, QPushButton, QPushButton]:
        return self.say_button, self.back_button, self.play_button

    def _name_buttons(self) -> None:
        """Updates the buttons. A running test's button turns into a stop button, and the other buttons are disabled."""
        for button, text, stop in (
            (self.say_button, self.tr("Say &something"), self.tr("Done")),
            (self.back_button, self.tr("Play it &back"), self.tr("Stop playing back")),
            (self.play_button, self.tr("Play a so&und"), self.tr("Stop the sound")),
        ):
            running = self._active is button
            for words in (text, stop) if running else (stop, text):  # reserves the width of the longer text
                button.setText(words)
                button.setMinimumWidth(max(button.minimumWidth(), button.sizeHint().width()))
            button.setAccessibleName(button.text().replace("&", ""))
            button.setEnabled(running or (not self.testing and (self._recorded or button is not self.back_button)))

    def _clear_meters(self) -> None:
        self.microphone.clear()
        self.loudspeaker.clear()

    def _lay_out(self) -> None:
        layout = grid(24, 8, stretch=0, within=self)
        layout.setColumnStretch(1, 1)
        layout.addWidget(self.microphone_name, 0, 0)
        layout.addWidget(self.loudspeaker_name, 0, 1)
        layout.addWidget(self.microphone, 1, 0)
        layout.addWidget(self.loudspeaker, 1, 1)
        for place, buttons in enumerate(((self.say_button, self.back_button), (self.play_button,))):
            layout.addLayout(row(*buttons, None, spacing=8), 2, place)
        layout.addWidget(self.answer, 3, 0, 1, 2)
