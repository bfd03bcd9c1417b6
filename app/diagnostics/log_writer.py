"""Takes log records from any thread, and words, redacts and writes them on one thread.

How lines are kept in memory is in `app.diagnostics.logs`.
"""

from __future__ import annotations

import contextlib
import copy
import logging
import math
import os
import stat
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from logging.handlers import QueueHandler, RotatingFileHandler
from queue import SimpleQueue
from typing import Any, TextIO

from app.diagnostics.redaction import Redactor

WAITING_MOST = 10_000
"""The longest queue of lines; more than these are only counted."""
REFUSED_SECONDS = 60.0
"""How long a full file is still written to after renaming it has failed."""
LONGEST, LONGEST_TRACE = 4_000, 20_000
"""Characters of a message, and of its traceback."""

_UNSEEN = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}
_UNSEEN |= {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of the log, without secrets. `number` counts from 1; `at`: seconds since the epoch; `level`: as in
    `logging`; `where`: the logger's name; `details`: the traceback, if there is one.
    """

    number: int
    at: float
    level: int
    where: str
    message: str
    details: str = ""
    thread: str = ""

    def text(self) -> str:
        """The entry as it is written to the file, with further lines indented."""
        clock = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.at))
        head = f"{clock}.{int(self.at % 1 * 1000):03d} {logging.getLevelName(self.level):8} {self.where}: "
        body = "\n".join(filter(None, (self.message, self.details.rstrip())))
        return head + body.replace("\n", "\n    ")


class FlushMarker:
    """Follows the lines in the queue that `flush` waits for."""

    levelno = logging.CRITICAL

    def __init__(self, reached: threading.Event) -> None:
        self.reached = reached


class RecordQueue(QueueHandler):
    """Queues records without their frames and objects, which hold keys and much memory.

    The message is formatted here, since its arguments may change; nothing is read from disk.
    """

    queue: SimpleQueue[Any]

    def __init__(self, lines: SimpleQueue[Any]) -> None:
        super().__init__(lines)
        self._left_out = 0

    def enqueue(self, record: logging.LogRecord) -> None:
        """Queues a record without waiting, or counts it when the queue is full."""
        if self.queue.qsize() >= WAITING_MOST:
            self._left_out += 1
            return
        record.left_out, self._left_out = self._left_out, 0
        self.queue.put(record)

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        """Returns a copy with the formatted message, and an outline of the traceback."""
        handed = copy.copy(record)
        try:
            handed.msg = record.getMessage()
        except Exception as error:  # a wrong format string is no reason to lose the line
            handed.msg = f"{record.msg} (its values could not be filled in: {type(error).__name__})"
        handed.args = None
        info = record.exc_info
        handed.outline = traceback.TracebackException(*info, lookup_lines=False) if info and info[0] else None
        handed.exc_info = None
        return handed


class Writer(logging.Handler):
    """Formats and redacts records, and passes them on; called by one thread alone."""

    def __init__(
        self,
        keep: Callable[..., LogEntry],
        hide: Redactor,
        file: RotatingFileHandler | None,
        stream: TextIO | None,
        file_lost: Callable[[], None],
    ) -> None:
        super().__init__()
        self._add = keep
        self._file_lost = file_lost
        self._hide = hide
        self._file = file
        self._stream = stream

    def handle(self, record: Any) -> bool:
        """Handles one record; no error may end the thread."""
        if isinstance(record, FlushMarker):
            record.reached.set()
            return True
        try:
            self._write_record(record)
        except Exception as error:
            self._keep(time.time(), logging.WARNING, __name__, f"a line was lost ({type(error).__name__})")
        return True

    def _write_record(self, record: Any) -> None:
        if record.left_out:
            self._keep(record.created, logging.WARNING, __name__, f"{record.left_out} lines came too fast to be kept")
        outline = record.outline
        details = "".join(outline.format()) if outline is not None else (record.exc_text or "")
        if record.stack_info:
            details += f"\n{record.stack_info}"
        self._keep(
            record.created,
            record.levelno,
            self._clean(record.name, 200),
            self._clean(str(record.msg), LONGEST),
            self._clean(details, LONGEST_TRACE, tail=True),
            record.threadName or "",
        )

    def _clean(self, text: str, longest: int, *, tail: bool = False) -> str:
        # Redacted at a greater length than is kept, so that no secret is cut in two before.
        spare = longest + 4_000
        text = self._hide(text[-spare:] if tail else text[:spare]).replace("\r\n", "\n").translate(_UNSEEN)
        if len(text) <= longest:
            return text
        return f"… {text[-longest:]}" if tail else f"{text[:longest]} …"

    def _keep(self, at: float, level: int, where: str, message: str, details: str = "", thread: str = "") -> None:
        entry = self._add(at, level, where, message, details, thread)
        if self._file is not None:
            try:
                _write(self._file, entry.text())
            except OSError as error:
                self._file = None
                self._file_lost()
                why = f"The log can't be written any longer ({error.strerror or error}); it is kept in memory alone."
                self._add(at, logging.WARNING, __name__, why)
        if self._stream is not None and level >= logging.WARNING:
            with contextlib.suppress(OSError, ValueError):  # a terminal that has gone
                print(entry.text(), file=self._stream, flush=True)


class PrivateFile(RotatingFileHandler):
    """A rotating log file that only its user can read."""

    _refused_at = -math.inf

    def _open(self) -> Any:
        def opener(path: str, flags: int) -> int:
            return os.open(path, flags, 0o600)

        path, mode = self.baseFilename, self.mode
        # Closed by the base class.
        file = open(path, mode, encoding=self.encoding, opener=opener, errors=self.errors)  # noqa: SIM115
        if os.name == "posix" and stat.S_IMODE(os.stat(file.fileno()).st_mode) & 0o077:
            os.fchmod(file.fileno(), 0o600)
        return file

    def doRollover(self) -> None:
        """Starts a new file, or keeps this one where another process has it open, which Windows doesn't rename."""
        if self.stream is not None:
            self.stream.close()
            self.stream = None
        full = f"{self.baseFilename}.full"
        try:
            os.replace(self.baseFilename, full)  # before the older ones are moved, and the oldest deleted
            super().doRollover()
            os.replace(full, f"{self.baseFilename}.1")
        except PermissionError:
            self._refused_at = time.monotonic()
            if self.stream is None:
                self.stream = self._open()

    def shouldRollover(self, record: logging.LogRecord) -> bool:
        """Whether the file is full, and renaming it has not failed a short time ago."""
        return time.monotonic() - self._refused_at > REFUSED_SECONDS and bool(super().shouldRollover(record))

    def handleError(self, record: logging.LogRecord) -> None:
        """Raises the error again, for `Writer`."""
        raise


def _write(file: RotatingFileHandler, text: str) -> None:
    file.emit(logging.makeLogRecord({"msg": "%s", "args": (text,)}))
