"""Starts the app when the user logs in, through an autostart entry on Linux or a registry value on Windows.

The installers can also enable this: on Linux with the same entry, on Windows with a shortcut in the Startup folder,
which this module recognizes, too.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from app.platform import single_instance
from app.platform.files import delete_file, whole_file
from app.platform.installation import CHECKOUT, installed

ENTRY = "org.kame_desktop.KameDesktop.desktop"
NAME = "KAME Desktop"
HIDDEN = "--hidden"
"""The option that starts the app without a window if there is a system tray, otherwise with the window minimized."""

RUN_KEY = r"Software\Microsoft\Windows\CurrentVersion\Run"
APPROVED_KEY = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
"""Where Windows records the state of startup apps: the first byte of a disabled app's value is odd."""


def is_supported() -> bool:
    """Returns whether this copy of the app can be started at login on this system."""
    if sys.platform == "win32":
        return bool(_windows_command())
    return sys.platform.startswith("linux")


def is_on() -> bool:
    """Returns whether the app is started at login. Never raises."""
    try:
        return _registered() or _startup_link().exists() if sys.platform == "win32" else _entry_counts()
    except OSError:
        return False


def set_on(on: bool) -> None:
    """Enables or disables starting the app at login. Raises OSError."""
    if sys.platform == "win32":
        _register(on)
        delete_file(_startup_link(), missing_ok=True)  # created by the installer; having both would start the app twice
    elif on:
        _entry_path().parent.mkdir(parents=True, exist_ok=True)
        with whole_file(_entry_path()) as file:
            file.write(entry_text().encode())
    else:
        delete_file(_entry_path(), missing_ok=True)


# -- Linux


def entry_text() -> str:
    """Returns the contents of an autostart entry for this installation."""
    words, folder = _linux_command()
    lines = [
        "[Desktop Entry]",
        "Type=Application",
        "Version=1.0",
        f"Name={NAME}",
        f"Exec={' '.join(map(_exec_word, (*words, HIDDEN)))}",
        f"TryExec={_value(words[0])}",
        *([f"Path={_value(folder)}"] if folder else []),
        "Icon=kame-desktop",
        "Terminal=false",
        "X-GNOME-Autostart-enabled=true",
    ]
    return "\n".join(lines) + "\n"


def _linux_command() -> tuple[list[str], str]:
    """Returns the command line, with the program's absolute path, and its working directory (empty: any)."""
    words = single_instance.command_words()
    program = shutil.which(words[0]) or words[0]
    folder = str(Path(__file__).resolve().parents[2]) if words[1:] and installed().kind == CHECKOUT else ""
    return [os.path.abspath(program), *words[1:]], folder


def _entry_path() -> Path:
    config = os.environ.get("XDG_CONFIG_HOME", "")
    base = Path(config) if os.path.isabs(config) else Path.home() / ".config"
    return base / "autostart" / ENTRY


def _entry_counts() -> bool:
    """Returns whether an autostart entry exists that the user has not disabled in the desktop's settings."""
    try:
        lines = _entry_path().read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return False
    told = {line.replace(" ", "").lower() for line in lines}
    return not told & {"hidden=true", "x-gnome-autostart-enabled=false"}


def _exec_word(word: str) -> str:
    """Quotes an argument of the command as the Desktop Entry Specification requires."""
    for mark in '\\"`$':
        word = word.replace(mark, f"\\{mark}")
    return _value(f'"{word}"'.replace("%", "%%"))


def _value(text: str) -> str:
    return text.replace("\\", "\\\\")


# -- Windows


def _windows_command() -> str:
    """Returns the command that starts this installation without a console; empty if there is none."""
    program = Path(__file__).resolve().parents[2] / f"{NAME}.exe"
    if program.exists():
        return f'"{program}" {HIDDEN}'
    python = Path(sys.executable).with_name("pythonw.exe")
    if installed().kind != CHECKOUT and python.exists():
        return f'"{python}" -m app {HIDDEN}'
    return ""


def _startup_link() -> Path:
    roaming = os.environ.get("APPDATA", "") or str(Path.home() / "AppData" / "Roaming")
    return Path(roaming) / "Microsoft" / "Windows" / "Start Menu" / "Programs" / "Startup" / f"{NAME}.lnk"


def _winreg() -> Any:
    return importlib.import_module("winreg")  # by name, since type checkers only know it on Windows


def _registered() -> bool:
    winreg = _winreg()
    try:
        with winreg.OpenKey(winreg.HKEY_CURRENT_USER, RUN_KEY) as key:
            command, _ = winreg.QueryValueEx(key, NAME)
    except FileNotFoundError:
        return False
    approved = b""
    with contextlib.suppress(FileNotFoundError), winreg.OpenKey(winreg.HKEY_CURRENT_USER, APPROVED_KEY) as key:
        approved = bytes(winreg.QueryValueEx(key, NAME)[0])
    return bool(command) and not (approved and approved[0] & 1)


def _register(on: bool) -> None:
    winreg = _winreg()
    if on:
        command = _windows_command()
        if not command:
            raise FileNotFoundError(2, "this copy of KAME has no program that could be started")
        with winreg.CreateKey(winreg.HKEY_CURRENT_USER, RUN_KEY) as key:
            winreg.SetValueEx(key, NAME, 0, winreg.REG_SZ, command)
    for path in (APPROVED_KEY,) if on else (RUN_KEY, APPROVED_KEY):
        with (
            contextlib.suppress(FileNotFoundError),
            winreg.OpenKey(winreg.HKEY_CURRENT_USER, path, 0, winreg.KEY_SET_VALUE) as key,
        ):
            winreg.DeleteValue(key, NAME)
