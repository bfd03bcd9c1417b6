"""Keeps the settings: takes changes in, has what can change at once do so, and saves what there is to save.

Knows the settings by their names, and what follows from a change only as what it was told to call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.settings.declarations import Settings, declarations

SAVE_AFTER_MS = 400


class SettingsController(QObject):
    """`follow` tells what a changed setting leads to; all others count from the next conversation on."""

    failed = Signal(str)
    saved = Signal()
    taken = Signal(str, object)
    """A setting has this value now, whoever changed it."""

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._follows: dict[str, Callable[[Any], None]] = {}
        self._known = {one.name: getattr(settings, one.name) for one in declarations()}
        self._timer = QTimer(self, singleShot=True, interval=SAVE_AFTER_MS)
        self._timer.timeout.connect(self.save)

    def follow(self, *keys: str, does: Callable[[Any], None]) -> None:
        """Has `does` called with the new value when one of these settings was changed by `change`."""
        for key in keys:
            self._follows[key] = does

    def change(self, key: str, value: object) -> None:
        """Takes a setting over, and does what follows."""
        if getattr(self._settings, key) == value:
            return
        setattr(self._settings, key, value)
        self._tell()
        if key in self._follows:
            self._follows[key](value)
        self.later()

    def later(self) -> None:
        """Settings were changed, by `change` or by others: they are saved soon."""
        self._tell()
        self._timer.start()

    def save(self) -> None:
        """Saves them now."""
        self._timer.stop()
        try:
            self._settings.save()
        except OSError as error:
            sentence = self.tr("The settings could not be saved ({0}); they hold until you close the window.")
            self.failed.emit(sentence.format(error.strerror or error))
        else:
            self.saved.emit()

    def close(self) -> None:
        """The window goes: what waits is saved."""
        if self._timer.isActive():
            self.save()

    def _tell(self) -> None:
        for key, before in list(self._known.items()):
            if (value := getattr(self._settings, key)) != before:
                self._known[key] = value
                self.taken.emit(key, value)
