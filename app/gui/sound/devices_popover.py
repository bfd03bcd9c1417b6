"""The popover next to the talk button: device lists with level meters, and buttons for the Sound dialog and
for ending the conversation.

The device lists are updated when devices are connected or disconnected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from app.gui.design.plain import named, set_tip
from app.gui.state.session_model import SessionModel
from app.gui.widgets.form import add_items, label_of, push_button, row
from app.gui.widgets.level_meter import LevelMeter
from app.gui.widgets.lists import PickList
from app.gui.widgets.popover import Popover
from app.settings.declarations import Settings


class DevicePicker(PickList):
    """A drop-down list of devices. An entry's data is the device name, or an empty string for the system default.
    `kept` returns the name of the selected device, which is listed even if it is unavailable.
    """

    def __init__(self, kept: Callable[[], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kept = kept
        self._names: list[str] = []
        # Keeps long names from making the window wider than the screen.
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        # Deferred, so that a selection in the closing list is emitted first.
        self.closed.connect(lambda: QTimer.singleShot(0, self, self.refresh))
        self.refresh()

    def offer(self, names: Sequence[str]) -> None:
        """Updates the listed devices; if the drop-down is open, this takes effect once it is closed."""
        self._names = list(names)
        self.refresh()

    def refresh(self) -> None:
        """Updates the list and the selection. No-op while the drop-down is open."""
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
    """Shows the audio devices selected in `settings` and emits the user's choices, without storing them."""

    devices_picked = Signal(str, str)
    """Emits the names of the selected microphone and loudspeaker; empty for the system default."""
    stop_talk = Signal()

    def __init__(self, settings: Settings, model: SessionModel, window: QWidget) -> None:
        super().__init__(window)
        self._model = model
        self.microphone = self._picker(self.tr("Microphone"), lambda: settings.microphone)
        self.loudspeaker = self._picker(self.tr("Loudspeaker"), lambda: settings.loudspeaker)
        self.microphone_level = LevelMeter(self.tr("Microphone level, dB"), self, titled=False)
        self.loudspeaker_level = LevelMeter(self.tr("Loudspeaker level, dB"), self, titled=False)
        self.sound = push_button(self.tr("&Sound…"), self.tr("Sound: devices, tests, echo, talk button"), self)
        set_tip(self.sound, self.sound.accessibleName())
        self.stop_button = push_button(self.tr("&End conversation"), self.tr("End conversation"), self)
        self.stop_button.setToolTip(self.tr("Ends this conversation and closes the microphone."))
        for text, picker, meter in (
            (self.tr("M&icrophone"), self.microphone, self.microphone_level),
            (self.tr("&Loudspeaker"), self.loudspeaker, self.loudspeaker_level),
        ):
            add_items(self.column, label_of(picker, text, self), picker, meter)
        self.column.addLayout(row(self.sound, None, self.stop_button))
        self.set_width(WIDTH_PX)
        for picker in (self.microphone, self.loudspeaker):
            picker.activated.connect(
                lambda: self.devices_picked.emit(self.microphone.currentData(), self.loudspeaker.currentData())
            )
        self.sound.clicked.connect(self.shut)
        self.stop_button.clicked.connect(self.shut)
        self.stop_button.clicked.connect(self.stop_talk)
        model.changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        self.stop_button.setEnabled(self._model.talk.phase != "stopped")
        self.microphone_level.set_muted(self._model.talk.muted)

    def set_devices(self, microphones: list[str], loudspeakers: list[str]) -> None:
        """Updates the device lists. The update of an open drop-down is deferred until it is closed.

        If a selected device is missing, it is still listed, but marked as not found.
        """
        self.microphone.offer(microphones)
        self.loudspeaker.offer(loudspeakers)

    def offer_again(self) -> None:
        """Updates both lists to show the devices selected in the settings."""
        self.microphone.refresh()
        self.loudspeaker.refresh()

    def _picker(self, name: str, kept: Callable[[], str]) -> DevicePicker:
        picker = named(DevicePicker(kept, self), name)
        picker.setToolTip(self.tr("Can be changed during the conversation."))
        picker.setMinimumContentsLength(10)
        return picker
