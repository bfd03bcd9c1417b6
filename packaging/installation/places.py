"""The platform, and the paths in a checkout or an installation."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from installation.problems import Problem

WINDOWS = os.name == "nt"
LINUX = sys.platform.startswith("linux")

OVERRIDE = "KAME_DESKTOP_ENVIRONMENT"
"""The variable that overrides the environment's folder, for tests and for users who prefer another disk."""


def write_whole(path: Path, text: str, encoding: str = "utf-8") -> None:
    """Writes a file atomically: readers see either the old or the new content.

    Other hard links to the old file keep the old content.
    """
    half = path.with_name(path.name + ".new")
    half.write_text(text, encoding=encoding)
    os.replace(str(half), str(path))


def read_json(path: Path) -> dict:
    """Returns the JSON object in a file, or an empty dictionary if it can't be read or isn't an object."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


class Places:
    """The paths of a checkout: the code in `root` and the environment in `venv`, by default `.venv` in `root`."""

    def __init__(self, root: Path, venv: Path | None = None) -> None:
        self.root = root
        self.venv = venv or root / ".venv"
        scripts = self.venv / ("Scripts" if WINDOWS else "bin")
        suffix = ".exe" if WINDOWS else ""
        self.python = scripts / f"python{suffix}"
        self.uv = scripts / f"uv{suffix}"
        self.launcher = scripts / ("kame-desktop.cmd" if WINDOWS else "kame-desktop")
        self.stamp = self.venv / "bootstrap.json"
        self.unfinished = self.venv / "bootstrap.unfinished"
        self.log = self.venv / "bootstrap.log"
        self.locks = root / "packaging" / "locks"
        self.build = root / "build"
        self.set_up_lock = self.build / "bootstrap.lock"

    @property
    def site_packages(self) -> Path | None:
        """The environment's `site-packages` folder, or None if it doesn't exist yet."""
        for pattern in ("lib/python3*/site-packages", "Lib/site-packages"):
            for folder in self.venv.glob(pattern):
                return folder
        return None


class InstalledPlaces(Places):
    """The paths of an installation.

    A new environment is built in `new` and then replaces `venv`, so that an incomplete one is never used. One that is
    built while the app is running waits in `next` for the app's next start. The names of all files and folders that a
    set-up creates start with the environment's name.
    """

    def __init__(self, root: Path, environment: Path) -> None:
        super().__init__(root, environment)
        suffix = ".exe" if WINDOWS else ""
        beside = environment.with_name
        self.new = Places(root, beside(environment.name + ".new"))
        self.next = Places(root, beside(environment.name + ".next"))
        self.old = beside(environment.name + ".old")
        self.cache = beside(environment.name + ".cache")
        self.discarded = beside(environment.name + ".discarded")
        self.pythons = beside(environment.name + ".python")
        self.log = beside(environment.name + ".log")
        self.set_up_lock = beside(environment.name + ".lock")
        self.uv = root / "tools" / f"uv{suffix}"
        self.wheels = root / "wheels"
        self.base_python = root / "python" / ("python.exe" if WINDOWS else "bin/python3")
        self.windowed_python = self.python.with_name("pythonw.exe") if WINDOWS else self.python

    @property
    def is_installed(self) -> bool:
        """Whether `root` is an installation rather than a developer's checkout."""
        return bool(read_json(self.root / "installed.json"))

    def traces(self) -> list[Path]:
        """Returns the existing files and folders that were created by set-ups."""
        environments = (self.venv, self.new.venv, self.next.venv, self.old)
        every = (*environments, self.cache, self.discarded, self.pythons, self.log, self.set_up_lock)
        return [path for path in every if path.exists() or path.is_symlink()]


def environment_folder(root: Path, environ: Mapping[str, str]) -> Path:
    """Returns the environment's folder: next to the code on Windows, in the user's data folder on other systems.

    The variable `OVERRIDE` takes precedence. Raises Problem if it names a folder that can't be used.
    """
    if environ.get(OVERRIDE):
        return chosen_folder(root, environ[OVERRIDE])
    if WINDOWS:
        return root / "environment"
    data = environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(data):
        data = os.path.join(os.path.expanduser("~"), ".local", "share")
    return Path(data) / "kame-desktop" / "environment"


def chosen_folder(root: Path, text: str) -> Path:
    """Returns the folder set by the user. Raises Problem if it is not absolute or replacing it could destroy files."""
    folder = Path(os.path.normpath(text))
    if not folder.is_absolute() or not folder.name:
        raise Problem(
            f"The variable {OVERRIDE} says “{text}”.",
            "It has to be the whole path of a folder, which is made if it is missing.",
            f"Set {OVERRIDE} to such a path, or remove the variable.",
        )
    foreign = foreign_files(InstalledPlaces(root, folder))
    if foreign is not None:
        raise Problem(
            f"The variable {OVERRIDE} says “{text}”, but {foreign} was not made by KAME Desktop.",
            "A set-up replaces what is there, so it was left alone.",
            f"Set {OVERRIDE} to a folder that is missing or empty, or remove the variable.",
        )
    return folder


def foreign_files(places: InstalledPlaces) -> Path | None:
    """Returns a path that a set-up would replace or delete although no set-up created it; None if there is none.

    Relies on each set-up creating its lock file first and the stamp last.
    """
    has_stamp, has_lock = places.stamp.is_file(), places.set_up_lock.is_file()
    if not has_stamp and os.path.lexists(places.venv):
        is_empty = places.venv.is_dir() and not any(places.venv.iterdir())
        is_damaged = has_lock and (places.venv / "pyvenv.cfg").is_file()
        if not is_empty and not is_damaged:
            return places.venv
    if has_stamp or has_lock:
        return None
    return next((path for path in places.traces() if path != places.venv), None)
