"""Imports faster-whisper without PyAV, which it needs only to open sound files.

Importing faster-whisper imports PyAV. Its wheels carry FFmpeg together with x264 and x265, which are under the GPL, and
the app gives faster-whisper samples, never a file. So PyAV is not among the packages that the app installs, and where
it is installed nevertheless it is not loaded.
"""

from __future__ import annotations

import importlib
import sys
import threading
from types import ModuleType

_importing = threading.Lock()


class _Absent(ModuleType):
    """Takes the place of PyAV."""

    def __getattr__(self, name: str) -> object:
        raise AttributeError(f"PyAV is left out of this app, so faster-whisper can't open files (av.{name}).")


def faster_whisper(module: str = "") -> ModuleType:
    """Return the package faster_whisper, or a module of it by its name."""
    with _importing:
        absent = "av" not in sys.modules
        if absent:
            sys.modules["av"] = _Absent("av")
        try:
            return importlib.import_module(f"faster_whisper.{module}".rstrip("."))
        finally:
            if absent:
                del sys.modules["av"]
