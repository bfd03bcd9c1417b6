"""Imports faster-whisper without PyAV, which it only needs to open audio files.

Importing faster-whisper imports PyAV, whose wheels bundle FFmpeg with the GPL-licensed x264 and x265. The app only
passes samples to faster-whisper, never files, so it doesn't install PyAV, and doesn't load it even if it is installed.
"""

from __future__ import annotations

import importlib
import sys
import threading
from types import ModuleType

_importing = threading.Lock()


class _Absent(ModuleType):
    """A stub that stands in for PyAV."""

    def __getattr__(self, name: str) -> object:
        raise AttributeError(f"PyAV is left out of this app, so faster-whisper can't open files (av.{name}).")


def faster_whisper(module: str = "") -> ModuleType:
    """Returns the faster_whisper package, or one of its modules by name."""
    with _importing:
        absent = "av" not in sys.modules
        if absent:
            sys.modules["av"] = _Absent("av")
        try:
            return importlib.import_module(f"faster_whisper.{module}".rstrip("."))
        finally:
            if absent:
                del sys.modules["av"]
