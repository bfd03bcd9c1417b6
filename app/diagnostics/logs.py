"""Keeps the program's log: the newest lines in memory and in a file, without secrets.

Threads that log only queue their records; one thread formats, redacts and writes them.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import queue
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from logging.handlers import QueueListener, RotatingFileHandler
from pathlib import Path
from typing import Any, TextIO

import platformdirs

from app.diagnostics.log_writer import FlushMarker, LogEntry, PrivateFile, RecordQueue, Writer
from app.diagnostics.redaction import Redactor, redactor
from app.settings.paths import APP_NAME

KEPT = 2_000
"""The most lines in memory."""
FILE_BYTES, FILES = 1_000_000, 3

_log = logging.getLogger(__name__)


class Log:
    """The newest lines; safe to use on any thread. Its `with` block, or `close`, restores logging."""

    def __init__(self, kept: int = KEPT) -> None:
        self.folder: Path | None = None
        """The folder of the files; None while nothing is written."""
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
        """The number of the newest line; it changes with every line and when the log is cleared."""
        return self._newest

    def entries(self, after: int = 0) -> Sequence[LogEntry]:
        """Returns the lines whose number is above `after`, oldest first."""
        with self._lock:
            if after <= 0:
                return tuple(self._entries)
            found = itertools.takewhile(lambda entry: entry.number > after, reversed(self._entries))
            return tuple(found)[::-1]

    def clear(self) -> None:
        """Deletes the lines in memory; the files stay."""
        with self._lock:
            self._entries.clear()
            self._newest = next(self._numbers)

    def add(self, at: float, level: int, where: str, message: str, details: str = "", thread: str = "") -> LogEntry:
        """Adds a line, and drops the oldest one if there are too many."""
        with self._lock:
            self._newest = number = next(self._numbers)
            entry = LogEntry(number, at, level, where, message, details, thread)
            self._entries.append(entry)
        return entry

    def lose_files(self) -> None:
        """Notes that nothing is written any longer."""
        self.folder = None

    def flush(self, seconds: float = 1.0) -> bool:
        """Blocks until all that was logged before is kept and written; returns False when that takes longer."""
        return self._flush(seconds)

    def close(self) -> None:
        """Writes what is queued, and restores logging; safe to call twice."""
        stop, self._stop = self._stop, lambda: None
        stop()
        self._flush = lambda seconds: True


def log_folder() -> Path:
    """The folder of this user's log files."""
    return platformdirs.user_log_path(APP_NAME, appauthor=False)


def start_logging(
    folder: Path | None = None,
    *,
    level: int = logging.INFO,
    stream: TextIO | None = None,
    kept: int = KEPT,
    hide: Redactor | None = None,
) -> Log:
    """Starts to keep the log, in memory and, with `folder`, in files that only this user can read.

    Warnings and errors also go to `stream`, such as the terminal's. Keys in the environment are redacted, and those
    that `app.diagnostics.redaction.redact` gets. A folder that can't be written is no error: a line says so.
    """
    log, hide = Log(kept), hide or redactor()
    hide.learn(os.environ)
    file: RotatingFileHandler | None = None
    trouble = ""
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = PrivateFile(
                folder / "kame.log",
                maxBytes=FILE_BYTES,
                backupCount=FILES - 1,
                encoding="utf-8",
                errors="backslashreplace",
            )
            log.folder = folder
        except OSError as error:
            trouble = f"The log can't be written to {folder} ({error.strerror or error}); it is kept in memory alone."
    lines: queue.SimpleQueue[Any] = queue.SimpleQueue()
    handler = RecordQueue(lines)
    writer = Writer(log.add, hide, file, stream, log.lose_files)
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
        if file is not None:
            file.close()

    log._flush, log._stop = flush, stop
    if trouble:
        _log.warning("%s", trouble)
    return log


def watch_exceptions(loop: asyncio.AbstractEventLoop | None = None) -> Callable[[], None]:
    """Logs uncaught errors: of any thread, of `loop`, and those that Python can't raise.

    Returns a function that undoes it. Hooks that were set before are still called.
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
        # The object may be half destroyed: its repr could fail, or show what it holds.
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
