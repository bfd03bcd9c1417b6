"""The system, and the folders and files of a checkout and of an installation."""

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
"""Another folder for the environment; for tests, and for users who prefer another disk."""


def write_whole(path: Path, text: str, encoding: str = "utf-8") -> None:
    """Writes a file atomically: readers see either the old or the new content.

    Other hard links to the old file keep their content.
    """
    half = path.with_name(path.name + ".new")
    half.write_text(text, encoding=encoding)
    os.replace(str(half), str(path))


def read_json(path: Path) -> dict:
    """Reads an object from a JSON file; empty if there is none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


class Places:
    """The paths of a checkout: the code in `root`, the environment in `venv`, which is `.venv` there by default."""

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
        """Returns the folder of the environment's packages; None before there is one."""
        for pattern in ("lib/python3*/site-packages", "Lib/site-packages"):
            for folder in self.venv.glob(pattern):
                return folder
        return None


class InstalledPlaces(Places):
    """The paths of an installation.

    A new environment is made in `new` and then replaces `venv`, so that an incomplete one is never used. One that was
    made while the app runs waits in `next` for the app's next start. The names of everything that a set-up leaves start
    with the environment's name.
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
        """Whether this is an installation rather than a developer's checkout."""
        return bool(read_json(self.root / "installed.json"))

    def traces(self) -> list[Path]:
        """Returns the existing files and folders that set-ups have made."""
        environments = (self.venv, self.new.venv, self.next.venv, self.old)
        every = (*environments, self.cache, self.discarded, self.pythons, self.log, self.set_up_lock)
        return [path for path in every if path.exists() or path.is_symlink()]


def environment_folder(root: Path, environ: Mapping[str, str]) -> Path:
    """Returns the environment's folder: beside the code on Windows, among the user's data elsewhere.

    Raises Problem if the user has set one that can't be used.
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
    """Returns the folder that the user has set. Raises Problem if replacing it could destroy other files."""
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
    """Returns a path that a set-up would replace or remove although no set-up has made it; None if there is none.

    Every set-up starts with its lock file and writes the stamp last.
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
