"""Takes in changed settings, applies those that take effect at once, and saves the settings and the window's state.

Knows the settings by their names, and calls the functions that were registered for them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.gui.design.motion import timer
from app.settings.declarations import Settings, declarations
from app.settings.kept_state import WindowState

SAVE_AFTER_MS = 400

_log = logging.getLogger(__name__)


class SettingsController(QObject):
    """`follow` registers what a changed setting leads to; the others take effect with the next conversation."""

    failed = Signal(str)
    saved = Signal()
    taken = Signal(str, object)
    """A setting has this value now, whoever changed it."""

    def __init__(self, settings: Settings, state: WindowState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self.state = state
        self._follows: dict[str, list[Callable[[Any], object]]] = {}
        self._known = {one.name: getattr(settings, one.name) for one in declarations()}
        self._timer = timer(self, SAVE_AFTER_MS, self.save)
        self._state_timer = timer(self, SAVE_AFTER_MS, self._save_state)

    def follow(self, *keys: str, does: Callable[[Any], object]) -> None:
        """Calls `does` with the new value whenever `change` changes one of these settings."""
        for key in keys:
            self._follows.setdefault(key, []).append(does)

    def change(self, key: str, value: object) -> None:
        """Changes a setting, and calls what follows from it."""
        if getattr(self._settings, key) == value:
            return
        setattr(self._settings, key, value)
        for does in self._follows.get(key, ()):
            does(value)
        self.later()

    def remember(self, **values: object) -> None:
        """Changes fields of the window's state, and saves it soon."""
        for name, value in values.items():
            setattr(self.state, name, value)
        self._state_timer.start()

    def later(self) -> None:
        """Saves the settings soon, which `change` or somebody else has changed."""
        self._tell()
        self._timer.start()

    def save(self) -> None:
        """Saves the settings now."""
        self._timer.stop()
        try:
            self._settings.save()
        except OSError as error:
            sentence = self.tr("The settings could not be saved ({0}); they hold until you close the window.")
            self.failed.emit(sentence.format(error.strerror or error))
        else:
            self.saved.emit()

    def close(self) -> None:
        """Saves what is not saved yet, before the window closes."""
        if self._timer.isActive():
            self.save()
        if self._state_timer.isActive():
            self._save_state()

    def _save_state(self) -> None:
        self._state_timer.stop()
        try:
            self.state.save()
        except OSError as error:
            _log.warning("the window's state could not be saved: %s", error)  # the previous one remains

    def _tell(self) -> None:
        for key, before in list(self._known.items()):
            if (value := getattr(self._settings, key)) != before:
                self._known[key] = value
                self.taken.emit(key, value)
