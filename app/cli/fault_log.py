"""Errors of commands: those that a user can fix become sentences, all others go to the log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from app.cli.output import OutputLost, Terminal
from app.diagnostics.logs import Log, log_folder, start_logging, watch_exceptions
from app.session.errors import UserError
from app.untrusted.text import one_line


@contextmanager
def faults_as_sentences() -> Iterator[None]:
    """Within it, the errors that `app.main.USER_ERRORS` names become UserError."""
    from app.main import USER_ERRORS  # only now: a command that is not run imports none of the app's parts

    try:
        yield
    except USER_ERRORS as error:
        raise UserError(str(error)) from error


LONGEST = 500
"""Characters of an error's own words."""

_log = logging.getLogger(__name__)


class _Warnings(logging.Handler):
    """Prints the warnings of a command's parts. The log is started with the first: most commands have none."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__(logging.WARNING)
        self.log: Log | None = None
        self._starting = False
        self._terminal = terminal

    def emit(self, record: logging.LogRecord) -> None:
        if self.log is None and not self._starting:
            self._starting = True  # the log may itself have something to say, such as that it can't be written
            self.log = start_logging(log_folder())  # its handler comes behind this one, and gets the record too
        error = record.exc_info[1] if record.exc_info else None
        words = one_line(record.getMessage(), LONGEST)
        with suppress(OutputLost):
            self._terminal.note(words if error is None else f"{words} ({_words(error)})")


@contextmanager
def faults_logged(terminal: Terminal) -> Iterator[None]:
    """Within it, warnings and uncaught errors of all threads go to the log, and as a line to the terminal."""
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
    """Logs an error that nobody foresaw; returns a sentence about it."""
    with start_logging(log_folder()) as log:
        _log.critical("the command failed", exc_info=error)
        log.flush()
        place = f"the log has more: {log.folder / 'kame.log'}" if log.folder else "the log can't be written"
    return f"The app itself failed ({_words(error)}). This is a fault of the app; {place}."


def _words(error: BaseException) -> str:
    said = one_line(str(error), LONGEST)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
