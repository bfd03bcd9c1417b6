"""Name the folders and files of what a user has installed: the code in one place, the environment in another."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from installation.places import Places
from installation.stamp import read_json
from installation.system import WINDOWS

OVERRIDE = "KAME_DESKTOP_ENVIRONMENT"
"""Names another folder for the environment; for tests, and for who wants it on another disk."""


def environment_folder(root: Path, environ: Mapping[str, str]) -> Path:
    """Return where the environment belongs: beside the code on Windows, among the user's data elsewhere."""
    if environ.get(OVERRIDE):
        return Path(environ[OVERRIDE])
    if WINDOWS:
        return root / "environment"
    data = environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(data):
        data = os.path.join(os.path.expanduser("~"), ".local", "share")
    return Path(data) / "kame-desktop" / "environment"


class InstalledPlaces(Places):
    """Where everything is after an installation.

    A new environment is made in `new` and then takes the place of `venv`, so that one that is half made never
    counts. One that was made while the app runs waits in `next` for the app's next start. All that a set-up leaves has
    a name that starts with the environment's.
    """

    def __init__(self, root: Path, environment: Path) -> None:
        super().__init__(root, environment)
        suffix = ".exe" if WINDOWS else ""
        beside = environment.with_name
        self.new = Places(root, beside(environment.name + ".new"))
        self.next = Places(root, beside(environment.name + ".next"))
        self.old = beside(environment.name + ".old")
        self.cache = beside(environment.name + ".cache")
        self.pythons = beside(environment.name + ".python")
        self.log = beside(environment.name + ".log")
        self.set_up_lock = beside(environment.name + ".lock")
        self.uv = root / "tools" / f"uv{suffix}"
        self.wheels = root / "wheels"
        self.base_python = root / "python" / ("python.exe" if WINDOWS else "bin/python3")
        self.windowed_python = self.python.with_name("pythonw.exe") if WINDOWS else self.python

    @property
    def is_installed(self) -> bool:
        """Tell an installation from a developer's checkout."""
        return bool(read_json(self.root / "installed.json"))

    def traces(self) -> list[Path]:
        """Return all that set-ups have made and that is there."""
        environments = (self.venv, self.new.venv, self.next.venv, self.old)
        every = (*environments, self.cache, self.pythons, self.log, self.set_up_lock)
        return [path for path in every if path.exists() or path.is_symlink()]
