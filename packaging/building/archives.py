"""Reproducible tar and ar archives, with a fixed member order, owner, modes and timestamps."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Sequence

from building.payload import FILE_MODE, PROGRAM_MODE
from building.source import File


def tar(files: Iterable[File], epoch: int, *, top: str = "") -> bytes:
    """Returns a tar archive of the files and their parent folders. `top`, "./" or empty, is prepended to each path."""
    every = sorted(files)
    folders = {folder for file in every for folder in _parents(file.path)}
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.GNU_FORMAT) as archive:
        if top:
            archive.addfile(_entry(top.rstrip("/"), tarfile.DIRTYPE, PROGRAM_MODE, epoch))
        for folder in sorted(folders):
            archive.addfile(_entry(top + folder, tarfile.DIRTYPE, PROGRAM_MODE, epoch))
        for file in every:
            entry = _entry(top + file.path, tarfile.REGTYPE, PROGRAM_MODE if file.executable else FILE_MODE, epoch)
            entry.size = len(file.data)
            archive.addfile(entry, io.BytesIO(file.data))
    return written.getvalue()


def _parents(path: str) -> Iterable[str]:
    parts = path.split("/")[:-1]
    return ("/".join(parts[: count + 1]) for count in range(len(parts)))


def _entry(name: str, kind: bytes, mode: int, epoch: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.mtime = kind, mode, epoch
    entry.uname = entry.gname = "root"
    return entry


def ar(members: Sequence[tuple[str, bytes]], epoch: int) -> bytes:
    """Returns an ar archive in the format of Debian packages; member names may have at most 16 characters."""
    written = [b"!<arch>\n"]
    for name, data in members:
        written.append(f"{name:<16}{epoch:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode("ascii"))
        written.append(data + b"\n" * (len(data) % 2))
    return b"".join(written)
