"""The app's icon with a dot in its corner that tells what the conversation is doing."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.gui.state.talk_state import Word
from app.platform.installation import resource

Dot = Literal["idle", "listening", "thinking", "speaking", "muted"]

DOTS: dict[Word, Dot] = {
    "loading": "idle",
    "ready": "idle",
    "stopped": "idle",
    "listening": "listening",
    "hearing": "listening",
    "thinking": "thinking",
    "speaking": "speaking",
    "muted": "muted",
}
COLOURS: dict[Dot, str] = {
    "listening": "#35c46a",
    "thinking": "#f0a020",
    "speaking": "#9b6cf0",
    "muted": "#e5383b",
}
"""Brighter than in the window: a tray shows them at seven pixels, on the icon's teal."""

SIZES_PX = (16, 22, 24, 32, 48, 64)
SHARE, RING = 0.44, 0.06
"""The dot's diameter, and the width of the ring around it, of the icon's side."""


@lru_cache(maxsize=len(DOTS))
def tray_picture(dot: Dot) -> QIcon:
    """The icon in all sizes that trays use. An idle one has no dot; “muted” has a bar, for those who see no red."""
    icon = QIcon()
    for side in SIZES_PX:
        icon.addPixmap(_pixmap(dot, side))
    return icon


def _pixmap(dot: Dot, side: int) -> QPixmap:
    made = QPixmap(side, side)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    QSvgRenderer(str(resource("icons", "kame.svg"))).render(painter, QRectF(0, 0, side, side))
    if dot != "idle":
        ring = max(1.0, RING * side)
        round_ = QRectF(0, 0, SHARE * side, SHARE * side)
        round_.moveBottomRight(QPointF(side - ring / 2, side - ring / 2))
        painter.setPen(QPen(QColor("white"), ring))
        painter.setBrush(QColor(COLOURS[dot]))
        painter.drawEllipse(round_)
        if dot == "muted":
            bar = round_.adjusted(round_.width() * 0.25, 0, -round_.width() * 0.25, 0)
            painter.drawLine(QPointF(bar.left(), bar.center().y()), QPointF(bar.right(), bar.center().y()))
    painter.end()
    return made
