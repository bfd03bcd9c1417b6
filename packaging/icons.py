"""Renders the app's icon, `resources/icons/kame.svg`, as PNG files in the sizes that desktops need.

    python packaging/icons.py     write resources/icons/kame-SIZE.png

Requires PySide6, which the app's environment contains.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

FOLDER = Path(__file__).resolve().parent.parent / "resources" / "icons"
SIZES = (16, 24, 32, 48, 64, 128, 256)


def draw(size: int) -> QImage:
    """Renders the icon at `size` x `size` pixels on a transparent background."""
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    QSvgRenderer(str(FOLDER / "kame.svg")).render(painter, QRectF(0, 0, size, size))
    painter.end()
    return image


if __name__ == "__main__":
    for size in SIZES:
        draw(size).save(str(FOLDER / f"kame-{size}.png"))
