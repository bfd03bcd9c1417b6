"""A list of microphones or loudspeakers by name that follows what is plugged in and out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSignalBlocker, QTimer
from PySide6.QtWidgets import QComboBox, QWidget

from app.gui.widgets.pick_list import PickList


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
