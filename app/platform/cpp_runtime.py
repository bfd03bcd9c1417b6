"""Makes Microsoft's C++ runtime loadable on a Windows that lacks it.

The wheels of soxr, onnxruntime, ctranslate2 and xllamacpp are linked to it and don't contain it; that of shiboken6, a
part of PySide6, does.
"""

from __future__ import annotations

import os
import sys


def add_cpp_runtime() -> object | None:
    """Lets Windows search for libraries in shiboken6's folder, as PySide6 itself does in the window's process.

    Keep the returned object for as long as libraries are loaded; None where there is nothing to do.
    """
    if sys.platform != "win32":
        return None
    for place in sys.path:
        # Not by importlib: every child process waits for this.
        folder = os.path.join(os.path.abspath(place), "shiboken6")
        if os.path.isfile(os.path.join(folder, "msvcp140.dll")):
            return os.add_dll_directory(folder)
    return None
