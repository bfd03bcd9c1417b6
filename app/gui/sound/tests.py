"""Microphone and loudspeaker in the dialog “Sound”: how loud they are, and trying them out.

Talks to the desk for sound alone. Knows nothing of talks: whoever does mutes one while a test runs.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QWidget

from app.gui.sound.test_result import SoundAnswer
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.elided import Elided
from app.gui.widgets.level_meter import LevelMeter
from app.services.microphone_check import MicrophoneTest
from app.services.sound_service import SoundTestService

ERRAND = "try out a sound device"

SAY_SECONDS = 5.0
"""How long somebody may take to say something."""

DONE_MS = 400
"""No level for so long: the microphone is closed, and what was said is being understood."""


class SoundTests(QWidget):
    """`began` before a test touches a device, `ended` once no test does any more; never one without the other."""

    began = Signal()
    ended = Signal()
    reshaped = Signal()

    def __init__(self, service: SoundTestService, background: BackgroundTasks, parent: QWidget) -> None:
        super().__init__(parent)
        self._service = service
        self._errands = background
        self._microphone = self._loudspeaker = ""
        self._running = 0
        """Tests that have a device still: one that was cancelled may take a moment to close its own."""
        self._pressed: QPushButton | None = None
        self._recorded = False
        self._shown_at = 0.0
        self.microphone_name, self.loudspeaker_name = Elided(parent=self), Elided(parent=self)
        self.microphone = LevelMeter(self.tr("Microphone level, dB"), self)
        self.loudspeaker = LevelMeter(self.tr("Loudspeaker level, dB"), self)
        self.say_button, self.back_button, self.play_button = (QPushButton(self) for _ in range(3))
        for button in self._buttons:
            button.setAutoDefault(False)
        self.back_button.setToolTip(
            self.tr("What the microphone heard, on the loudspeaker, before anything is done to it.")
        )
        self.play_button.setToolTip(self.tr("Two tones, and a sentence in the app's voice."))
        self.answer = SoundAnswer(self)
        self.answer.reshaped.connect(self.reshaped)
        self._hushed = QTimer(self, singleShot=True, interval=DONE_MS)
        self._hushed.timeout.connect(lambda: self.answer.tell(self.tr("Working out what you said …")))
        self._lay_out()
        self.say_button.clicked.connect(self._say_something)
        self.back_button.clicked.connect(self._play_back)
        self.play_button.clicked.connect(self._play)
        self.show_devices("", "")
        self._name_buttons()

    @property
    def testing(self) -> bool:
        """Whether a test is under way."""
        return self._pressed is not None

    def show_devices(self, microphone: str, loudspeaker: str) -> None:
        """Names the devices that are chosen and will be tried; empty: the system's defaults."""
        self._microphone, self._loudspeaker = microphone, loudspeaker
        for label, name in ((self.microphone_name, microphone), (self.loudspeaker_name, loudspeaker)):
            label.setText(name or self.tr("The system's default"))
            label.setToolTip(name)

    def show_level(self, user_dbfs: float, assistant_dbfs: float, at: float, clipped: bool) -> None:
        """Shows the talk's levels; while a test runs, the microphone's meter is the test's."""
        if at < self._shown_at:  # time has begun anew, with a new talk
            self.loudspeaker.clear()
            if not self.testing:
                self.microphone.clear()
        self._shown_at = at
        if not self.testing:
            self.microphone.set_level(user_dbfs, at, clipped)
        self.loudspeaker.set_level(assistant_dbfs, at)

    def clear(self) -> None:
        """Nothing is known any more of how the devices do."""
        self._quiet_meters()
        self._recorded = False
        self._name_buttons()
        self.answer.tell("")

    def leave(self) -> None:
        """Ends what is under way, and says nothing of it."""
        if self.testing:
            self._errands.cancel(ERRAND)
            self._settle()
            self.answer.tell("")

    # -- the tests

    def _say_something(self) -> None:
        if self._stopped():
            return
        self.microphone.clear()
        self._begin(
            self.say_button,
            self.tr("Opening the microphone …"),
            lambda: self._service.test_microphone(self._microphone, SAY_SECONDS, self._heard),
            self._show_found,
        )

    def _play_back(self) -> None:
        if self._stopped():
            return
        self._begin(
            self.back_button,
            self.tr("This is what the microphone heard."),
            lambda: self._service.play_back(self._loudspeaker),
            lambda _: self._done(""),
        )

    def _play(self) -> None:
        if self._stopped():
            return
        self._begin(
            self.play_button,
            self.tr("You should hear two tones now, and then a voice."),
            lambda: self._service.test_loudspeaker(self._loudspeaker),
            lambda _: self._done(
                self.tr("If you heard nothing: turn the loudspeaker up, or choose another one in the window.")
            ),
        )

    def _stopped(self) -> bool:
        """Whether the button was pressed to end what it began."""
        if self.testing:
            self._service.stop()
        return self.testing

    def _begin(
        self,
        button: QPushButton,
        words: str,
        work: Callable[[], Coroutine[Any, Any, Any]],
        done: Callable[[Any], None],
    ) -> None:
        self._pressed = button
        self._quiet_meters()
        self._name_buttons()
        self.answer.tell(words)
        self._errands.run(ERRAND, lambda: self._held(work), done, self._refused)

    async def _held(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Tells of its beginning and its end, however it ends."""
        self._running += 1
        if self._running == 1:
            self.began.emit()
        try:
            return await work()
        finally:
            self._running -= 1
            if not self._running:
                with contextlib.suppress(RuntimeError):  # the window is gone
                    self.ended.emit()

    def _heard(self, level_dbfs: float, clipped: bool) -> None:
        if self._pressed is not self.say_button:
            return
        if not self._hushed.isActive():
            self.answer.tell(self.tr("Listening. Say something, as you would in a talk."))
        self._hushed.start()
        self.microphone.set_level(level_dbfs, time.monotonic(), clipped)

    def _show_found(self, found: MicrophoneTest) -> None:
        self._recorded = True
        self._settle()
        self.answer.show_found(found)

    def _done(self, words: str) -> None:
        self._settle()
        self.answer.tell("", words)

    def _refused(self, sentence: str) -> None:
        self._settle()
        self.answer.tell("", sentence)

    def _settle(self) -> None:
        """No test runs any more."""
        self._pressed = None
        self._hushed.stop()
        self._quiet_meters()
        self._name_buttons()

    # -- inner parts

    @property
    def _buttons(self) -> tuple[QPushButton, QPushButton, QPushButton]:
        return self.say_button, self.back_button, self.play_button

    def _name_buttons(self) -> None:
        """The button of what is under way ends it; the others wait."""
        for button, text, stop in (
            (self.say_button, self.tr("Say &something"), self.tr("That's all")),
            (self.back_button, self.tr("Play it &back"), self.tr("Stop playing back")),
            (self.play_button, self.tr("Play a so&und"), self.tr("Stop the sound")),
        ):
            running = self._pressed is button
            for words in (text, stop) if running else (stop, text):  # as wide as the longer one, from the beginning
                button.setText(words)
                button.setMinimumWidth(max(button.minimumWidth(), button.sizeHint().width()))
            button.setAccessibleName(button.text().replace("&", ""))
            button.setEnabled(running or (not self.testing and (self._recorded or button is not self.back_button)))

    def _quiet_meters(self) -> None:
        self.microphone.clear()
        self.loudspeaker.clear()

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self.microphone_name, 0, 0)
        grid.addWidget(self.loudspeaker_name, 0, 1)
        grid.addWidget(self.microphone, 1, 0)
        grid.addWidget(self.loudspeaker, 1, 1)
        for column, buttons in enumerate(((self.say_button, self.back_button), (self.play_button,))):
            row = QHBoxLayout()
            row.setSpacing(8)
            for button in buttons:
                row.addWidget(button)
            row.addStretch(1)
            grid.addLayout(row, 2, column)
        grid.addWidget(self.answer, 3, 0, 1, 2)
