"""Adds a folder to the user's PATH on Windows, or removes it.

    python user_path.py add|remove FOLDER

The installer runs this file as a script, so it must not import other modules of this package.
"""

from __future__ import annotations

import ctypes
import ntpath
import sys

HWND_BROADCAST, WM_SETTINGCHANGE, ABORT_IF_HUNG = 0xFFFF, 0x1A, 2


def with_folder(path: str, folder: str) -> str:
    """Returns `path` with `folder` at the end, and without empty entries."""
    return ";".join([*(part for part in without_folder(path, folder).split(";") if part), folder])


def without_folder(path: str, folder: str) -> str:
    """Returns `path` without `folder`; all other entries are unchanged."""

    def normal(part: str) -> str:
        return ntpath.normcase(part.strip().strip('"').rstrip("\\"))

    return ";".join(part for part in path.split(";") if normal(part) != normal(folder))


def change(action: str, folder: str) -> None:
    """Writes the changed PATH to the registry and notifies running programs. `action`: `add` or `remove`."""
    import winreg

    access = winreg.KEY_READ | winreg.KEY_WRITE
    with winreg.CreateKeyEx(winreg.HKEY_CURRENT_USER, "Environment", 0, access) as key:
        try:
            before, kind = winreg.QueryValueEx(key, "Path")
        except FileNotFoundError:
            before, kind = "", winreg.REG_EXPAND_SZ
        after = (with_folder if action == "add" else without_folder)(before, folder)
        if after == before:
            return
        if after:
            winreg.SetValueEx(key, "Path", 0, kind, after)
        else:
            winreg.DeleteValue(key, "Path")
    send = ctypes.WinDLL("user32").SendMessageTimeoutW
    send(HWND_BROADCAST, WM_SETTINGCHANGE, 0, "Environment", ABORT_IF_HUNG, 1000, None)


if __name__ == "__main__":
    change(sys.argv[1], sys.argv[2])
