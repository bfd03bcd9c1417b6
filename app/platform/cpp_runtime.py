"""Makes Microsoft's C++ runtime loadable on Windows systems that lack it.

The wheels of soxr, onnxruntime, ctranslate2 and xllamacpp need it but don't bundle it; the wheel of shiboken6, which
PySide6 depends on, does.
"""

from __future__ import annotations

import os
import sys


def add_cpp_runtime() -> object | None:
    """Adds shiboken6's folder to the DLL search path, as PySide6 itself does in the window's process.

    The caller must keep the returned object alive while libraries are being loaded. Returns None if nothing was added.
    """
    if sys.platform != "win32":
        return None
    for place in sys.path:
        # Without importlib, since this delays the start of every child process.
        folder = os.path.join(os.path.abspath(place), "shiboken6")
        if os.path.isfile(os.path.join(folder, "msvcp140.dll")):
            return os.add_dll_directory(folder)
    return None
