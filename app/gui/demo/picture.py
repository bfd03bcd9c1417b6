"""Writes the demo's figures as an image, with or without a window."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QPoint, QSize
from PySide6.QtGui import QImage, QImageWriter, QRegion
from PySide6.QtWidgets import QApplication, QWidget

from app.demo.base import DemoResult
from app.gui.demo.colours import ink
from app.gui.demo.figures_page import FiguresBody

SIZE = QSize(1200, 720)
SCALE = 2
MARGIN_PX = 40


def save(result: DemoResult, path: Path) -> None:
    """Writes `result` as a PNG, in the theme that is shown. Raises OSError with a reason."""
    body = FiguresBody()
    body.resize(SIZE)
    body.show_result(result)
    body.ensurePolished()
    layout = body.layout()
    assert layout is not None
    layout.activate()
    image = QImage((SIZE + QSize(2, 2) * MARGIN_PX) * SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    image.fill(ink("ground"))
    body.render(image, QPoint(MARGIN_PX, MARGIN_PX), QRegion(), QWidget.RenderFlag.DrawChildren)
    body.deleteLater()
    writer = QImageWriter(str(path))
    if not writer.write(image):
        raise OSError(writer.errorString())


def draw(result: DemoResult, path: Path) -> None:
    """The same in a program without a window; needs no screen."""
    from app.gui.design.theme import apply_theme

    if QApplication.instance() is None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication.instance() or QApplication(["kame-desktop"])
    assert isinstance(app, QApplication)
    apply_theme(app, "light")
    save(result, path)
