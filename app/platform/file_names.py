"""Knows the file names that Windows reserves."""

from __future__ import annotations

_DEVICES = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"} | {
    kind + number for kind in ("COM", "LPT") for number in "0123456789¹²³"
}


def is_device(name: str) -> bool:
    """Whether Windows takes a file of this name for a device, in any folder and with any suffix."""
    return name.partition(".")[0].rstrip().upper() in _DEVICES
