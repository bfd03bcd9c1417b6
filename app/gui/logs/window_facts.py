"""Collects the diagnostics that only the GUI can provide: screens, scale, style, Qt version."""

from __future__ import annotations

from PySide6.QtCore import QLibraryInfo, QLocale, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from app.gui.design.look import Look


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
