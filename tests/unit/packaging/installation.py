"""Makes an installation with a fake uv, as a package or an installer leaves it."""

import json
import os
import shutil
import sys
from pathlib import Path

from installation.places import InstalledPlaces
from installation.provision import Provision
from installation.steps import Steps, clean_environment
from tests.unit.packaging.fakes import ROOT, program

MEGABYTE = 10**6


class Installation:
    """An installation in a folder of the test's."""

    def __init__(self, folder: Path) -> None:
        self.places = InstalledPlaces(folder / "code", folder / "data" / "environment")
        self.notes = folder / "notes"
        self.said: list[str] = []
        self.notes.mkdir(parents=True)
        self.places.locks.mkdir(parents=True)
        self.set_locks("one==1.0", "model==1.0")
        sizes = {
            f"linux-{v}": {"one==1.0": [400_000, MEGABYTE], "model==1.0": [9, 9]} for v in ("3.11", "3.12", "3.13")
        }
        (self.places.locks / "sizes.json").write_text(json.dumps(sizes))
        (self.places.root / "installed.json").write_text('{"version": "0.1.0"}')
        uv = Path(__file__).with_name("fake_uv.py")
        program(self.places.uv, f'exec "{sys.executable}" "{uv}" "$@"')
        program(self.places.base_python, "echo 3.12")
        shutil.copytree(ROOT / "packaging" / "installation", self.places.root / "packaging" / "installation")
        shutil.copy(ROOT / "packaging" / "launcher.py", self.places.root / "packaging")
        self.environ = {**os.environ, "FAKE_UV": str(self.notes), "KAME_DESKTOP_ENVIRONMENT": str(self.places.venv)}

    def use_python(self, script: str) -> None:
        self.places.python.unlink()
        program(self.places.python, script)
        stamp = json.loads(self.places.stamp.read_text())
        self.places.stamp.write_text(json.dumps({**stamp, "linked": ""}))

    def set_locks(self, app: str, models: str) -> None:
        (self.places.locks / "app.txt").write_text(f"{app}\n")
        (self.places.locks / "models.txt").write_text(f"{models}\n")

    def ensure(self, repair: bool = False) -> None:
        steps = Steps(self.places.log, self.said.append)
        Provision(self.places, steps, clean_environment(self.environ)).ensure(repair)

    def calls(self) -> list[str]:
        path = self.notes / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def launcher(self, *words: str) -> list[str]:
        return [sys.executable, str(self.places.root / "packaging" / "launcher.py"), *words]

    def beside(self) -> set[str]:
        return {path.name for path in self.places.venv.parent.iterdir()}
