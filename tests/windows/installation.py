"""The project on the tests' Windows machine: set up, or updated if it already exists. Kept below `build/windows` while
its sources stay the same, so that only the first run takes minutes."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from tests.windows.make_python import SOURCES, WindowsPython
from tests.windows.wine import Finished, Wine

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / "build" / "windows"
SYSTEM = PLACE / "system32"
"""The DLLs that Wine lacks, for every prefix of the tests."""
MADE_OF = (
    *sorted(SOURCES.iterdir()),
    *(Path(__file__).with_name(f"{name}.py") for name in ("installation", "make_python", "wine")),
    *(ROOT / "packaging" / "locks" / f"{name}.txt" for name in ("app", "dev", "models", "uv")),
)


class Installation:
    """`wine` runs programs; `project`: the copy of the checkout; `python`: the one of its environment."""

    def __init__(self) -> None:
        self.wine = Wine(PLACE / "prefix")
        self.base = self.wine.folder / "drive_c" / "Python 311"
        self.project = self.wine.home / "KAME Desktop"
        self._scripts = self.project / ".venv" / "Scripts"
        self.python = self._scripts / "python.exe"
        self.windowed_python = self._scripts / "pythonw.exe"

    def prepare(self) -> None:
        """Makes what is missing and updates the copy of the project."""
        stamp, digest = PLACE / "made-of.txt", _digest()
        self.wine.end()  # the rest of a killed run
        if stamp.exists() and stamp.read_text() == digest:
            self._copy_project()
            return
        shutil.rmtree(PLACE, ignore_errors=True)
        PLACE.mkdir(parents=True)
        made = WindowsPython(PLACE)
        made.build()
        self.wine.boot(SYSTEM)
        shutil.move(made.folder, self.base)
        self._copy_project()
        self._set_up()
        stamp.write_text(digest)

    def app(self, *arguments: str, seconds: float = 120.0) -> Finished:
        """Runs the app's command line from the user's profile, as a terminal would."""
        return self.wine.run(self.python, "-P", "-m", "app", *arguments, seconds=seconds, cwd=self.wine.home)

    def talk_on_files(self, output: str) -> Finished:
        """Answers a spoken question of the bench, by the command line, into a sound file in the user's profile."""
        question = self.wine.windows(self.project / "resources" / "bench" / "questions" / "103_2.flac")
        return self.app("talk", "--json", "--input", question, "--output", output)

    def _copy_project(self) -> None:
        """Copies the checkout's files, committed or not, and removes deleted ones."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout.decode()
        for folder in ("app", "packaging", "resources", "tests"):
            shutil.rmtree(self.project / folder, ignore_errors=True)
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (self.project / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.project / name)

    def _set_up(self) -> None:
        """Sets the project up with its own command, and installs what only tests need."""
        done = self.wine.run(self.base / "python.exe", "packaging/bootstrap.py", "setup", seconds=580, cwd=self.project)
        assert done.code == 0, done.printed
        tests = self.wine.run(
            self._scripts / "uv.exe",
            "pip",
            "install",
            "--quiet",
            "--python",
            self.wine.windows(self.python),
            "--require-hashes",
            "--only-binary",
            ":all:",
            "-r",
            "packaging/locks/dev.txt",
            seconds=400,
            cwd=self.project,
        )
        assert tests.code == 0, tests.printed


def _digest() -> str:
    total = hashlib.sha256(str(ROOT).encode())
    for path in MADE_OF:
        total.update(path.read_bytes())
    return total.hexdigest()
