"""Tools over the folders that the user has permitted: list, read, find. They only read.

Knows nothing of the model that asks, and trusts no path it names. A path is taken apart, refused if it holds
anything but plain names, joined to a permitted folder, followed to its real place, and refused again if that lies
outside. Hidden files (a name with a leading dot) stay hidden: keys and passwords live there. All work runs in a
thread and is bounded in bytes, files and seconds.
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

from app.platform.file_names import is_device
from app.tools.base import ToolError, ToolSpec, object_schema

PAGE_CHARS = 3_500
"""Characters of a file that one call gives; a result holds 4,000."""
READ_BYTES = 4 * 2**20
"""So much of a file can be read, page by page."""
LISTED = 80
FIND_BYTES = 2**20
"""So much of each file is searched."""
FIND_FILES = 2_000
FIND_SECONDS = 5.0
FOUND = 30
FOUND_IN_FILE = 5
LINE_CHARS = 160
DIRECTORY_ENTRIES = 10_000
PATH_CHARS = 1_000

_PATH = {"type": "string", "description": "As list_files writes it: FOLDER/sub-folder/name"}


@dataclass(frozen=True, slots=True)
class _Place:
    """Something that is really there: `real` below the real `base`; `shown` is what the model may see."""

    base: Path
    real: Path
    shown: str


class Folders:
    """The permitted folders, each by a short name of its own. Its methods block: call them in a thread."""

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
        """The folders' short names, in the user's order."""
        return tuple(self._roots)

    def roots(self) -> list[_Place]:
        """The permitted folders that are there now."""
        places = []
        for name in self._roots:
            try:
                places.append(self._root(name))
            except ToolError:
                continue
        return places

    def find(self, wanted: str) -> _Place:
        """Where `wanted` really lies. Raises ToolError: not there, not permitted, or a trick."""
        name, rest = self._parted(wanted)
        root = self._root(name)
        shown = "/".join([name, *rest])
        try:
            real = root.real.joinpath(*rest).resolve(strict=True)
        except (FileNotFoundError, NotADirectoryError):
            raise ToolError(f"There is no “{shown}”. list_files tells what is there.") from None
        except (OSError, RuntimeError, ValueError):  # no permission, links in a circle, a name too long
            raise ToolError(f"“{shown}” cannot be opened.") from None
        if not real.is_relative_to(root.real):
            raise ToolError(f"“{shown}” leads out of the folders that the user has permitted, and is not read.")
        if any(_is_hidden(part) for part in real.relative_to(root.real).parts):
            raise ToolError(_HIDDEN)
        return _Place(root.real, real, shown)

    def _root(self, name: str) -> _Place:
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
        # What the user permitted is the place it was at first, whatever a link at its path leads to since.
        if self._real.setdefault(name, real) != real:
            raise ToolError(f"The folder “{name}” leads elsewhere now than when the user permitted it; it is not read.")
        return _Place(real, real, name)

    def _parted(self, wanted: str) -> tuple[str, list[str]]:
        """The folder's name and the plain names below it. Raises ToolError for all that is no plain name."""
        if not self._roots:
            raise ToolError("The user has permitted no folder. Folders are permitted in the settings, under Tools.")
        if len(wanted) > PATH_CHARS or any(ord(char) < 32 for char in wanted):
            raise ToolError("That is no path: it is too long or holds control characters.")
        flat = wanted.strip().replace("\\", "/")
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
            [name] = self.names  # there is no other that could be meant
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


_HIDDEN = "Hidden files and folders (their names begin with a dot) are not read."


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


class FilesTool:
    """One tool over the folders; `work` runs in a thread."""

    def __init__(self, spec: ToolSpec, work: Callable[[Mapping[str, Any]], str]) -> None:
        self.spec = spec
        self._work = work

    async def call(self, arguments: Mapping[str, Any]) -> str:
        """Raises ToolError."""
        return await asyncio.to_thread(self._guarded, arguments)

    def _guarded(self, arguments: Mapping[str, Any]) -> str:
        try:
            return self._work(arguments)
        except PermissionError:
            raise ToolError("The system does not permit this app to read that.") from None
        except OSError as error:  # never `str(error)`: it holds the whole path
            raise ToolError(f"That could not be read ({error.strerror or type(error).__name__}).") from None


