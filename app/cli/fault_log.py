"""The log of a command: unexpected errors and warnings are logged, and become messages."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from app.cli.output import OutputLost, Terminal
from app.diagnostics.logs import Log, log_folder, start_logging, watch_exceptions
from app.untrusted.text import one_line

LONGEST = 500
"""The maximum length of an exception's message, in characters."""

_log = logging.getLogger(__name__)


class _Warnings(logging.Handler):
    """Prints the warnings that a command logs. The first one starts the log, since most commands log none."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__(logging.WARNING)
        self.log: Log | None = None
        self._starting = False
        self._terminal = terminal

    def emit(self, record: logging.LogRecord) -> None:
        if self.log is None and not self._starting:
            self._starting = True  # starting the log may itself emit a warning, for example that it can't be written
            self.log = start_logging(log_folder())  # its handler runs after this one, so it also logs this record
        error = record.exc_info[1] if record.exc_info else None
        words = one_line(record.getMessage(), LONGEST)
        with suppress(OutputLost):
            self._terminal.note(words if error is None else f"{words} ({_words(error)})")


@contextmanager
def faults_logged(terminal: Terminal) -> Iterator[None]:
    """Within the block, logs warnings and uncaught exceptions of all threads, and prints each as a line."""
    warnings = _Warnings(terminal)
    root = logging.getLogger()
    root.addHandler(warnings)
    undo = watch_exceptions()
    try:
        yield
    finally:
        undo()
        root.removeHandler(warnings)
        if warnings.log is not None:
            warnings.log.close()


def logged(error: Exception) -> str:
    """Logs an unexpected error; returns a user-facing message about it."""
    with start_logging(log_folder()) as log:
        _log.critical("the command failed", exc_info=error)
        log.flush()
        place = f"the log has more: {log.folder / 'kame.log'}" if log.folder else "the log can't be written"
    return f"The app itself failed ({_words(error)}). This is a fault of the app; {place}."


def _words(error: BaseException) -> str:
    said = one_line(str(error), LONGEST)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
