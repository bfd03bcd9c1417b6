"""Storage for the app's JSON files in the settings folder, `settings.json` and `window.json`.

Damaged files, and files from another version of the app, are renamed rather than overwritten.
"""

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
"""The format version of both files. Increment it for any change that other versions of the app would misinterpret."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The contents of a file. `notice`: a user-facing message about problems, or empty.

    `unread`: whether the file exists but couldn't be read.
    """

    values: dict[str, Any] = field(default_factory=dict)
    notice: str = ""
    unread: bool = False


def read_stored(path: Path, name: str = "settings file") -> Stored:
    """Reads a file. Never raises: an unusable file is renamed to `*.broken` or `*.version-N`.

    `name`: what to call the file in messages.
    """
    try:
        return Stored(read_versioned(path, SETTINGS, VERSION, any_number=True))  # each setting validates its number
    except FileNotFoundError:
        return Stored()
    except Refused as error:
        return Stored(notice=_set_aside(path, name, error))
    except OSError as error:
        notice = f"The {name} could not be read ({error.strerror}), so the defaults are in use. Check {path}."
        return Stored(notice=notice, unread=True)


def write_stored(path: Path, values: dict[str, Any], *, unread: bool) -> None:
    """Writes a file atomically. If the existing one couldn't be read (`unread`), it is first renamed to `*.unread`.

    Raises OSError, including for values that `read_stored` would reject.
    """
    whole = {"version": VERSION, **values}
    try:
        read_json(json_bytes(whole), SETTINGS, any_number=True)
    except Refused as error:
        raise OSError(errno.EFBIG, f"{error} as a text", str(path)) from None
    backup = path.with_name(path.name + ".unread") if unread and path.exists() else None
    write_json(path, whole, backup=backup)


def _set_aside(path: Path, name: str, why: Refused) -> str:
    """Renames an unusable file and returns a user-facing message about it."""
    try:
        kept = set_aside(path, why.ending if isinstance(why, OtherVersion) else "broken")
    except OSError as error:
        return (
            f"The {name} {path} can't be used ({why}) and could not be renamed ({error.strerror}); the defaults are in "
            "use."
        )
    return f"The {name} can't be used ({why}), so the defaults are in use. It is kept as {kept}."
