"""Persistent window state other than settings, stored in `window.json` next to the settings file."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from app.settings.storage import read_stored, write_stored


@dataclass(slots=True)
class WindowState:
    """The persistent state of the window. `notice`: a user-facing message about problems with the file, or empty."""

    first_run_done: bool = False
    """Whether the user has completed the welcome cards."""
    oracle_introduced: bool = False
    """Whether the oracle panel has been opened automatically, which happens only once."""
    favourites: list[Any] = field(default_factory=list)
    """The favourite back-ends, in the order of their shortcuts, as dicts with `provider`, `model` and `base_url`."""
    recent_commands: list[Any] = field(default_factory=list)
    """The IDs of the commands most recently run from the palette, newest first."""
    model_colours: list[Any] = field(default_factory=list)
    """The names of models in the order in which they were first seen, which determines their colours."""
    layout: dict[str, Any] = field(default_factory=dict)
    """The window layout; see `app.gui.shell.panes.WindowLayoutStore`."""
    path: Path | None = field(default=None, compare=False)
    notice: str = field(default="", compare=False)
    _unread: bool = field(default=False, compare=False, repr=False)

    @classmethod
    def load(cls, path: Path) -> WindowState:
        """Loads the file. Fields that are missing or have the wrong type get their defaults."""
        stored = read_stored(path, "file of favourites and window layout")
        state = cls(path=path, notice=stored.notice, _unread=stored.unread)
        for name in _kept():
            if type(value := stored.values.get(name)) is type(getattr(state, name)):
                setattr(state, name, value)
        return state

    def save(self) -> None:
        """Writes the file atomically. Raises OSError."""
        assert self.path is not None
        write_stored(self.path, {name: getattr(self, name) for name in _kept()}, unread=self._unread)
        self._unread = False


def strings(value: list[Any]) -> list[str]:
    """Returns the strings in a list from the file, dropping other values."""
    return [one for one in value if isinstance(one, str)]


def _kept() -> list[str]:
    return [one.name for one in fields(WindowState) if one.compare]
