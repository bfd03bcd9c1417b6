"""Reads rows from the pages of an SQLite file, also where its header, its schema or the inner pages are damaged.

Every page with rows is read by itself, and what a row belongs to is told by the types of its columns. What the log
beside the file holds replaces the file's pages, as far as its checksums are right. See https://sqlite.org/fileformat.html
"""

from __future__ import annotations

import contextlib
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from app.untrusted.files import open_regular
from app.untrusted.limits import Refused

Value = None | int | float | str | bytes

_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER = 0x0D, 0x0A, 0x02
_HEADER, _LOG_HEADER, _FRAME_HEADER = 100, 32, 24
_LOG_MAGIC = 0x377F0682
_USUAL_SIZE = 4096
_MOST_COLUMNS = 16
_INT_BYTES = (0, 1, 2, 3, 4, 6, 8)


class Pages:
    """The pages of the file `path`; to be used in a `with`. Raises OSError."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as files:
            self._data = files.enter_context(_Content(self._path))
            self._log = files.enter_context(_Content(self._path.with_name(self._path.name + "-wal")))
            self._size = self._page_size()
            self._newer, count = _logged_pages(self._log, self._size)
            present = max(-(-self._data.length // self._size), *self._newer, 0)
            self._count = min(count or present, present)
            self._files = files.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._files.close()

    def rows(self, tables: Mapping[str, re.Pattern[str]]) -> Iterator[tuple[str, int, tuple[Value, ...]]]:
        """Yields every row that can be read with its table's name and its id, 0 for one without.

        `tables`: by name what the types of a row's columns must match: a letter each of "nirtb" (NULL, integer, real,
        text, blob).
        """
        for number in range(1, self._count + 1):
            page = self._page(number)
            begin = _HEADER if number == 1 else 0
            if len(page) < begin + 12 or page[begin] not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER):
                continue
            kind = page[begin]
            cells = begin + (12 if kind == _INDEX_INNER else 8)
            count = min(int.from_bytes(page[begin + 3 : begin + 5]), (len(page) - cells) // 2)
            for (place,) in struct.iter_unpack(">H", page[cells : cells + 2 * count]):
                try:
                    row = self._row(page, place, kind, tables)
                except (IndexError, ValueError, struct.error):
                    continue
                if row is not None:
                    yield row

    def _row(
        self, page: bytes, place: int, kind: int, tables: Mapping[str, re.Pattern[str]]
    ) -> tuple[str, int, tuple[Value, ...]] | None:
        rowid = 0
        if kind == _INDEX_INNER:
            place += 4  # the page to the left
        length, place = _varint(page, place)
        if kind == _TABLE_LEAF:
            rowid, place = _varint(page, place)
        types, body = _types(page, place)
        letters = "".join(map(_letter, types))
        for name, shape in tables.items():
            if shape.fullmatch(letters):
                payload = self._payload(page, place, length, kind == _TABLE_LEAF)
                return name, rowid, tuple(_values(payload, types, body - place))
        return None

    def _payload(self, page: bytes, place: int, length: int, table: bool) -> bytes:
        """Returns a record, whose end may lie on other pages. Raises ValueError."""
        usable = self._size
        most = usable - 35 if table else (usable - 12) * 64 // 255 - 23
        least = (usable - 12) * 32 // 255 - 23
        if length > self._count * usable:
            raise ValueError("longer than the file")
        if length <= most:
            local = length
        else:
            local = least + (length - least) % (usable - 4)
            local = least if local > most else local
        parts, missing = [page[place : place + local]], length - local
        follow = int.from_bytes(page[place + local : place + local + 4]) if missing else 0
        while missing > 0:
            if not 1 <= follow <= self._count:
                raise ValueError("no such page")
            further = self._page(follow)
            parts.append(further[4 : 4 + min(missing, usable - 4)])
            follow = int.from_bytes(further[:4])
            missing -= usable - 4
        payload = b"".join(parts)
        if len(payload) < length:
            raise ValueError("cut off")
        return payload

    def _page(self, number: int) -> bytes:
        newer = self._newer.get(number)
        if newer is not None:
            return self._log.read(newer, self._size)
        return self._data.read((number - 1) * self._size, self._size)

    def _page_size(self) -> int:
        said = int.from_bytes(self._data.read(16, 2))
        said = 65536 if said == 1 else said
        if said == _USUAL_SIZE or said < 512 or said & (said - 1):
            return _USUAL_SIZE
        return max((said, _USUAL_SIZE), key=self._leaves)

    def _leaves(self, size: int) -> int:
        """Returns how many pages look like those with rows, if a page has this size."""
        heads = (self._data.read(at, 5) for at in range(size, self._data.length - size, size))
        return sum(head[:1] == bytes([_TABLE_LEAF]) and 0 < int.from_bytes(head[3:5]) < size for head in heads)


class _Content(contextlib.AbstractContextManager["_Content"]):
    """What can be read of a file, nothing if there is none. `length`: in bytes.

    It is not mapped into memory: an error of the disk would then end the app.
    """

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO | None = None
        self.length = 0
        with contextlib.suppress(FileNotFoundError, Refused):
            self._file = open_regular(path)
            self.length = self._file.seek(0, 2)

    def __exit__(self, *exc: object) -> None:
        if self._file is not None:
            self._file.close()

    def read(self, at: int, count: int) -> bytes:
        """Returns the bytes at a place; fewer at the end of the file, and none that the disk can't read."""
        if self._file is None:
            return b""
        try:
            self._file.seek(at)
            return self._file.read(count)
        except OSError:
            return b""


