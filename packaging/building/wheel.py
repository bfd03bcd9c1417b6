"""Builds the wheel for `uv tool install` and `pipx`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from building.bom import bill_of_materials
from building.payload import write_tree
from building.source import BuildError, File, Source

BUILD = "import sys; from setuptools.build_meta import build_wheel; print(build_wheel(sys.argv[1]))"


def build_wheel(source: Source) -> tuple[str, bytes]:
    """Returns the file name and content of the wheel, built with the setuptools of the running Python."""
    with tempfile.TemporaryDirectory() as folder:
        tree, out = Path(folder) / "tree", Path(folder) / "out"
        out.mkdir()
        bom = File("resources/bom.json", bill_of_materials(source, "wheel", uv_shipped=False))
        write_tree([*source.files, bom], tree, source.epoch)
        # Fixed timestamps inside the wheel, and modes that don't depend on the umask.
        env = {**os.environ, "SOURCE_DATE_EPOCH": str(source.epoch), "LC_ALL": "C", "TZ": "UTC"}
        done = subprocess.run(
            [sys.executable, "-c", BUILD, str(out)],
            cwd=tree,
            env=env,
            umask=0o022,
            capture_output=True,
            text=True,
            check=False,
        )
        wheels = list(out.glob("*.whl"))
        if done.returncode != 0 or len(wheels) != 1:
            raise BuildError(
                f"setuptools could not build the wheel:\n{done.stdout}{done.stderr}\nBuild with a Python that has "
                "setuptools 77 or newer, like that of the tests' environment."
            )
        return wheels[0].name, wheels[0].read_bytes()
