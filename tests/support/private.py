"""Looks for files of the user's that others on the machine can read."""

import stat
from collections.abc import Iterator
from pathlib import Path

PUBLIC = ("models", "environment")
"""Folders of the app's that hold nothing of the user's: weights and packages."""


def readable_by_others(folder: Path) -> list[str]:
    """Returns the files and folders below `folder` that others may use in any way, except the app's public ones."""
    return [f"{stat.filemode(path.lstat().st_mode)} {path.relative_to(folder)}" for path in _of_the_user(folder)]


def _of_the_user(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.name in PUBLIC:
            continue
        if path.lstat().st_mode & 0o077:
            yield path
        if path.is_dir():
            yield from _of_the_user(path)
