"""Draws the demo's result as an image without a window."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.demo.base import DemoResult
from app.gui.demo.descriptions import DemoWords
from app.gui.demo.result_page import PICTURE_PX, DemoPage


def draw(result: DemoResult, path: Path) -> None:
    """Writes the result page as an image; needs no screen. Raises OSError with a reason."""
    if QApplication.instance() is None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication.instance() or QApplication(["kame-desktop"])
    page = DemoPage(DemoWords())
    page.resize(PICTURE_PX, 600)
    page.show_result(result)
    page.ensurePolished()
    app.processEvents()
    page.save(path)
    page.deleteLater()
