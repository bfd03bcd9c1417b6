"""Three read-only tools for the folders that the user has permitted: list, read and find.

They run on a worker thread, with limits on bytes, files and seconds. Paths from the model are not trusted: a path is
split, rejected if it contains anything but plain names, joined to a permitted folder, resolved, and rejected if the
result is outside that folder. Hidden files (whose names start with a dot) are never read, since they often contain keys
and passwords.
"""

from __future__ import annotations

import asyncio
import codecs
import itertools
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import Any

from app.platform.files import is_device
from app.tools.base import ToolError, ToolSpec, object_schema
from app.untrusted.files import open_regular
from app.untrusted.limits import TOOL_FILE_BYTES, TOOL_SEARCHED_BYTES, Refused

DIRECTORY_ENTRIES = 10_000
PATH_CHARS = 1_000

_HIDDEN = "Hidden files and folders (their names begin with a dot) are not read."


@dataclass(frozen=True, slots=True)
class Place:
    """An existing file or folder in a permitted folder.

    - `base`: the resolved path of the permitted folder
    - `real`: the resolved path of the file or folder
    - `shown`: its path as shown to the model
    """

    base: Path
    real: Path
    shown: str


class Folders:
    """The permitted folders, each identified by a short unique name."""

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
        """Returns the permitted folders that currently exist."""
        places = []
        for name in self._roots:
            try:
                places.append(self._root(name))
            except ToolError:
                continue
        return places

    def find(self, requested: str) -> Place:
        """Resolves a path from the model. Raises ToolError if it doesn't exist or isn't permitted."""
        name, rest = self._split(requested)
        root = self._root(name)
        shown = "/".join([name, *rest])
        try:
            real = root.real.joinpath(*rest).resolve(strict=True)
        except (FileNotFoundError, NotADirectoryError):
            raise ToolError(f"There is no “{shown}”. list_files shows what is there.") from None
        except (OSError, RuntimeError, ValueError):  # no permission, a symlink loop, or a name that is too long
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
        # The user has permitted the folder that was resolved first; its path may be a link that has changed since.
        if self._real.setdefault(name, real) != real:
            raise ToolError(f"The folder “{name}” leads elsewhere now than when the user permitted it; it is not read.")
        return Place(real, real, name)

    def _split(self, requested: str) -> tuple[str, list[str]]:
        """Splits a path into the permitted folder's name and the names below it. Raises ToolError if it is invalid."""
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
            [name] = self.names  # there is only one
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
    """Yields a folder's files and subfolders, sorted by name.

    Excludes hidden files, devices, broken links, and links that lead outside the permitted folder.
    """
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
    """Yields the path of each regular file below `place`, and the path shown to the model, in breadth-first order.

    Stops at `deadline`, a `time.monotonic()` timestamp. Doesn't follow links or junctions.
    """
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
                # On Windows, a junction looks like a folder; only its resolved path differs.
                if path.resolve() == path:
                    pending.append(Place(place.base, path, shown))
            elif entry.is_file(follow_symlinks=False):
                yield path, shown


def read_bytes(path: Path, limit: int) -> tuple[bytes, bool]:
    """Returns the first `limit` bytes of a regular file, and whether that is all of it. Raises OSError, ToolError."""
    try:
        # `path` is already resolved, so a link must be new. Checked here, since opening a device may have side effects.
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise Refused("it is no file")
        with open_regular(path, links=False) as file:
            data = file.read(limit + 1)
    except Refused:
        raise ToolError("That is no regular file, and is not read.") from None
    return data[:limit], len(data) <= limit


PAGE_CHARS = 3_500
"""The maximum number of characters read per call; a whole result is limited to 4,000."""
LISTED = 80
FIND_FILES = 2_000
FIND_SECONDS = 5.0
FOUND = 30
FOUND_IN_FILE = 5
LINE_CHARS = 160

_PATH = {"type": "string", "description": "As list_files writes it: FOLDER/sub-folder/name"}


class FilesTool:
    """A tool for the permitted folders.

    `work` runs on a worker thread. Its OSErrors are converted to ToolErrors that don't reveal real paths.
    """

    def __init__(self, spec: ToolSpec, work: Callable[[Mapping[str, Any]], str]) -> None:
        self.spec = spec
        self._work = work

    async def call(self, arguments: Mapping[str, Any]) -> str:
        return await asyncio.to_thread(self._guarded, arguments)

    def _guarded(self, arguments: Mapping[str, Any]) -> str:
        try:
            return self._work(arguments)
        except PermissionError:
            raise ToolError("The system does not permit this app to read that.") from None
        except OSError as error:  # never `str(error)`, which contains the full path
            raise ToolError(f"That could not be read ({error.strerror or type(error).__name__}).") from None


def files_tools(folders: Sequence[Path]) -> tuple[FilesTool, ...]:
    """Returns the three tools for `folders`. The file system isn't accessed before the first call."""
    permitted = Folders(folders)
    names = ", ".join(permitted.names) or "none yet"
    return (
        FilesTool(
            _spec(
                "list_files",
                f"Lists what is in a folder that the user has permitted: {names}. Without a path it lists these.",
                object_schema({"path": _PATH}),
            ),
            lambda arguments: _list(permitted, str(arguments.get("path") or "")),
        ),
        FilesTool(
            _spec(
                "read_file",
                f"Reads a text file from the permitted folders, {PAGE_CHARS:,} characters at a time.",
                object_schema(
                    {
                        "path": _PATH,
                        "offset": {"type": "integer", "description": "The character to begin at; 0 if left out"},
                    },
                    ("path",),
                ),
            ),
            lambda arguments: _read(permitted, str(arguments["path"]), int(arguments.get("offset") or 0)),
        ),
        FilesTool(
            _spec(
                "find_in_files",
                "Finds a word or phrase in the names and the text of the files in the permitted folders; upper and "
                "lower case are the same.",
                object_schema(
                    {
                        "text": {"type": "string", "description": "What to look for, literally"},
                        "path": {"type": "string", "description": "The folder to look in; all if left out"},
                    },
                    ("text",),
                ),
            ),
            lambda arguments: _find(permitted, str(arguments["text"]), str(arguments.get("path") or "")),
        ),
    )


