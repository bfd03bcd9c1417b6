"""Bounds an answer's bytes while it comes: its length, that of each line, and the shape of the JSON in it.

Lines are given on whole, since all the formats of streamed answers (events, JSON by the line) are read by lines.
"""

from __future__ import annotations

from collections.abc import Iterator

from app.untrusted.json_text import Shape, check_shape, shape_of, without_strings
from app.untrusted.limits import Limits, Refused, in_words

_STREAMS = ("event-stream", "ndjson", "jsonl", "json-seq")


def is_streamed(content_type: str) -> bool:
    """Returns whether a body of this type is a stream of events or lines."""
    return any(kind in content_type.lower() for kind in _STREAMS)


class LineScanner:
    """Checks one body. `whole` bounds its length, and `line` each line, or the whole where it is one JSON text."""

    def __init__(self, whole: Limits, line: Limits) -> None:
        self._whole, self._line = whole, line
        self._by_line = whole is not line
        self._count = self._held_bytes = self._event_bytes = 0
        self._before = Shape(0, 0, 0)  # of the lines before, as far as they belong together
        self._held: list[bytes] = []
        self._in_event = False

    @property
    def held_bytes(self) -> int:
        """The length of the line that is not complete yet."""
        return self._held_bytes

    def push(self, block: bytes) -> Iterator[bytes]:
        """Yields the whole lines that `block` completes, as one piece. Raises Refused."""
        self._count += len(block)
        if self._count > self._whole.bytes:
            raise Refused(f"it is longer than {in_words(self._whole.bytes)}")
        if block and self._held and self._held[-1].endswith(b"\r") and not block.startswith(b"\n"):
            yield from self.flush()
        # A return at the end waits for the next block, which may begin with the newline that belongs to it.
        known = len(block) - block.endswith(b"\r")
        end = max(block.rfind(b"\n", 0, known), block.rfind(b"\r", 0, known)) + 1
        if not end:
            self._hold(block)
            return
        lines = b"".join((*self._held, block[:end]))
        self._held, self._held_bytes = [], 0
        for line in lines.splitlines():
            self._check(line)
        yield lines
        self._hold(block[end:])

    def flush(self) -> Iterator[bytes]:
        """Yields what is held, when it is known to be the end of a line. Raises Refused."""
        rest, self._held, self._held_bytes = b"".join(self._held), [], 0
        if rest:
            for line in rest.splitlines():
                self._check(line)
            yield rest

    def _hold(self, block: bytes) -> None:
        if block:
            self._held.append(block)
            self._held_bytes += len(block)
            if self._held_bytes > self._line.bytes:
                raise Refused(f"a line of it is longer than {in_words(self._line.bytes)}")

    def _check(self, line: bytes) -> None:
        """Raises Refused where a line is too long, or its JSON too deep or too large."""
        if len(line) > self._line.bytes:
            raise Refused(f"a line of it is longer than {in_words(self._line.bytes)}")
        data = line.startswith(b"data:")
        if not self._in_event and (self._by_line or data):
            self._before, self._event_bytes = Shape(0, 0, 0), 0
        self._in_event = bool(line) and (self._in_event or data)  # the data of one event may be on several lines
        self._event_bytes += len(line)
        if self._by_line and self._event_bytes > self._line.bytes:
            raise Refused(f"an event of it is longer than {in_words(self._line.bytes)}")
        before, opened, commas = self._before, line.count(b"[") + line.count(b"{"), line.count(b",")
        if self._by_line and not before.items and opened <= self._line.depth and opened + commas <= self._line.items:
            self._before = Shape(opened + commas, opened, opened)  # at most: some may be in strings, or closed again
            return
        found = shape_of(without_strings(line.decode("latin-1")))
        shape = Shape(before.items + found.items, before.open + found.depth, before.open + found.open)
        check_shape(shape, self._line)
        self._before = shape
