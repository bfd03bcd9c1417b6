"""Writes what a graphics view shows as an image: pixels, twice as fine as on the screen, or a drawing.

Knows nothing of what is in the view.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QImageWriter, QPainter
from PySide6.QtWidgets import QGraphicsView

FINER = 2


def save_picture(view: QGraphicsView, path: Path | str, ground: QColor, title: str) -> None:
    """Writes it: `.svg`, or whatever else Qt knows by its ending. Raises OSError with a reason."""
    path = str(path)
    size = view.viewport().size()
    if path.lower().endswith(".svg"):
        from PySide6.QtSvg import QSvgGenerator

        with open(path, "wb"):
            pass  # the generator would not say that it can't write
        generator = QSvgGenerator()
        generator.setFileName(path)
        generator.setSize(size)
        generator.setResolution(view.logicalDpiX())  # or letters would be smaller than on the screen
        generator.setViewBox(QRectF(QPointF(), size.toSizeF()))
        generator.setTitle(title)
        _draw(view, QPainter(generator), ground)
        return
    image = QImage(size * FINER, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(FINER)
    _draw(view, QPainter(image), ground)
    writer = QImageWriter(path)
    if not writer.write(image):
        raise OSError(writer.errorString())


def _draw(view: QGraphicsView, painter: QPainter, ground: QColor) -> None:
    size = view.viewport().size().toSizeF()
    whole = QRectF(QPointF(), size)
    painter.fillRect(whole, ground)
    view.scene().render(painter, whole, QRectF(view.mapToScene(QPoint(0, 0)), size))
    painter.end()
