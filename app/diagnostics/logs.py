"""The app's log: the newest lines in memory and in a file, with secrets redacted.

Logging threads only queue records; a single thread formats, redacts and writes them.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import itertools
import logging
import math
import os
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TextIO

import platformdirs

from app.diagnostics.redaction import Redactor, redactor
from app.platform.files import make_private, private_file, private_folder
from app.settings.paths import APP_NAME

WAITING_MOST = 10_000
"""The maximum queue length; further records are dropped and counted."""
REFUSED_SECONDS = 60.0
"""How long (s) to keep writing to a full file before a failed rollover is retried."""
LONGEST, LONGEST_TRACE = 4_000, 20_000
"""The maximum length of a message and of its traceback, in characters."""

_UNSEEN = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}
_UNSEEN |= {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One log entry, with secrets redacted.

    - `number`: sequence number, from 1
    - `at`: seconds since the epoch
    - `level`: as in `logging`
    - `where`: the logger's name
    - `details`: the traceback, if any
    """

    number: int
    at: float
    level: int
    where: str
    message: str
    details: str = ""
    thread: str = ""

    def text(self) -> str:
        """Returns the entry as formatted in the log file, with continuation lines indented."""
        clock = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.at))
        head = f"{clock}.{int(self.at % 1 * 1000):03d} {logging.getLevelName(self.level):8} {self.where}: "
        body = "\n".join(filter(None, (self.message, self.details.rstrip())))
        return head + body.replace("\n", "\n    ")


class FlushMarker:
    """A queue item that signals `flush` once all earlier records have been handled."""

    levelno = logging.CRITICAL

    def __init__(self, reached: threading.Event) -> None:
        self.reached = reached


class RecordQueue(QueueHandler):
    """Queues records without references to frames and objects, which may hold keys and a lot of memory.

    Messages are formatted on the calling thread, since their arguments may change later; nothing is read from disk.
    """

    queue: SimpleQueue[Any]

    def __init__(self, lines: SimpleQueue[Any]) -> None:
        super().__init__(lines)
        self._left_out = 0

    def enqueue(self, record: logging.LogRecord) -> None:
        """Queues a record without blocking; if the queue is full, drops the record and counts it."""
        if self.queue.qsize() >= WAITING_MOST:
            self._left_out += 1
            return
        record.left_out, self._left_out = self._left_out, 0
        self.queue.put(record)

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        """Returns a copy with the message formatted and the traceback reduced to a `TracebackException`."""
        handed = copy.copy(record)
        try:
            handed.msg = record.getMessage()
        except Exception as error:  # an invalid format string must not lose the record
            handed.msg = f"{record.msg} (its values could not be filled in: {type(error).__name__})"
        handed.args = None
        info = record.exc_info
        handed.outline = traceback.TracebackException(*info, lookup_lines=False) if info and info[0] else None
        handed.exc_info = None
        return handed


class Writer(logging.Handler):
    """Formats and redacts records, and passes them to the log, file and stream. Must be called from one thread only.

    `reopen`: opens the file again once it can't be written, such as when no file could be opened for a while. It raises
    OSError.
    """

    def __init__(
        self,
        log: Log,
        hide: Redactor,
        file: RotatingFileHandler | None,
        stream: TextIO | None,
        reopen: Callable[[], RotatingFileHandler] | None = None,
    ) -> None:
        super().__init__()
        self._reopen = reopen
        self._try_at = time.monotonic() + REOPEN_SECONDS
        self._log = log
        self._hide = hide
        self._file = file
        self._stream = stream

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()
        super().close()

    def handle(self, record: Any) -> bool:
        """Handles a record. Errors are logged rather than raised, so that the thread keeps running."""
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
        # Redacts more text than is kept, since truncation could split a secret so that it is no longer recognised.
        spare = longest + 4_000
        text = self._hide(text[-spare:] if tail else text[:spare]).replace("\r\n", "\n").translate(_UNSEEN)
        if len(text) <= longest:
            return text
        return f"… {text[-longest:]}" if tail else f"{text[:longest]} …"

    def _keep(self, at: float, level: int, where: str, message: str, details: str = "", thread: str = "") -> None:
        entry = self._log.add(at, level, where, message, details, thread)
        if self._file is None and self._reopen is not None and time.monotonic() >= self._try_at:
            self._try_at = time.monotonic() + REOPEN_SECONDS
            with contextlib.suppress(OSError):
                self._file = self._reopen()
        if self._file is not None:
            try:
                _write(self._file, entry.text())
            except OSError as error:
                with contextlib.suppress(OSError):
                    self._file.close()
                self._file = None
                self._log.folder = None
                self._try_at = time.monotonic() + REOPEN_SECONDS
                why = f"The log can't be written any longer ({error.strerror or error}); it is kept in memory alone."
                self._log.add(at, logging.WARNING, __name__, why)
        if self._stream is not None and level >= logging.WARNING:
            with contextlib.suppress(OSError, ValueError):  # the terminal was closed
                print(entry.text(), file=self._stream, flush=True)


