"""Reads and writes the app's own JSON files in the settings folder: `settings.json` and `window.json`."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.platform.files import json_bytes, set_aside, write_json
from app.untrusted.files import read_json_file
from app.untrusted.json_text import read_json
from app.untrusted.limits import SETTINGS, Refused


@dataclass(frozen=True, slots=True)
class Stored:
    """A file's contents. `notice`: a sentence about what is wrong with it; `unread`: it exists and can't be read."""

    values: dict[str, Any] = field(default_factory=dict)
    notice: str = ""
    unread: bool = False


def read_stored(path: Path, name: str = "settings file") -> Stored:
    """Reads the file, which is called `name` in notices. Never raises: a damaged file is renamed to `*.broken`."""
    try:
        return Stored(read_json_file(path, SETTINGS, any_number=True))  # each setting checks its own number
    except FileNotFoundError:
        return Stored()
    except Refused as error:
        return Stored(notice=_set_aside(path, name, error))
    except OSError as error:
        notice = f"The {name} could not be read ({error.strerror}), so the defaults are in use. Check {path}."
        return Stored(notice=notice, unread=True)


def write_stored(path: Path, values: dict[str, Any], *, unread: bool) -> None:
    """Writes the file atomically; one that could not be read (`unread`) is renamed to `*.unread`.

    Raises OSError, also for values that `read_stored` would not take.
    """
    try:
        read_json(json_bytes(values), SETTINGS, any_number=True)
    except Refused as error:
        raise OSError(errno.EFBIG, f"{error} as a text", str(path)) from None
    backup = path.with_name(path.name + ".unread") if unread and path.exists() else None
    write_json(path, values, backup=backup)


def _set_aside(path: Path, name: str, why: Refused) -> str:
    try:
        broken = set_aside(path)
    except OSError as error:
        return (
            f"The {name} {path} is damaged ({why}) and could not be renamed ({error.strerror}); the defaults are in "
            "use."
        )
    return f"The {name} was damaged ({why}), so the defaults are in use. The damaged file is kept as {broken}."
