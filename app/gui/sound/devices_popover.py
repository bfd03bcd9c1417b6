"""The popover beside the talk button: microphone and loudspeaker with their levels, mute, and the way to more.

The lists of devices follow what is plugged in and out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from app.gui.design.plain import set_tip
from app.gui.widgets.form import label_of, push_button, row
from app.gui.widgets.level_meter import LevelMeter
from app.gui.widgets.pick_list import PickList
from app.gui.widgets.popover import Popover
from app.settings.declarations import Settings


class DevicePicker(PickList):
    """Each entry's data is the device's name; empty for the system's default. `kept` returns the chosen device's name,
    which is listed even where it isn't found.
    """

    def __init__(self, kept: Callable[[], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kept = kept
        self._names: list[str] = []
        # Long names must not push a window wider than the screen.
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        # A pick in the closing list is reported first.
        self.closed.connect(lambda: QTimer.singleShot(0, self, self.refresh))
        self.refresh()

    def offer(self, names: Sequence[str]) -> None:
        """Lists these devices, once the list is closed: it must not change while the user picks."""
        self._names = list(names)
        self.refresh()

    def refresh(self) -> None:
        """Fills the list and shows the chosen device, unless the list is open."""
        if self.view().isVisible():
            return
        kept = self._kept()
        with QSignalBlocker(self):
            self.clear()
            self.addItem(self.tr("System default"), "")
            for name in self._names:
                self.addItem(name, name)
            if kept and kept not in self._names:
                self.addItem(self.tr("Not found: {0}").format(kept), kept)
            self.setCurrentIndex(max(0, self.findData(kept)))


WIDTH_PX = 360


class DevicesPopover(Popover):
    """Reads `settings` and never writes them."""

    devices_picked = Signal(str, str)
    """A microphone and a loudspeaker by name; empty for the system's defaults."""
    stop_talk = Signal()

    def __init__(self, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self.microphone = self._picker(self.tr("Microphone"), lambda: settings.microphone)
        self.loudspeaker = self._picker(self.tr("Loudspeaker"), lambda: settings.loudspeaker)
        self.microphone_level = LevelMeter(self.tr("Microphone level, dB"), self, titled=False)
        self.loudspeaker_level = LevelMeter(self.tr("Loudspeaker level, dB"), self, titled=False)
        self.sound = push_button(self.tr("&Sound…"), self.tr("Sound: devices, tests, echo, talk button"), self)
        set_tip(self.sound, self.sound.accessibleName())
        self.stop_button = push_button(self.tr("S&top"), self.tr("Stop the conversation"), self)
        self.stop_button.setToolTip(self.tr("Ends this conversation and closes the microphone."))
        for text, picker, meter in (
            (self.tr("M&icrophone"), self.microphone, self.microphone_level),
            (self.tr("&Loudspeaker"), self.loudspeaker, self.loudspeaker_level),
        ):
            self.column.addWidget(label_of(picker, text, self))
            self.column.addWidget(picker)
            self.column.addWidget(meter)
        self.column.addLayout(row(self.sound, None, self.stop_button))
        self.set_width(WIDTH_PX)
        for picker in (self.microphone, self.loudspeaker):
            picker.activated.connect(
                lambda: self.devices_picked.emit(self.microphone.currentData(), self.loudspeaker.currentData())
            )
        self.sound.clicked.connect(self.shut)
        self.stop_button.clicked.connect(self.shut)
        self.stop_button.clicked.connect(self.stop_talk)

    def set_devices(self, microphones: list[str], loudspeakers: list[str]) -> None:
        """Offers these devices, once no list is open; one that is in the settings but not there stays offered, and
        marked.
        """
        self.microphone.offer(microphones)
        self.loudspeaker.offer(loudspeakers)

    def offer_again(self) -> None:
        """Shows the devices that are in the settings now."""
        self.microphone.refresh()
        self.loudspeaker.refresh()

    def set_running(self, phase: str) -> None:
        """Only what isn't stopped can be stopped."""
        self.stop_button.setEnabled(phase != "stopped")

    def _picker(self, name: str, kept: Callable[[], str]) -> DevicePicker:
        picker = DevicePicker(kept, self)
        picker.setAccessibleName(name)
        picker.setToolTip(self.tr("Can be changed during the conversation."))
        picker.setMinimumContentsLength(10)
        return picker
