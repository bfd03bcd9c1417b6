"""Hardware information from the operating system."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path


def memory_bytes() -> int:
    """Returns the size of the machine's memory in bytes; 0 if unknown."""
    if sys.platform == "win32":
        import ctypes

        kilobytes = ctypes.c_ulonglong()
        known = ctypes.windll.kernel32.GetPhysicallyInstalledSystemMemory(ctypes.byref(kilobytes))
        return kilobytes.value * 1024 if known else 0
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0


def processor_name() -> str:
    """Returns the processor's model name; empty if unknown."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def resident_bytes() -> int:
    """Returns this process's resident memory in bytes; 0 if unknown."""
    if sys.platform == "linux":
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return _windows_memory()[0]


def peak_bytes() -> int:
    """Returns the most resident memory that this process has had, in bytes; 0 if unknown."""
    if sys.platform == "linux":
        lines = Path("/proc/self/status").read_text().splitlines()
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)
    return _windows_memory()[1]


def _windows_memory() -> tuple[int, int]:
    """Returns this process's resident memory and its peak in bytes; 0 if unknown, or not on Windows."""
    if sys.platform == "win32":
        import ctypes
        from ctypes import wintypes

        class Counters(ctypes.Structure):
            _fields_ = [
                ("size", wintypes.DWORD),
                ("faults", wintypes.DWORD),
                ("peak", ctypes.c_size_t),
                ("resident", ctypes.c_size_t),
                ("rest", ctypes.c_size_t * 6),
            ]

        counters = Counters(size=ctypes.sizeof(Counters))
        process = ctypes.c_void_p(ctypes.windll.kernel32.GetCurrentProcess())
        if ctypes.windll.psapi.GetProcessMemoryInfo(process, ctypes.byref(counters), counters.size):
            return counters.resident, counters.peak
    return 0, 0
