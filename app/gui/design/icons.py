"""The window's icons, which are Lucide drawings tinted in theme colours."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.gui.design.look import painter_on
from app.platform.installation import resource

RATIOS = (1, 2, 3)
"""The device pixel ratios for which icons are rendered."""


@lru_cache(maxsize=128)
def drawing(name: str) -> str:
    """Returns the SVG source of a drawing. Its strokes use the colour `currentColor`."""
    return resource("icons", "lucide", f"{name}.svg").read_text("utf-8")


def pixmap(name: str, colour: QColor, size: int, ratio: float = 1.0) -> QPixmap:
    """Renders an icon, `size` logical pixels wide and high, for a screen with the device pixel ratio `ratio`."""
    made = QPixmap(QSize(round(size * ratio), round(size * ratio)))
    made.setDevicePixelRatio(ratio)
    made.fill(Qt.GlobalColor.transparent)
    with painter_on(made) as painter:
        paint_icon(painter, name, colour, QRectF(0, 0, size, size))
    return made


def paint_icon(painter: QPainter, name: str, colour: QColor, place: QRectF) -> None:
    """Paints an icon into the rectangle `place`."""
    svg = drawing(name).replace("currentColor", colour.name())
    QSvgRenderer(QByteArray(svg.encode())).render(painter, place)


@lru_cache(maxsize=256)
def _icon(name: str, colour: str, disabled: str, size: int) -> QIcon:
    icon = QIcon()
    for ratio in RATIOS:
        icon.addPixmap(pixmap(name, QColor(colour), size, ratio))
        icon.addPixmap(pixmap(name, QColor(disabled), size, ratio), QIcon.Mode.Disabled)
    return icon


def icon(name: str, colour: QColor, disabled: QColor | None = None, size: int = 18) -> QIcon:
    """Returns an icon in this colour. `disabled` is its colour on a disabled control, by default the same."""
    return _icon(name, colour.name(), (disabled or colour).name(), size)
