"""Extracts uv, the launcher's package installer, from its hash-pinned wheel."""

from __future__ import annotations

import hashlib
import io
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from building.source import BuildError, File, Source

LOCK = "packaging/locks/uv.txt"


def uv_files(source: Source, platform: str, wheel: Path | None = None) -> list[File]:
    """Returns uv, its licences and its own bill of materials, as files in `tools/`.

    `platform`: the wheel's platform tag. `wheel`: the path of the wheel; if None, pip downloads it. Raises BuildError
    if the wheel's hash is not in the lock, or if it is for another platform.
    """
    data = wheel.read_bytes() if wheel is not None else _fetch(source, platform)
    lock = source.file(LOCK).decode("utf-8")
    if hashlib.sha256(data).hexdigest() not in re.findall(r"sha256:([0-9a-f]{64})", lock):
        raise BuildError(f"The wheel of uv is not one that {LOCK} names by its hash. Take one that is.")
    found, tags = [], []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in sorted(archive.namelist()):
            if re.search(r"/scripts/uv(\.exe)?$", name):
                found.append(File("tools/" + name.rpartition("/")[2], archive.read(name), executable=True))
            elif re.search(r"\.dist-info/(licenses|sboms)/", name):
                found.append(File("tools/uv-" + name.rpartition("/")[2], archive.read(name)))
            elif name.endswith(".dist-info/WHEEL"):
                tags = re.findall(r"(?m)^Tag: \S+-(\S+)\s*$", archive.read(name).decode("utf-8"))
    if platform not in tags or not any(file.executable for file in found):
        raise BuildError(
            f"The wheel of uv is for {', '.join(tags) or 'no system'}, and {platform} is built for. Take the wheel for "
            "that system."
        )
    return found


def _fetch(source: Source, platform: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "uv.txt"
        lock.write_bytes(source.file(LOCK))
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--require-hashes",
            "--only-binary",
            ":all:",
            "--platform",
            platform,
            "--dest",
            folder,
            "-r",
            str(lock),
        ]
        if subprocess.run(command, check=False).returncode != 0:
            raise BuildError(
                f"pip could not fetch the wheel of uv for {platform}, for the reason above. Check the network, or name "
                "a wheel that is there already with --uv."
            )
        return next(Path(folder).glob("*.whl")).read_bytes()
