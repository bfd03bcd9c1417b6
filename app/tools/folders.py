"""The folders that the user has permitted, and safe access to what is in them.

No path from the model is trusted. It is split, refused if it holds anything but plain names, joined to a permitted
folder, resolved to its real place, and refused again if that lies outside. Hidden files (a leading dot in the name) are
never read, because keys and passwords are stored in them. All functions here block.
"""

from __future__ import annotations

import itertools
import os
import re
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from app.platform.file_names import is_device
from app.tools.base import ToolError
from app.untrusted.files import open_regular
from app.untrusted.refused import Refused

DIRECTORY_ENTRIES = 10_000
PATH_CHARS = 1_000

_HIDDEN = "Hidden files and folders (their names begin with a dot) are not read."


@dataclass(frozen=True, slots=True)
class Place:
    """An existing file or folder: `real` below the real `base`; `shown` is its path as the model may see it."""

    base: Path
    real: Path
    shown: str


class Folders:
    """The permitted folders, each with a short unique name."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._roots: dict[str, Path] = {}
        self._real: dict[str, Path] = {}
        for folder in folders:
            path = Path(os.path.abspath(folder))
            if path in self._roots.values():
                continue
            stem = re.sub(r"[\x00-\x1f\\/:]", "_", path.name) or "disk"
            names = itertools.chain([stem], (f"{stem} ({number})" for number in itertools.count(2)))
            taken = {name.casefold() for name in self._roots}
            self._roots[next(name for name in names if name.casefold() not in taken)] = path

    @property
    def names(self) -> tuple[str, ...]:
        """The short names of the folders, in the user's order."""
        return tuple(self._roots)

    def roots(self) -> list[Place]:
        """Returns the permitted folders that exist now."""
        places = []
        for name in self._roots:
            try:
                places.append(self._root(name))
            except ToolError:
                continue
        return places

    def find(self, requested: str) -> Place:
        """Returns the place of a path. Raises ToolError if it does not exist or is not permitted."""
        name, rest = self._split(requested)
        root = self._root(name)
        shown = "/".join([name, *rest])
        try:
            real = root.real.joinpath(*rest).resolve(strict=True)
        except (FileNotFoundError, NotADirectoryError):
            raise ToolError(f"There is no “{shown}”. list_files shows what is there.") from None
        except (OSError, RuntimeError, ValueError):  # no permission, a circle of links, a name that is too long
            raise ToolError(f"“{shown}” cannot be opened.") from None
        if not real.is_relative_to(root.real):
            raise ToolError(f"“{shown}” leads out of the folders that the user has permitted, and is not read.")
        if any(_is_hidden(part) for part in real.relative_to(root.real).parts):
            raise ToolError(_HIDDEN)
        return Place(root.real, real, shown)

    def _root(self, name: str) -> Place:
        path = self._roots[name]
        try:
            real = path.resolve(strict=True)
            there = real.is_dir()
        except (OSError, RuntimeError):
            there = False
        if not there:
            raise ToolError(
                f"The folder “{name}” that the user has permitted is not there at present: it was moved or deleted, "
                "or its drive is not connected."
            )
        # The user permitted the place that was found first; a link at its path may lead elsewhere since.
        if self._real.setdefault(name, real) != real:
            raise ToolError(f"The folder “{name}” leads elsewhere now than when the user permitted it; it is not read.")
        return Place(real, real, name)

    def _split(self, requested: str) -> tuple[str, list[str]]:
        """Returns the folder's name and the plain names below it. Raises ToolError for anything else."""
        if not self._roots:
            raise ToolError("The user has permitted no folder. Folders are permitted in the settings, under Tools.")
        if len(requested) > PATH_CHARS or any(ord(char) < 32 for char in requested):
            raise ToolError("That is no path: it is too long or holds control characters.")
        flat = requested.strip().replace("\\", "/")
        if flat.startswith("/") or PureWindowsPath(flat).drive:
            raise ToolError(
                f"Absolute paths are not taken. Write FOLDER/name, with one of these folders: {', '.join(self.names)}."
            )
        parts = [part for part in flat.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise ToolError("“..” is not taken in a path: nothing outside the permitted folders is read.")
        name = next((name for name in self.names if parts and name.casefold() == parts[0].casefold()), None)
        if name is not None:
            parts = parts[1:]
        elif len(self._roots) == 1:
            [name] = self.names  # the only one
        else:
            raise ToolError(f"Begin the path with one of the permitted folders: {', '.join(self.names)}.")
        for part in parts:
            if is_device(part):
                raise ToolError(f"“{part}” is the name of a device on Windows, and is not read.")
            if _is_hidden(part):
                raise ToolError(_HIDDEN)
            if sys.platform == "win32" and (":" in part or part != part.rstrip(". ")):
                raise ToolError(f"“{part}” is no plain name of a file.")
        return name, parts


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def entries_of(place: Place) -> Iterator[os.DirEntry[str]]:
    """Yields what is in a folder, sorted by name, without hidden files, devices, and links that lead out or nowhere."""
    with os.scandir(place.real) as scanned:
        found = sorted(itertools.islice(scanned, DIRECTORY_ENTRIES), key=lambda entry: entry.name.casefold())
    for entry in found:
        if _is_hidden(entry.name):
            continue
        if entry.is_symlink():
            try:
                real = Path(entry.path).resolve(strict=True)
            except (OSError, RuntimeError):
                continue
            if not real.is_relative_to(place.base):
                continue
        try:
            if entry.is_dir() or entry.is_file():
                yield entry
        except OSError:
            continue


def walk(place: Place, deadline: float) -> Iterator[tuple[Path, str]]:
    """Yields the regular files below `place`, the nearer ones first, until `deadline`; follows no link or junction."""
    pending = [place]
    while pending and time.monotonic() <= deadline:
        here = pending.pop(0)
        try:
            entries = list(entries_of(here))
        except OSError:
            continue
        for entry in entries:
            if time.monotonic() > deadline:
                return
            path = here.real / entry.name
            shown = f"{here.shown}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                # On Windows a junction looks like a folder; only its real place differs.
                if path.resolve() == path:
                    pending.append(Place(place.base, path, shown))
            elif entry.is_file(follow_symlinks=False):
                yield path, shown


def read_bytes(path: Path, limit: int) -> tuple[bytes, bool]:
    """Returns the first `limit` bytes of a regular file, and whether these are all. Raises OSError, ToolError."""
    try:
        # `path` is resolved: a link at its place was made since. Opening a device may have effects.
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise Refused("it is no file")
        with open_regular(path, links=False) as file:
            data = file.read(limit + 1)
    except Refused:
        raise ToolError("That is no regular file, and is not read.") from None
    return data[:limit], len(data) <= limit
