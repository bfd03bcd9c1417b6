"""Three read-only tools over the folders that the user has permitted: list, read, find.

The work runs in a thread and is bounded in bytes, files and seconds.
"""

from __future__ import annotations

import asyncio
import codecs
import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.tools.base import ToolError, ToolSpec, object_schema
from app.tools.folders import Folders, Place, entries_of, read_bytes, walk
from app.untrusted.limits import TOOL_FILE_BYTES, TOOL_SEARCHED_BYTES

PAGE_CHARS = 3_500
"""Characters of a file that one call gives; a result holds 4,000."""
LISTED = 80
FIND_FILES = 2_000
FIND_SECONDS = 5.0
FOUND = 30
FOUND_IN_FILE = 5
LINE_CHARS = 160

_PATH = {"type": "string", "description": "As list_files writes it: FOLDER/sub-folder/name"}


class FilesTool:
    """One tool over the folders. `work` runs in a thread; its errors become ToolErrors without real paths."""

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
        except OSError as error:  # never `str(error)`: it holds the whole path
            raise ToolError(f"That could not be read ({error.strerror or type(error).__name__}).") from None


def files_tools(folders: Sequence[Path]) -> tuple[FilesTool, ...]:
    """Returns the three tools over `folders`. No file is touched before the first call."""
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
    """Returns the folder `where`; for an empty path all permitted ones. Raises ToolError."""
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
    """Returns `data` as text with plain line ends; None if it is not text. An incomplete last character is dropped."""
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
