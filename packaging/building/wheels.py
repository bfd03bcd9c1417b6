"""Downloads the locked wheels for one system and Python version, checking their hashes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

from installation.locks import normal_name
from installation.problems import ToolFailed, problem_of

LINUX_PLATFORMS = (
    *(f"manylinux_2_{minor}_x86_64" for minor in (34, 31, 28, 27, 26, 24, 17, 12, 5)),
    "manylinux2014_x86_64",
    "manylinux2010_x86_64",
    "manylinux1_x86_64",
    "linux_x86_64",
)


class Target(NamedTuple):
    """A build target: the system, `windows` or `linux`, and a Python version such as `3.12`."""

    system: str
    version: str

    def __str__(self) -> str:
        return f"{self.system}-{self.version}"

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platform tags of compatible wheels."""
        return ("win_amd64",) if self.system == "windows" else LINUX_PLATFORMS

    @property
    def markers(self) -> dict[str, str]:
        """The variables for evaluating environment markers."""
        windows = self.system == "windows"
        return {
            "python_version": self.version,
            "python_full_version": f"{self.version}.0",
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "os_name": "nt" if windows else "posix",
            "sys_platform": "win32" if windows else "linux",
            "platform_system": "Windows" if windows else "Linux",
            "platform_machine": "AMD64" if windows else "x86_64",
            "extra": "",
        }


def requirements_for(lock: str, target: Target) -> dict[str, str]:
    """Returns the `--hash` options of those packages in a lock that the target needs, keyed by pin (`numpy==2.2.6`)."""
    chosen = {}
    for block in re.split(r"(?m)^(?=[A-Za-z0-9])", lock)[1:]:
        wanted = Requirement(block.split("\\\n")[0].strip())
        if wanted.marker is None or wanted.marker.evaluate(target.markers):
            hashes = " ".join(re.findall(r"--hash=\S+", block))
            chosen[f"{normal_name(wanted.name)}{wanted.specifier}"] = hashes
    return chosen


def fetch(locks: list[Path], target: Target, folder: Path) -> list[Path]:
    """Downloads the wheels of these locks into `folder`, unless they are already there; returns their sorted paths.

    Raises Problem if pip fails.
    """
    pins: dict[str, str] = {}
    for lock in locks:
        pins |= requirements_for(lock.read_text("utf-8"), target)
    folder.mkdir(parents=True, exist_ok=True)
    listed = folder.with_suffix(".txt")
    listed.write_text("".join(f"{pin} {hashes}\n" for pin, hashes in sorted(pins.items())), "utf-8")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--python-version",
        target.version,
        "--implementation",
        "cp",
        "--dest",
        str(folder),
        "-r",
        str(listed),
        *(f"--platform={name}" for name in target.platforms),
    ]
    env = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, check=False)
    if done.returncode:
        raise problem_of("Fetching the wheels", ToolFailed(command, done.returncode, done.stdout), listed)
    found = {pin_of(path.as_posix()): path for path in folder.glob("*.whl")}
    return sorted(found[pin] for pin in pins)


def pin_of(wheel: str) -> str:
    """Returns the package name and version from a wheel's path, as `name==version`."""
    name, version = wheel.rpartition("/")[2].split("-")[:2]
    return f"{normal_name(name)}=={version}"


def unpacked_size(wheel: Path) -> int:
    """Returns the total uncompressed size of the files in a wheel, in bytes."""
    with zipfile.ZipFile(wheel) as archive:
        return sum(info.file_size for info in archive.infolist())
