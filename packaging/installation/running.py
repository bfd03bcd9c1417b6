"""Closes all programs running from a folder on Windows, so that the installer can replace its files.

    python running.py FOLDER      exit code 0 once no program runs from there, 77 if one stays open

Sends each window the same message as its close button does. The installer runs this file as a script, so it must not
import other modules of this package.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from ctypes import wintypes

STILL_OPEN = 77
"""An exit code that Python itself never uses, so that a failure to start isn't mistaken for an open program."""
UNINSTALLER = "uninstall.exe"
"""A program in the folder that is not closed, since it runs this script and waits for it."""
SECONDS = 15
WM_CLOSE = 0x10
QUERY_LIMITED_INFORMATION = 0x1000


def image_of(process: int) -> str:
    """Returns the path of a process's executable; empty if the process has exited or belongs to another user."""
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.OpenProcess.restype = wintypes.HANDLE
    handle = wintypes.HANDLE(kernel.OpenProcess(QUERY_LIMITED_INFORMATION, False, process))
    if not handle.value:
        return ""
    try:
        text, length = ctypes.create_unicode_buffer(32768), wintypes.DWORD(32768)
        return text.value if kernel.QueryFullProcessImageNameW(handle, 0, text, ctypes.byref(length)) else ""
    finally:
        kernel.CloseHandle(handle)


def processes_in(folder: str) -> set:
    """Returns the IDs of the processes whose executable is in a folder, except this process and the uninstaller."""
    numbers, used = (wintypes.DWORD * 65536)(), wintypes.DWORD()
    ctypes.WinDLL("psapi").EnumProcesses(numbers, ctypes.sizeof(numbers), ctypes.byref(used))
    start = os.path.normcase(os.path.abspath(folder)) + os.sep
    found = set()
    for number in set(numbers[: used.value // ctypes.sizeof(wintypes.DWORD)]) - {os.getpid()}:
        image = os.path.normcase(image_of(number))
        if image.startswith(start) and image != start + UNINSTALLER:
            found.add(number)
    return found


def close_windows(processes: set) -> None:
    """Asks all visible windows of these processes to close."""
    user = ctypes.WinDLL("user32")
    function = ctypes.WINFUNCTYPE(wintypes.BOOL, wintypes.HWND, wintypes.LPARAM)

    def ask(window: int, _nothing: int) -> bool:
        owner = wintypes.DWORD()
        user.GetWindowThreadProcessId(wintypes.HWND(window), ctypes.byref(owner))
        if owner.value in processes and user.IsWindowVisible(wintypes.HWND(window)):
            user.PostMessageW(wintypes.HWND(window), WM_CLOSE, 0, 0)
        return True

    user.EnumWindows(function(ask), 0)


def main(folder: str) -> int:
    """Closes the programs running from `folder` and waits up to `SECONDS` for them to exit; returns the exit code."""
    until = time.monotonic() + SECONDS
    while True:
        processes = processes_in(folder)
        if not processes:
            return 0
        if time.monotonic() > until:
            return STILL_OPEN
        close_windows(processes)
        time.sleep(0.5)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