def _spec(name: str, description: str, parameters: Mapping[str, Any]) -> ToolSpec:
    return ToolSpec(name, description, parameters, outside=True)  # others may have written what is in a file


def _list(folders: Folders, requested: str) -> str:
    if not requested.strip(" /\\.") and len(folders.names) != 1:
        if not folders.names:
            folders.find("")  # raises
        there = {place.shown for place in folders.roots()}
        return "\n".join(f"{name}/" if name in there else f"{name}/ (not there at present)" for name in folders.names)
    place = folders.find(requested)
    if not place.real.is_dir():
        raise ToolError(f"“{place.shown}” is a file: read_file reads it.")
    entries = list(entries_of(place))
    if not entries:
        return f"“{place.shown}” is empty."
    lines: list[str] = []
    room = PAGE_CHARS
    for entry in entries[:LISTED]:
        line = f"{place.shown}/{entry.name}"
        line += "/" if entry.is_dir() else f" ({_size(entry.stat().st_size)})"
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    if len(lines) < len(entries):
        lines.append(f"… and {len(entries) - len(lines):,} more: name a sub-folder, or use find_in_files.")
    return "\n".join(lines)


def _read(folders: Folders, requested: str, offset: int) -> str:
    place = folders.find(requested)
    if place.real.is_dir():
        raise ToolError(f"“{place.shown}” is a folder: list_files lists it.")
    data, whole = read_bytes(place.real, TOOL_FILE_BYTES)
    text = _decode(data, whole)
    if text is None:
        raise ToolError(f"“{place.shown}” is no text file, and only text can be read.")
    if not text:
        return f"“{place.shown}” is empty."
    if not 0 <= offset < len(text):
        raise ToolError(f"“{place.shown}” has {len(text):,} characters: offset must be 0 to {len(text) - 1}.")
    page = text[offset : offset + PAGE_CHARS - len(place.shown)]  # leaves room for the note
    end = offset + len(page)
    if offset == 0 and end == len(text) and whole:
        return page
    note = f"[“{place.shown}”, characters {offset:,} to {end:,} of {len(text):,}"
    if end < len(text):
        note += f"; for more call again with offset {end}"
    elif not whole:
        note += f"; the file is larger, but no more than {_size(TOOL_FILE_BYTES)} of it can be read"
    return f"{page}\n{note}]"


def _find(folders: Folders, requested: str, where: str) -> str:
    needle = " ".join(requested.split()).casefold()
    if not needle:
        raise ToolError("There is nothing to look for: give a word or a phrase.")
    deadline = time.monotonic() + FIND_SECONDS
    found: list[str] = []
    searched, note = 0, ""
    for path, shown in itertools.chain.from_iterable(walk(place, deadline) for place in _search_in(folders, where)):
        if searched >= FIND_FILES:
            note = f"Stopped after {FIND_FILES:,} files"
        elif len(found) >= FOUND or sum(map(len, found)) > PAGE_CHARS - 2 * LINE_CHARS:
            note = "There is more"
        if note:
            break
        searched += 1
        if needle in shown.casefold():
            found.append(shown)
        try:
            text = _decode(*read_bytes(path, TOOL_SEARCHED_BYTES))
        except (OSError, ToolError):
            continue
        if text is not None:
            found += itertools.islice(_matching_lines(text, needle, shown), FOUND_IN_FILE)
    if not note and time.monotonic() > deadline:
        note = f"Stopped after {FIND_SECONDS:g} seconds"
    if not note and len(found) > FOUND:
        note = "There is more"
    if note:
        note += f" ({searched:,} files searched): name a folder or a longer phrase."
    if not found:
        return note or f"Nothing in {searched:,} files says “{requested[:LINE_CHARS]}”."
    return "\n".join([*found[:FOUND], *([note] if note else [])])


def _search_in(folders: Folders, where: str) -> list[Place]:
    """Returns the folder `where`, or all permitted folders for an empty path. Raises ToolError."""
    if not where.strip(" /\\.") and folders.names:
        return folders.roots() or [folders.find(folders.names[0])]
    place = folders.find(where)
    if not place.real.is_dir():
        raise ToolError(f"“{place.shown}” is a file: read_file reads it.")
    return [place]


def _matching_lines(text: str, needle: str, shown: str) -> Iterator[str]:
    for number, line in enumerate(text.split("\n"), 1):
        plain = " ".join(line.split())
        at = plain.casefold().find(needle)
        if at >= 0:
            start = max(0, at - LINE_CHARS // 3)
            yield f"{shown}:{number}: {'…' if start else ''}{plain[start : start + LINE_CHARS]}"


def _decode(data: bytes, whole: bool) -> str | None:
    """Decodes `data`, with line endings normalized; returns None if it isn't text.

    `whole`: whether `data` is the complete file; otherwise, an incomplete last character is dropped.
    """
    encoding = "utf-8-sig"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]", data):
        return None
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data, final=whole)
    except UnicodeDecodeError:
        if encoding == "utf-16":
            return None
        text = data.decode("cp1252", errors="replace")  # written by older editors on Windows
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _size(size: int) -> str:
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1e3:.0f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"
