"""Reads and writes the settings file. One that is damaged, or of another version of the app, is set aside."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.platform.files import json_bytes, set_aside, write_json
from app.untrusted.files import read_versioned
from app.untrusted.json_text import read_json
from app.untrusted.limits import SETTINGS, OtherVersion, Refused

VERSION = 1
"""Of the file's format. To be raised with every change that another version of the app would misunderstand."""


@dataclass(frozen=True, slots=True)
class StoredSettings:
    """What the file holds. `notice`: what is wrong with it, in a sentence; `unread`: it can't be read."""

    values: dict[str, Any] = field(default_factory=dict)
    notice: str = ""
    unread: bool = False


def read_settings(path: Path) -> StoredSettings:
    """Reads the file. Never raises: one that can't be understood is renamed to `*.broken` or `*.version-N`."""
    try:
        values = read_versioned(path, SETTINGS, VERSION, any_number=True)  # each setting checks its own
    except FileNotFoundError:
        return StoredSettings()
    except Refused as error:
        return StoredSettings(notice=_set_aside(path, error))
    except OSError as error:
        notice = (
            f"The settings could not be read ({error.strerror}), so the defaults are in use. Check the file {path}."
        )
        return StoredSettings(notice=notice, unread=True)
    return StoredSettings(values)


def write_settings(path: Path, values: dict[str, Any], *, unread: bool) -> None:
    """Writes the file atomically; one that could not be read (`unread`) is renamed to `*.unread`.

    Raises OSError, also for values that `read_settings` would not take.
    """
    whole = {"version": VERSION, **values}
    try:
        read_json(json_bytes(whole), SETTINGS, any_number=True)
    except Refused as error:
        raise OSError(errno.EFBIG, f"{error} as a text", str(path)) from None
    backup = path.with_name(path.name + ".unread") if unread and path.exists() else None
    write_json(path, whole, backup=backup)


def _set_aside(path: Path, why: Refused) -> str:
    """Renames a file that can't be used; returns a sentence about it."""
    ending = why.ending if isinstance(why, OtherVersion) else "broken"
    try:
        kept = set_aside(path, ending)
    except OSError as error:
        return (
            f"The settings file {path} can't be used ({why}) and could not be renamed ({error.strerror}); the defaults "
            "are in use."
        )
    return f"The settings file can't be used ({why}), so the defaults are in use. It is kept as {kept}."
