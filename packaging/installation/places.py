"""The folders and files of a checkout and its environment."""

from __future__ import annotations

from pathlib import Path

from installation.system import WINDOWS


class Places:
    """Where everything is: the code in `root`, the environment in `venv`, which is `.venv` there by default."""

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
        """Return the folder of the environment's packages; None before there is one."""
        for pattern in ("lib/python3*/site-packages", "Lib/site-packages"):
            for folder in self.venv.glob(pattern):
                return folder
        return None
