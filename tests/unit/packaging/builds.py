"""Makes a copy of the project that can be built: all its files in its own repository, with a fake uv."""

import hashlib
import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.unit.packaging.fakes import ROOT

UV_WHEELS = (("manylinux_2_17_x86_64", "uv"), ("win_amd64", "uv.exe"))
UV = b"#!/bin/sh\necho uv\n"


def git(folder: Path, *words: str) -> None:
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", "Kim"), ("EMAIL", "kim@localhost"), ("DATE", "2026-01-02T03:04:05+00:00"))
    }
    subprocess.run(["git", *words], cwd=folder, env={**os.environ, **quiet, **who}, check=True, capture_output=True)


def make_repository(folder: Path) -> Path:
    """Commits the project's current files, committed or not, to a new repository; returns the wheel of uv for Linux.
    The one for Windows is in the same folder."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    wheel, other = (_wheel_of_uv(folder.with_name("uv-wheel"), *each) for each in UV_WHEELS)
    lock = folder / "packaging" / "locks" / "uv.txt"
    pin = re.match(r"uv==\S+", lock.read_text())[0]
    digests = (hashlib.sha256(path.read_bytes()).hexdigest() for path in (wheel, other))
    lock.write_text(" \\\n    --hash=sha256:".join([pin, *digests]) + "\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "-m", "All of it")
    return wheel


def _wheel_of_uv(folder: Path, platform: str, program: str) -> Path:
    folder.mkdir(exist_ok=True)
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr(f"uv-1.data/scripts/{program}", UV)
        archive.writestr("uv-1.dist-info/licenses/LICENSE-MIT", "MIT\n")
        archive.writestr("uv-1.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: py3-none-{platform}\n")
    path = folder / f"uv-1-py3-none-{platform}.whl"
    path.write_bytes(held.getvalue())
    return path


def build(project: Path, wheel: Path, out: Path, targets: tuple[str, ...], **env: str) -> subprocess.Popen[str]:
    steps = " && ".join(f'"$0" packaging/build.py {name} --out "$1" --uv "$2"' for name in targets)
    umask = env.pop("UMASK", "022")
    return subprocess.Popen(
        ["sh", "-c", f"umask {umask}; {steps}", sys.executable, str(out), str(wheel)],
        cwd=project,
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
