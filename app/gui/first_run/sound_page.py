"""The first run's page for sound: which microphone and loudspeaker, and whether they work."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.gui.first_run.parts import Boxed, Page
from app.gui.sound.controller import LIST_SECONDS, DeviceLister
from app.gui.sound.device_picker import DevicePicker
from app.gui.sound.tests import SoundTests
from app.gui.state.background_tasks import BackgroundTasks
from app.services.sound_service import SoundTestService

LIST = "first run: list the devices"


class SoundPage(Page):
    """`picked` tells both devices by name, empty for the system's default; `testing` that one is tried out."""

    picked = Signal(str, str)
    testing = Signal(bool)

    def __init__(
        self, service: SoundTestService | None, list_devices: DeviceLister, background: BackgroundTasks, parent: QWidget
    ) -> None:
        self.title = self.tr("Sound")
        self.words = self.tr("Say something, and see that you are understood.")
        super().__init__(parent)
        self._list_devices = list_devices
        self._errands = background
        self._lacks: tuple[bool, bool] | None = None
        """Whether there is no microphone, and no loudspeaker; None until that is known."""
        self._kept = ["", ""]
        self.microphone = DevicePicker(lambda: self._kept[0], self)
        self.loudspeaker = DevicePicker(lambda: self._kept[1], self)
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(6)
        for place, (text, name, picker) in enumerate(
            (
                (self.tr("&Microphone"), self.tr("Microphone"), self.microphone),
                (self.tr("L&oudspeaker"), self.tr("Loudspeaker"), self.loudspeaker),
            )
        ):
            label = QLabel(text, self)
            label.setBuddy(picker)
            picker.setAccessibleName(name)
            grid.addWidget(label, 0, place)
            grid.addWidget(picker, 1, place)
            grid.setColumnStretch(place, 1)
            picker.activated.connect(self._pick)
        self.column.addLayout(grid)
        self.lacking = QLabel(self)
        self.lacking.setWordWrap(True)
        self.lacking.setTextFormat(Qt.TextFormat.PlainText)
        self.lacking.setAccessibleName(self.tr("What is missing"))
        box = self._box = Boxed(self)
        box.column.addWidget(self.lacking)
        self.column.addWidget(box)
        self.tests: SoundTests | None = None
        if service is not None:
            self.tests = SoundTests(service, background, self)
            # The pickers name them.
            self.tests.microphone_name.hide()
            self.tests.loudspeaker_name.hide()
            self.tests.began.connect(lambda: self.testing.emit(True))
            self.tests.ended.connect(lambda: self.testing.emit(False))
            self.column.addSpacing(6)
            self.column.addWidget(self.tests)
        self.column.addStretch(1)
        self._tell_lacking()

    @property
    def devices(self) -> tuple[str, str]:
        """The microphone and the loudspeaker that are chosen."""
        return self.microphone.currentData() or "", self.loudspeaker.currentData() or ""

    @property
    def name(self) -> str:
        """The microphone, for people."""
        return self.microphone.currentText()

    def begin(self, microphone: str, loudspeaker: str) -> None:
        """Has the devices in force chosen, and forgets what was found before."""
        if self.tests is not None:
            self.tests.clear()
        self._kept = [microphone, loudspeaker]
        self.microphone.refresh()
        self.loudspeaker.refresh()
        self._show_devices()

    def set_devices(self, microphones: list[str], loudspeakers: list[str]) -> None:
        """Offers the devices that there are now."""
        self._lacks = (not microphones, not loudspeakers)
        self.microphone.offer(microphones)
        self.loudspeaker.offer(loudspeakers)
        self._show_devices()
        self._tell_lacking()

    def arrive(self) -> QWidget:
        """See `Page.arrive`."""
        self._errands.run(LIST, self._look, lambda found: self.set_devices(*found), lambda _: None)
        return self.tests.say_button if self.tests is not None else self.microphone

    def depart(self) -> None:
        """Closes the microphone."""
        self._errands.cancel(LIST)
        if self.tests is not None:
            self.tests.leave()

    def show_level(self, user_dbfs: float, assistant_dbfs: float, at: float, clipped: bool) -> None:
        """Shows the levels of the talk's sound, in dBFS, at session time `at`."""
        if self.tests is not None:
            self.tests.show_level(user_dbfs, assistant_dbfs, at, clipped)

    async def _look(self) -> tuple[list[str], list[str]]:
        return await asyncio.wait_for(asyncio.to_thread(self._list_devices), LIST_SECONDS)

    def _pick(self) -> None:
        self._kept = list(self.devices)
        self._show_devices()
        self.picked.emit(*self.devices)

    def _show_devices(self) -> None:
        if self.tests is not None:
            self.tests.show_devices(*self.devices)

    def _tell_lacking(self) -> None:
        no_microphone, no_loudspeaker = self._lacks or (False, False)
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
