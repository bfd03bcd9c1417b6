"""Tell what the operating system knows of this machine."""

from __future__ import annotations

import os
import sys


def memory_bytes() -> int:
    """The machine's memory; 0 when it can't be told."""
    if sys.platform == "win32":
        import ctypes

        kilobytes = ctypes.c_ulonglong()
        known = ctypes.windll.kernel32.GetPhysicallyInstalledSystemMemory(ctypes.byref(kilobytes))
        return kilobytes.value * 1024 if known else 0
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0
