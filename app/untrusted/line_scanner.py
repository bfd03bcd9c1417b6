"""Enforces limits on a response body as it arrives: total length, line length, and the shape of its JSON.

Only complete lines are passed on: every streaming format (server-sent events, JSON lines) is line-based.
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
    """Checks one response body against limits: `whole` for its length, and `line` for each line and event.

    If the body is a single JSON text, both must be the same object.
    """

    def __init__(self, whole: Limits, line: Limits) -> None:
        self._whole, self._line = whole, line
        self._by_line = whole is not line
        self._count = self._held_bytes = self._event_bytes = 0
        self._before = Shape(0, 0, 0)  # of the preceding lines of the same event or JSON text
        self._held: list[bytes] = []
        self._in_event = False

    @property
    def held_bytes(self) -> int:
        """The length in bytes of the incomplete line held so far."""
        return self._held_bytes

    def push(self, block: bytes) -> Iterator[bytes]:
        """Yields the lines completed by `block`, joined into one piece. Raises Refused if a limit is exceeded."""
        self._count += len(block)
        if self._count > self._whole.bytes:
            raise Refused(f"it is longer than {in_words(self._whole.bytes)}")
        if block and self._held and self._held[-1].endswith(b"\r") and not block.startswith(b"\n"):
            yield from self.flush()
        # A trailing \r is held back: the next block may start with the \n of the same line break.
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
        """Yields the held bytes, which must be a complete line. Raises Refused if a limit is exceeded."""
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
        """Raises Refused if a line is too long or its JSON is nested too deeply or has too many values."""
        if len(line) > self._line.bytes:
            raise Refused(f"a line of it is longer than {in_words(self._line.bytes)}")
        data = line.startswith(b"data:")
        if not self._in_event and (self._by_line or data):
            self._before, self._event_bytes = Shape(0, 0, 0), 0
        self._in_event = bool(line) and (self._in_event or data)  # one event's data may span several lines
        self._event_bytes += len(line)
        if self._by_line and self._event_bytes > self._line.bytes:
            raise Refused(f"an event of it is longer than {in_words(self._line.bytes)}")
        before, opened, commas = self._before, line.count(b"[") + line.count(b"{"), line.count(b",")
        if self._by_line and not before.items and opened <= self._line.depth and opened + commas <= self._line.items:
            self._before = Shape(opened + commas, opened, opened)  # upper bound: may be in strings or closed
            return
        found = shape_of(without_strings(line.decode("latin-1")))
        shape = Shape(before.items + found.items, before.open + found.depth, before.open + found.open)
        check_shape(shape, self._line)
        self._before = shape
