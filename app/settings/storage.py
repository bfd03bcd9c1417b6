"""Reads and writes the settings file, and migrates what older versions wrote."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.platform.files import json_bytes, set_aside, write_json
from app.untrusted.files import read_json_file
from app.untrusted.json_text import read_json
from app.untrusted.limits import SETTINGS, Refused

RENAMED = {
    "manner": "answer_mode",
    "aside_provider": "secondary_provider",
    "aside_model": "secondary_model",
    "aside_url": "secondary_url",
    "favourite_brains": "favourite_backends",
}
"""Keys in settings files of older versions, and their names now."""


@dataclass(frozen=True, slots=True)
class StoredSettings:
    """What the file holds. `notice`: what is wrong with it, in a sentence; `unread`: it can't be read."""

    values: dict[str, Any] = field(default_factory=dict)
    notice: str = ""
    unread: bool = False


def read_settings(path: Path) -> StoredSettings:
    """Reads and migrates the file. Never raises: one that can't be understood is renamed to `*.broken`."""
    try:
        values = read_json_file(path, SETTINGS, any_number=True)  # each setting checks its own
    except FileNotFoundError:
        return StoredSettings()
    except Refused as error:
        return StoredSettings(notice=_set_aside(path, error))
    except OSError as error:
        notice = (
            f"The settings could not be read ({error.strerror}), so the defaults are in use. Check the file {path}."
        )
        return StoredSettings(notice=notice, unread=True)
    _migrate(values)
    return StoredSettings(values)


def write_settings(path: Path, values: dict[str, Any], *, unread: bool) -> None:
    """Writes the file atomically; one that could not be read (`unread`) is renamed to `*.unread`.

    Raises OSError, also for values that `read_settings` would not take.
    """
    try:
        read_json(json_bytes(values), SETTINGS, any_number=True)
    except Refused as error:
        raise OSError(errno.EFBIG, f"{error} as a text", str(path)) from None
    backup = path.with_name(path.name + ".unread") if unread and path.exists() else None
    write_json(path, values, backup=backup)


def _migrate(values: dict[str, Any]) -> None:
    old_url = values.pop("openai_url", "")  # OpenAI and other servers were one provider once
    if values.get("provider") == "openai" and old_url and "api.openai.com" not in str(old_url):
        values.setdefault("compatible_url", old_url)
        values.setdefault("compatible_model", values.pop("openai_model", ""))
        values["provider"] = "compatible"
    for old, new in RENAMED.items():
        if old in values:
            values.setdefault(new, values.pop(old))


def _set_aside(path: Path, why: Refused) -> str:
    try:
        broken = set_aside(path)
    except OSError as error:
        return (
            f"The settings file {path} is damaged ({why}) and could not be renamed ({error.strerror}); the defaults "
            "are in use."
        )
    return f"The settings file was damaged ({why}), so the defaults are in use. The damaged file is kept as {broken}."
