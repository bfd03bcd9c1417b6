"""What Qt reports: its messages for the log, and screens, style and versions for diagnostics."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QLibraryInfo, QLocale, QMessageLogContext, QtMsgType, qInstallMessageHandler, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from app.gui.design.look import Look

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


def window_facts(window: QWidget) -> list[tuple[str, str]]:
    """Returns (name, value) pairs in display order. Omits screen names, since these may contain people's names."""
    screens = (
        f"{screen.size().width()} × {screen.size().height()} at {screen.devicePixelRatio():.2g}, "
        f"{screen.refreshRate():.0f} Hz" + (" (this window's)" if screen is window.screen() else "")
        for screen in QGuiApplication.screens()
    )
    return [
        ("Qt", f"{qVersion()} ({'debug' if QLibraryInfo.isDebugBuild() else 'release'})"),
        ("Platform", QGuiApplication.platformName()),
        ("Screens", "; ".join(screens)),
        ("Window", f"{window.width()} × {window.height()}"),
        ("Style", f"{QApplication.style().objectName()}, {'dark' if Look.of(window.palette()).dark else 'light'}"),
        ("Font", f"{window.font().family()}, {window.fontInfo().pointSizeF():g} pt"),
        ("Language", QLocale().name()),
    ]
