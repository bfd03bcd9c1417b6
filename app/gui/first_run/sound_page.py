"""The first run's page “Sound”: which microphone and loudspeaker, and whether they work."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.controllers.sound_controller import LIST_SECONDS, DeviceLister
from app.gui.first_run.cards.choice_card import Boxed
from app.gui.first_run.page import Page
from app.gui.sound.devices_popover import DevicePicker
from app.gui.sound.tests import SoundTests
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.form import grid, label_of, wrapped
from app.services.sound_service import SoundTestService

LIST = "first run: list the devices"


class SoundPage(Page):
    """`picked` emits both devices by name, empty for the system's default; `testing` whether one is being tested."""

    picked = Signal(str, str)
    testing = Signal(bool)

    def __init__(
        self, service: SoundTestService | None, list_devices: DeviceLister, background: BackgroundTasks, parent: QWidget
    ) -> None:
        super().__init__(self.tr("Sound"), self.tr("Say something, and see whether you are understood."), parent)
        self._list_devices = list_devices
        self._background = background
        self._absent: tuple[bool, bool] | None = None
        """Whether there is no microphone, and no loudspeaker; None until the devices were listed."""
        self._devices = ["", ""]
        self.microphone = DevicePicker(lambda: self._devices[0], self)
        self.loudspeaker = DevicePicker(lambda: self._devices[1], self)
        pickers = grid(24, 6, stretch=0)
        pickers.setColumnStretch(1, 1)
        for place, (text, picker) in enumerate(
            ((self.tr("&Microphone"), self.microphone), (self.tr("L&oudspeaker"), self.loudspeaker))
        ):
            picker.setAccessibleName(text.replace("&", ""))
            pickers.addWidget(label_of(picker, text, self), 0, place)
            pickers.addWidget(picker, 1, place)
            picker.activated.connect(self._pick)
        self.column.addLayout(pickers)
        self.lacking = wrapped(self, self.tr("What is missing"))
        box = self._box = Boxed(self)
        box.column.addWidget(self.lacking)
        self.column.addWidget(box)
        self.tests: SoundTests | None = None
        if service is not None:
            self.tests = SoundTests(service, background, self)
            # The pickers above show their names.
            self.tests.microphone_name.hide()
            self.tests.loudspeaker_name.hide()
            self.tests.began.connect(lambda: self.testing.emit(True))
            self.tests.ended.connect(lambda: self.testing.emit(False))
            self.column.addSpacing(6)
            self.column.addWidget(self.tests)
        self.column.addStretch(1)
        self._show_lacking()

    @property
    def devices(self) -> tuple[str, str]:
        return self.microphone.currentData() or "", self.loudspeaker.currentData() or ""

    @property
    def name(self) -> str:
        """The microphone, for people; empty if there is none."""
        return "" if self._absent is not None and self._absent[0] else self.microphone.currentText()

    def begin(self, microphone: str, loudspeaker: str) -> None:
        """Chooses the devices in force, and forgets earlier test results."""
        if self.tests is not None:
            self.tests.clear()
        self._devices = [microphone, loudspeaker]
        self.microphone.refresh()
        self.loudspeaker.refresh()
        self._show_devices()

    def set_devices(self, microphones: list[str], loudspeakers: list[str]) -> None:
        self._absent = (not microphones, not loudspeakers)
        self.microphone.offer(microphones)
        self.loudspeaker.offer(loudspeakers)
        self._show_devices()
        self._show_lacking()

    def arrive(self) -> QWidget:
        self._background.run(self, LIST, self._list, lambda found: self.set_devices(*found), lambda _: None)
        return self.tests.say_button if self.tests is not None else self.microphone

    def depart(self) -> None:
        """Closes the microphone."""
        self._background.cancel(LIST)
        if self.tests is not None:
            self.tests.leave()

    def show_level(self, user_dbfs: float, assistant_dbfs: float, at: float, clipped: bool) -> None:
        """Shows the levels of the session's sound, in dBFS, at session time `at`."""
        if self.tests is not None:
            self.tests.show_level(user_dbfs, assistant_dbfs, at, clipped)

    async def _list(self) -> tuple[list[str], list[str]]:
        return await asyncio.wait_for(asyncio.to_thread(self._list_devices), LIST_SECONDS)

    def _pick(self) -> None:
        self._devices = list(self.devices)
        self._show_devices()
        self.picked.emit(*self.devices)

    def _show_devices(self) -> None:
        if self.tests is not None:
            self.tests.show_devices(*self.devices)

    def _show_lacking(self) -> None:
        no_microphone, no_loudspeaker = self._absent or (False, False)
        words = ""
        if no_microphone and no_loudspeaker:
            words = self.tr(
                "No microphone and no loudspeaker. Plug them in, and they are offered here; until then "
                "you can type, and read the answers."
            )
        elif no_microphone:
            words = self.tr("No microphone. Plug one in, and it is offered here; until then you can type.")
        elif no_loudspeaker:
            words = self.tr("No loudspeaker. Plug one in, and it is offered here; until then you can read the answers.")
        self.lacking.setText(words)
        self._box.setVisible(bool(words))