REOPEN_SECONDS = 30.0
"""How often a file that can't be written is tried again."""


class PrivateFile(RotatingFileHandler):
    """A rotating log file that only its user can read."""

    _refused_at = -math.inf

    def _open(self) -> Any:
        file = private_file(self.baseFilename, self.mode, encoding=self.encoding, errors=self.errors)
        make_private(self.baseFilename)  # it may have been there before, in a folder that isn't the app's
        return file

    def doRollover(self) -> None:
        """Starts a new file, or keeps the current one if Windows can't rename it because it is open elsewhere."""
        if self.stream is not None:
            self.stream.close()
            self.stream = None
        full = f"{self.baseFilename}.full"
        try:
            os.replace(self.baseFilename, full)  # first, so that a failure leaves the older files in place
            super().doRollover()
            os.replace(full, f"{self.baseFilename}.1")
        except PermissionError:
            self._refused_at = time.monotonic()
            if self.stream is None:
                self.stream = self._open()

    def shouldRollover(self, record: logging.LogRecord) -> bool:
        """Returns whether the file is full, unless renaming it failed within the last `REFUSED_SECONDS`."""
        return time.monotonic() - self._refused_at > REFUSED_SECONDS and bool(super().shouldRollover(record))

    def handleError(self, record: logging.LogRecord) -> None:
        """Re-raises the current exception for `Writer` to handle."""
        raise


def _write(file: RotatingFileHandler, text: str) -> None:
    file.emit(logging.makeLogRecord({"msg": "%s", "args": (text,)}))


KEPT = 2_000
"""The maximum number of lines in memory."""
FILE_BYTES, FILES = 1_000_000, 3

_log = logging.getLogger(__name__)


class Log:
    """The newest log entries. Thread-safe. `close`, or leaving a `with` block, restores the logging configuration."""

    def __init__(self, kept: int = KEPT) -> None:
        self.folder: Path | None = None
        """The folder of the log files; None if no files are written."""
        self._lock = threading.Lock()
        self._entries: deque[LogEntry] = deque(maxlen=kept)
        self._numbers = itertools.count(1)
        self._newest = 0
        self._stop: Callable[[], None] = lambda: None
        self._flush: Callable[[float], bool] = lambda seconds: True

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def newest(self) -> int:
        """The number of the newest entry; increases with every entry and whenever the log is cleared."""
        return self._newest

    def entries(self, after: int = 0) -> Sequence[LogEntry]:
        """Returns the entries numbered above `after`, oldest first."""
        with self._lock:
            if after <= 0:
                return tuple(self._entries)
            found = itertools.takewhile(lambda entry: entry.number > after, reversed(self._entries))
            return tuple(found)[::-1]

    def clear(self) -> None:
        """Deletes the entries in memory; the files are kept."""
        with self._lock:
            self._entries.clear()
            self._newest = next(self._numbers)

    def add(self, at: float, level: int, where: str, message: str, details: str = "", thread: str = "") -> LogEntry:
        """Adds and returns an entry; if the log is full, drops the oldest."""
        with self._lock:
            self._newest = number = next(self._numbers)
            entry = LogEntry(number, at, level, where, message, details, thread)
            self._entries.append(entry)
        return entry

    def flush(self, seconds: float = 1.0) -> bool:
        """Blocks until everything logged so far has been stored and written; returns False on timeout."""
        return self._flush(seconds)

    def close(self) -> None:
        """Writes all queued records and restores the logging configuration. Idempotent."""
        stop, self._stop = self._stop, lambda: None
        stop()
        self._flush = lambda seconds: True


