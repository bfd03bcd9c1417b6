"""Forwards Qt's own messages to the log."""

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
    """Context manager that forwards Qt's messages, from all threads, to the loggers `qt` and `qt.CATEGORY`.

    `flush` is called after a fatal message, since Qt then terminates the process.
    """

    def log(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        category = (getattr(context, "category", None) or "default").removeprefix("qt.")
        name = "qt" if category in ("default", "qt") else f"qt.{category}"
        level = _LEVELS.get(kind, logging.WARNING)
        logging.getLogger(name).log(level, "%s", text)
        if level == logging.CRITICAL:
            flush()

    before = qInstallMessageHandler(log)
    try:
        yield
    finally:
        qInstallMessageHandler(before)
