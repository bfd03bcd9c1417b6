"""Find installed packages and program files that are damaged."""

from __future__ import annotations

import base64
import csv
import hashlib
from collections.abc import Iterator
from pathlib import Path

from installation.stamp import read_json
from installation.steps import Steps

BLOCK = 1 << 20


def sha256(path: Path) -> bytes:
    """Return the digest of a file, read in blocks."""
    seen = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(BLOCK), b""):
            seen.update(block)
    return seen.digest()


def recorded_files(metadata: Path) -> Iterator[tuple]:
    """Read a package's list of files: path, encoded digest and size; the last two may be empty."""
    with (metadata / "RECORD").open(encoding="utf-8", newline="") as record:
        for row in csv.reader(record):
            if len(row) == 3:
                yield metadata.parent / row[0], row[1], row[2]


def is_whole(path: Path, digest: str, size: str) -> bool:
    """Tell whether a file is as its package's list says. Compiled code is ignored: Python replaces it."""
    if path.suffix == ".pyc":
        return True
    try:
        if not digest.startswith("sha256="):
            return path.exists()
        if size and path.stat().st_size != int(size):
            return False
        found = sha256(path)
        # Some build tools write the digest in hexadecimal instead of base64.
        return digest[len("sha256=") :] in (base64.urlsafe_b64encode(found).rstrip(b"=").decode(), found.hex())
    except (OSError, ValueError):
        return False


def damaged_packages(site_packages: Path, steps: Steps) -> list[Path]:
    """Return the metadata folders of packages with a missing or changed file."""
    found = []
    for metadata in sorted(site_packages.glob("*.dist-info")):
        steps.tick()
        try:
            whole = all(is_whole(*file) for file in recorded_files(metadata))
        except (OSError, ValueError, csv.Error):
            whole = False
        if not whole:
            found.append(metadata)
    return found


def damaged_program_files(root: Path) -> list[str]:
    """Return the missing or changed files of the program, according to its list `files.json`.

    There is no such list where a package manager checks the files itself.
    """
    listed = read_json(root / "files.json")

    def is_damaged(name: str) -> bool:
        try:
            return sha256(root / name).hex() != listed[name]
        except OSError:
            return True

    return [name for name in sorted(listed) if is_damaged(name)]