def log_folder() -> Path:
    """Returns the path of the user's log folder."""
    return platformdirs.user_log_path(APP_NAME, appauthor=False)


def start_logging(
    folder: Path | None = None,
    *,
    level: int = logging.INFO,
    stream: TextIO | None = None,
    kept: int = KEPT,
    hide: Redactor | None = None,
) -> Log:
    """Starts logging to memory and, if `folder` is given, to files that only the current user can read.

    Warnings and errors are also printed to `stream`, such as stderr. Secrets in environment variables are redacted, as
    are those passed to `app.diagnostics.redaction.redact`. If the folder is not writable, logs a warning rather than
    raising an exception. `kept`: the maximum number of entries in memory.
    """
    log, hide = Log(kept), hide or redactor()
    hide.learn(os.environ)
    file: RotatingFileHandler | None = None
    trouble = ""

    def open_file() -> RotatingFileHandler:
        assert folder is not None
        private_folder(folder)
        opened = PrivateFile(
            folder / "kame.log",
            maxBytes=FILE_BYTES,
            backupCount=FILES - 1,
            encoding="utf-8",
            errors="backslashreplace",
        )
        log.folder = folder
        return opened

    if folder is not None:
        try:
            file = open_file()
        except OSError as error:
            trouble = f"The log can't be written to {folder} ({error.strerror or error}); it is kept in memory alone."
    lines: SimpleQueue[Any] = SimpleQueue()
    handler = RecordQueue(lines)
    writer = Writer(log, hide, file, stream, open_file if folder is not None else None)
    listener = QueueListener(lines, writer)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(min(level, before) if before else level)
    listener.start()

    def flush(seconds: float) -> bool:
        reached = threading.Event()
        lines.put(FlushMarker(reached))
        return reached.wait(seconds)

    def stop() -> None:
        root.removeHandler(handler)
        root.setLevel(before)
        listener.stop()
        writer.close()

    log._flush, log._stop = flush, stop
    if trouble:
        _log.warning("%s", trouble)
    return log


def watch_exceptions(loop: asyncio.AbstractEventLoop | None = None) -> Callable[[], None]:
    """Logs uncaught exceptions from all threads and from `loop`, and unraisable exceptions.

    Returns a function that restores the previous hooks. Custom hooks already installed are still called.
    """
    before = sys.excepthook, threading.excepthook, sys.unraisablehook

    def uncaught(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if issubclass(kind, KeyboardInterrupt):
            before[0](kind, error, trace)
            return
        _log.critical("uncaught error", exc_info=(kind, error, trace))
        if before[0] is not sys.__excepthook__:
            before[0](kind, error, trace)

    def uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_type is not SystemExit:
            name = args.thread.name if args.thread is not None else "?"
            _log.critical("uncaught error in the thread “%s”", name, exc_info=_info(args))
        if before[1] is not threading.__excepthook__:
            before[1](args)

    def unraisable(args: Any) -> None:
        # The object may be partly destroyed: its repr could fail or expose its contents.
        what = getattr(args.object, "__qualname__", None) or type(args.object).__name__
        _log.error("%s %s", args.err_msg or "an error that could not be raised, in", what, exc_info=_info(args))
        if before[2] is not sys.__unraisablehook__:
            before[2](args)

    def in_loop(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        task = context.get("task") or context.get("future")
        name = task.get_name() if isinstance(task, asyncio.Task) else ""
        error = context.get("exception")
        said = context.get("message") or "uncaught error in the event loop"
        info = (type(error), error, error.__traceback__) if isinstance(error, BaseException) else None
        _log.error("%s%s", said, f" (“{name}”)" if name else "", exc_info=info)

    sys.excepthook, threading.excepthook, sys.unraisablehook = uncaught, uncaught_in_thread, unraisable
    if loop is not None:
        loop.set_exception_handler(in_loop)

    def undo() -> None:
        sys.excepthook, threading.excepthook, sys.unraisablehook = before
        if loop is not None and not loop.is_closed():
            loop.set_exception_handler(None)

    return undo


def _info(args: Any) -> Any:
    return (args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback)