def _logged_pages(log: _Content, size: int) -> tuple[dict[int, int], int]:
    """Returns by its number the place of each page that a log holds, and the number of pages of the database.

    Only complete transactions count. The number is 0 where there is none, and where a damaged page ends the log.
    """
    pages: dict[int, int] = {}
    header, count = log.read(0, _LOG_HEADER), 0
    if len(header) < _LOG_HEADER:
        return pages, count
    magic, _, page_size = struct.unpack(">III", header[:12])
    order = ">" if magic & 1 else "<"
    sums = _checksum(header[:24], order, (0, 0))
    if magic & ~1 != _LOG_MAGIC or page_size != size or sums != struct.unpack(">II", header[24:]):
        return pages, count
    pending: dict[int, int] = {}
    for start in range(_LOG_HEADER, log.length - _FRAME_HEADER - size + 1, _FRAME_HEADER + size):
        frame = log.read(start, _FRAME_HEADER + size)
        head, page = frame[:_FRAME_HEADER], frame[_FRAME_HEADER:]
        sums = _checksum(head[:8] + page, order, sums)
        if head[8:16] != header[16:24]:
            break  # of an earlier use of the log
        if sums != struct.unpack(">II", head[16:]):
            return pages, 0
        number, commit = struct.unpack(">II", head[:8])
        pending[number] = start + _FRAME_HEADER
        if commit:
            pages |= pending
            count = commit
            pending.clear()
    return pages, count


def _checksum(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    one, two = sums
    for first, second in struct.iter_unpack(f"{order}II", data):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """Returns a number of one to nine bytes, and where it ends. Raises IndexError."""
    value = 0
    for count in range(8):
        byte = data[place + count]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + count + 1
    return value << 8 | data[place + 8], place + 9


def _types(data: bytes, place: int) -> tuple[list[int], int]:
    """Returns the types of a record's columns, and where its values begin. Raises IndexError, ValueError."""
    length, at = _varint(data, place)
    types, end = [], place + length
    while at < end:
        kind, at = _varint(data, at)
        types.append(kind)
        if len(types) > _MOST_COLUMNS:
            raise ValueError("too many columns")
    return types, end


def _letter(kind: int) -> str:
    return "niiiiiirii"[kind] if kind < 10 else "?" if kind < 12 else "bt"[kind & 1]


def _values(payload: bytes, types: list[int], at: int) -> Iterator[Value]:
    for kind in types:
        if kind == 0:
            yield None
        elif kind in (8, 9):
            yield kind - 8
        elif kind == 7:
            yield struct.unpack(">d", payload[at : at + 8])[0]
            at += 8
        elif kind < 7:
            yield int.from_bytes(payload[at : at + _INT_BYTES[kind]], signed=True)
            at += _INT_BYTES[kind]
        else:
            length = (kind - 12) // 2
            content = payload[at : at + length]
            if len(content) < length:
                raise ValueError("cut off")
            yield content.decode("utf-8", "replace") if kind & 1 else content
            at += length
