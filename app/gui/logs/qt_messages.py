"""Has what Qt says of its own doings noted down with all else in the log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


@contextmanager
def qt_logged(flush: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Inside its `with` Qt's messages are lines of the loggers `qt` and `qt.CATEGORY`, from whichever thread.

    `flush` is called behind a fatal one, since Qt ends the process then.
    """

    def note(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        category = (getattr(context, "category", None) or "default").removeprefix("qt.")
        name = "qt" if category in ("default", "qt") else f"qt.{category}"
        level = _LEVELS.get(kind, logging.WARNING)
        logging.getLogger(name).log(level, "%s", text)
        if level == logging.CRITICAL:
            flush()

    before = qInstallMessageHandler(note)
    try:
        yield
    finally:
        qInstallMessageHandler(before)
