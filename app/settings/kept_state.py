"""State that is kept besides the settings: that of the window, and how long the user pauses within turns."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from app.conversation.turns.endpointing import PauseLengths
from app.platform.files import write_json
from app.settings.paths import pauses_path
from app.settings.storage import read_stored, write_stored
from app.untrusted.files import read_versioned
from app.untrusted.limits import SMALL_FILE


@dataclass(slots=True)
class WindowState:
    """The persistent state of the window. `notice`: a user-facing message about problems with the file, or empty."""

    first_run_done: bool = False
    """Whether the user has completed the welcome cards."""
    better_model_decided: bool = False
    """Whether the user has taken a better model than the smallest one, or wants none."""
    favourites: list[Any] = field(default_factory=list)
    """The favourite back-ends, in the order of their shortcuts, as dicts with `provider`, `model` and `base_url`."""
    servers: list[Any] = field(default_factory=list)
    """The user's own servers, in their order, as dicts with `name`, `provider` and `base_url`."""
    recent_commands: list[Any] = field(default_factory=list)
    """The IDs of the commands most recently run from the palette, newest first."""
    model_colours: list[Any] = field(default_factory=list)
    """The colours of models in the order of their first use, as lists of back-end, model and colour number."""
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


VERSION = 1
"""The format version of the file."""


def load_pauses() -> PauseLengths:
    """Returns the stored statistics, or empty ones if the file is missing or invalid."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        kept = read_versioned(pauses_path(), SMALL_FILE, VERSION)
        mean_log, count = float(kept["mean_log"]), int(kept["count"])
        if math.log(0.1) <= mean_log <= math.log(3.0) and count > 0:
            return PauseLengths(mean_log, count)
    return PauseLengths()


def keep_pauses(pauses: PauseLengths) -> None:
    """Stores the statistics. Write errors are ignored, since only the latest pauses would be lost."""
    if pauses.count:
        with contextlib.suppress(OSError):
            write_json(
                pauses_path(), {"version": VERSION, "mean_log": round(pauses.mean_log, 4), "count": pauses.count}
            )
