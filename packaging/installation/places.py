"""Name the folders and files of an installation."""

from __future__ import annotations

from pathlib import Path

from installation.system import WINDOWS


class Places:
    """Where everything is, seen from the project's folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.venv = root / ".venv"
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