def files_tools(folders: Sequence[Path]) -> tuple[FilesTool, ...]:
    """The three tools over `folders`; nothing is touched before the first call."""
    permitted = Folders(folders)
    names = ", ".join(permitted.names) or "none yet"
    return (
        FilesTool(
            ToolSpec(
                "list_files",
                f"Lists what is in a folder that the user has permitted: {names}. Without a path it lists these.",
                object_schema({"path": _PATH}),
            ),
            lambda arguments: _list(permitted, str(arguments.get("path") or "")),
        ),
        FilesTool(
            ToolSpec(
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
            ToolSpec(
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


def _list(folders: Folders, wanted: str) -> str:
    if not wanted.strip(" /\\.") and len(folders.names) != 1:
        if not folders.names:
            folders.find("")  # says so
        there = {place.shown for place in folders.roots()}
        return "\n".join(f"{name}/" if name in there else f"{name}/ (not there at present)" for name in folders.names)
    place = folders.find(wanted)
    if not place.real.is_dir():
        raise ToolError(f"“{place.shown}” is a file: read_file reads it.")
    entries = list(itertools.islice(_entries(place), DIRECTORY_ENTRIES))
    lines = []
    for entry in entries[:LISTED]:
        if entry.is_dir():
            lines.append(f"{place.shown}/{entry.name}/")
        else:
            lines.append(f"{place.shown}/{entry.name} ({_size(entry.stat().st_size)})")
    if not lines:
        return f"“{place.shown}” is empty."
    kept, length = [], 0
    for line in lines:
        length += len(line) + 1
        if length > PAGE_CHARS:
            break
        kept.append(line)
    if len(kept) < len(entries):
        kept.append(f"… and {len(entries) - len(kept):,} more: name a sub-folder, or use find_in_files.")
    return "\n".join(kept)


def _read(folders: Folders, wanted: str, offset: int) -> str:
    place = folders.find(wanted)
    if place.real.is_dir():
        raise ToolError(f"“{place.shown}” is a folder: list_files lists it.")
    data, whole = _bytes(place.real, READ_BYTES)
    text = _text(data, whole)
    if text is None:
        raise ToolError(f"“{place.shown}” is no text file, and only text can be read.")
    if not text:
        return f"“{place.shown}” is empty."
    if not 0 <= offset < len(text):
        raise ToolError(f"“{place.shown}” has {len(text):,} characters: offset must be 0 to {len(text) - 1}.")
    page = text[offset : offset + PAGE_CHARS - len(place.shown)]  # the note must have room
    end = offset + len(page)
    if offset == 0 and end == len(text) and whole:
        return page
    note = f"[“{place.shown}”, characters {offset:,} to {end:,} of {len(text):,}"
    if end < len(text):
        note += f"; for more call again with offset {end}"
    elif not whole:
        note += f"; the file is larger, but no more than {_size(READ_BYTES)} of it can be read"
    return f"{page}\n{note}]"


def _find(folders: Folders, wanted: str, where: str) -> str:
    needle = " ".join(wanted.split()).casefold()
    if not needle:
        raise ToolError("There is nothing to look for: give a word or a phrase.")
    if where.strip(" /\\.") or not folders.names:
        places = [folders.find(where)]
        if not places[0].real.is_dir():
            raise ToolError(f"“{places[0].shown}” is a file: read_file reads it.")
    else:
        places = folders.roots() or [folders.find(folders.names[0])]
    deadline = time.monotonic() + FIND_SECONDS
    found: list[str] = []
    looked, note = 0, ""
    for path, shown in itertools.chain.from_iterable(_walk(place, deadline) for place in places):
        if looked >= FIND_FILES:
            note = f"Stopped after {FIND_FILES:,} files"
        elif len(found) >= FOUND or sum(map(len, found)) > PAGE_CHARS - 2 * LINE_CHARS:
            note = "There is more"
        if note:
            break
        looked += 1
        if needle in shown.casefold():
            found.append(shown)
        try:
            text = _text(*_bytes(path, FIND_BYTES))
        except (OSError, ToolError):
            continue
        if text is not None:
            found += itertools.islice(_lines(text, needle, shown), FOUND_IN_FILE)
    if not note and time.monotonic() > deadline:
        note = f"Stopped after {FIND_SECONDS:g} seconds"
    if not note and len(found) > FOUND:
        note = "There is more"
    if note:
        note += f" ({looked:,} files searched): name a folder or a longer phrase."
    if not found:
        return note or f"Nothing in {looked:,} files says “{wanted[:LINE_CHARS]}”."
    return "\n".join([*found[:FOUND], *([note] if note else [])])


def _lines(text: str, needle: str, shown: str) -> Iterator[str]:
    for number, line in enumerate(text.split("\n"), 1):
        plain = " ".join(line.split())
        at = plain.casefold().find(needle)
        if at >= 0:
            start = max(0, at - LINE_CHARS // 3)
            yield f"{shown}:{number}: {'…' if start else ''}{plain[start : start + LINE_CHARS]}"


def _walk(place: _Place, deadline: float) -> Iterator[tuple[Path, str]]:
    """The ordinary files below `place`, the nearer ones first, until `deadline`; follows no link and no junction."""
    waiting = [place]
    while waiting and time.monotonic() <= deadline:
        here = waiting.pop(0)
        try:
            entries = list(itertools.islice(_entries(here), DIRECTORY_ENTRIES))
        except OSError:
            continue
        for entry in entries:
            if time.monotonic() > deadline:
                return
            path = here.real / entry.name
            shown = f"{here.shown}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                # On Windows a junction passes for a folder; only its real place tells.
                if path.resolve() == path:
                    waiting.append(_Place(place.base, path, shown))
            elif entry.is_file(follow_symlinks=False):
                yield path, shown


def _entries(place: _Place) -> Iterator[os.DirEntry[str]]:
    """What is in a folder, by name, without hidden things, devices, and links that lead out or nowhere."""
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


def _bytes(path: Path, limit: int) -> tuple[bytes, bool]:
    """The first `limit` bytes of an ordinary file, and whether these are all. Raises OSError, ToolError."""
    # A pipe would block for ever, and a device does things when it is opened.
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise ToolError("That is no ordinary file, and is not read.")
    # `path` is resolved: a link in its place was put there since.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ToolError("That is no ordinary file, and is not read.")
        data = file.read(limit + 1)
    return data[:limit], len(data) <= limit


def _text(data: bytes, whole: bool) -> str | None:
    """`data` as text with plain line ends, or None if it is none. A character cut off at the end is left out."""
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
        text = data.decode("cp1252", errors="replace")  # what older editors on Windows write
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _size(size: int) -> str:
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1e3:.0f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"
