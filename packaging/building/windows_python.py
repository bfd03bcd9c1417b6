"""Reads the Python that the Windows installer includes, leaving out the parts that the app never uses."""

from __future__ import annotations

import hashlib
import io
import re
import struct
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from building.source import BuildError, File

PINNED = {
    "python-3.12.10-embed-amd64.zip": "4acbed6dd1c744b0376e3b1cf57ce906f9dc9e95e68824584c8099a63025a3c3",
    "cpython-3.12.14+20260901-x86_64-pc-windows-msvc-install_only_stripped.tar.gz": "7c45c9622400d578709a9b2cddbe8124cc21d382409d9f13406d706d28e31b14",  # noqa: E501
}
"""The SHA-256 of each archive accepted without an explicit digest, from python.org and python-build-standalone."""

LEFT_OUT = re.compile(
    r"(Lib/)?(test|idlelib|tkinter|turtledemo|lib2to3|ensurepip|pydoc_data|site-packages)/"
    r"|(include|libs|tcl|Scripts|Doc)/|.*(__pycache__/|\.pdb$|\.pyc$)"
    r"|DLLs/(_tkinter|_test|_ctypes_test|_msi|tcl\d|tk\d)|Lib/(turtle|sitecustomize)\.py$"
)
NEEDED = ("python.exe", "pythonw.exe", "python3.dll")


class Python(NamedTuple):
    """A Python for Windows.

    - `version`: the full version, such as `3.12.10`
    - `sha256`: the digest of its archive or, if it was read from a folder, of its DLL
    - `files`: its files, with paths below `python/`
    """

    version: str
    sha256: str
    files: list[File]

    @property
    def minor(self) -> str:
        """The major and minor version, such as `3.12`."""
        return self.version.rpartition(".")[0]


def python_files(given: Path, sha256: str | None) -> Python:
    """Returns the Python to include. Raises BuildError if it is incomplete or its digest is wrong.

    `given`: a folder, which is used as it is, or an archive, which must have the digest `sha256` or, if that is None,
    the pinned one.
    """
    if given.is_dir():
        paths = (path for path in given.rglob("*") if path.is_file())
        every = [File(path.relative_to(given).as_posix(), path.read_bytes()) for path in paths]
    elif given.is_file():
        every = list(_unpack(given, sha256))
    else:
        raise BuildError(f"There is no Python at {given}. Name a folder or an archive with --python.")
    names = {file.path for file in every}
    libraries = [file.data for file in sorted(every) if re.fullmatch(r"python3\d+\.dll", file.path)]
    version = _version(libraries[0]) if libraries else None
    if version is None or any(name not in names for name in NEEDED):
        raise BuildError(
            f"{given} does not hold a Python for Windows: {', '.join(NEEDED)} and its library have to be at its top. "
            f"packaging/README.md lists the packages that fit."
        )
    files = sorted(File(f"python/{file.path}", file.data) for file in every if not LEFT_OUT.match(file.path))
    whole = given.read_bytes() if given.is_file() else libraries[0]
    return Python(version, hashlib.sha256(whole).hexdigest(), files)


def _version(library: bytes) -> str | None:
    """Reads the version resource of Python's DLL, which encodes 3.12.10 as 3.12.10150; None if there is none."""
    at = library.find(struct.pack("<II", 0xFEEF04BD, 0x10000))
    if at < 0:
        return None
    minor, major, _, last = struct.unpack_from("<HHHH", library, at + 8)
    return f"{major}.{minor}.{last // 1000}"


def _unpack(archive: Path, sha256: str | None) -> Iterable[File]:
    data = archive.read_bytes()
    wanted = sha256 or PINNED.get(archive.name)
    if wanted is None:
        raise BuildError(
            f"{archive.name} is not one of the pinned Pythons: {', '.join(PINNED)}. If you know its digest from its "
            "publisher, give it with --python-sha256."
        )
    if hashlib.sha256(data).hexdigest() != wanted.lower():
        raise BuildError(f"The SHA-256 of {archive.name} is not {wanted}, so it is not the file that was published.")
    if archive.suffix == ".zip":
        with zipfile.ZipFile(io.BytesIO(data)) as files:
            for name in files.namelist():
                if not name.endswith("/"):
                    yield File(name, files.read(name))
        return
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            stream = tar.extractfile(member)
            if stream is not None:
                yield File(member.name.removeprefix("python/"), stream.read())
