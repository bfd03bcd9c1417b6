"""Checks names of files: which of them Windows reserves, and which are plain relative names on every system."""

from __future__ import annotations

import re

_DEVICES = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"} | {
    kind + number for kind in ("COM", "LPT") for number in "0123456789¹²³"
}

MOST_CHARACTERS, MOST_LETTERS, MOST_FOLDERS = 400, 160, 8
"""Of a whole name, of one part of it, and how many folders it may have. Endings are appended to names."""
_FORBIDDEN = re.compile('[\\x00-\\x1f\\x7f-\\x9f<>:"|?*\\\\\ud800-\udfff]')


def is_plain(name: object) -> bool:
    """Whether this names a file inside a folder on every system: relative, with “/” alone between its parts."""
    if not isinstance(name, str) or len(name) > MOST_CHARACTERS or _FORBIDDEN.search(name):
        return False
    parts = name.split("/")
    return len(parts) <= MOST_FOLDERS + 1 and all(map(_is_plain_part, parts))


def _is_plain_part(part: str) -> bool:
    return 0 < len(part.encode()) <= MOST_LETTERS and part[-1] not in ". " and part[0] != " " and not is_device(part)


def is_device(name: str) -> bool:
    """Whether Windows takes a file of this name for a device, in any folder and with any suffix."""
    return name.partition(".")[0].rstrip().upper() in _DEVICES
