"""Writes a picture to a file: as pixels, twice as fine as on the screen, or as an SVG drawing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QImage, QImageWriter, QPainter

FINER = 2


def save_picture(path: Path | str, size: QSize, dpi: int, title: str, paint: Callable[[QPainter], None]) -> None:
    """Writes what `paint` draws within `size`: `.svg`, or another format that Qt knows by its ending.

    `dpi`: the screen's, so that letters get the same size. Raises OSError with a reason.
    """
    path = str(path)
    if path.lower().endswith(".svg"):
        from PySide6.QtSvg import QSvgGenerator

        with open(path, "wb"):
            pass  # the generator reports no errors
        generator = QSvgGenerator()
        generator.setFileName(path)
        generator.setSize(size)
        generator.setResolution(dpi)
        generator.setViewBox(QRectF(0, 0, size.width(), size.height()))
        generator.setTitle(title)
        _paint_on(QPainter(generator), paint)
        return
    image = QImage(size * FINER, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(FINER)
    _paint_on(QPainter(image), paint)
    writer = QImageWriter(path)
    if not writer.write(image):
        raise OSError(writer.errorString())


def _paint_on(painter: QPainter, paint: Callable[[QPainter], None]) -> None:
    paint(painter)
    painter.end()
