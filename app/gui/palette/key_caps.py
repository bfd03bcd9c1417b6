"""Paints keys as caps: one for each key of a combination."""

from __future__ import annotations

import re

from PySide6.QtCore import QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from app.gui.design.tokens import Tokens

SIDES_PX, ENDS_PX, GAP_PX, RADIUS_PX = 6.0, 2.0, 4.0, 4.0


def caps_of(keys: str) -> list[str]:
    """The names of the keys in a combination: “Ctrl+Shift+N” has three, “Ctrl++” has two."""
    return [cap for cap in re.split(r"\+(?=.)", keys) if cap]


def caps_size(keys: str, font: QFont) -> QSizeF:
    """The room that a combination takes."""
    widths = [_width(cap, QFontMetricsF(font)) for cap in caps_of(keys)]
    if not widths:
        return QSizeF(0, 0)
    return QSizeF(sum(widths) + GAP_PX * (len(widths) - 1), QFontMetricsF(font).height() + 2 * ENDS_PX)


def paint_caps(painter: QPainter, keys: str, font: QFont, right: float, middle: float, tokens: Tokens) -> None:
    """Paints a combination that ends at `right`, around the height `middle`."""
    metrics, size = QFontMetricsF(font), caps_size(keys, font)
    painter.setFont(font)
    left = right - size.width()
    for cap in caps_of(keys):
        box = QRectF(left, middle - size.height() / 2, _width(cap, metrics), size.height())
        outlined = tokens.scheme == "contrast"
        painter.setPen(QColor(tokens.line) if outlined else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.sunken))
        painter.drawRoundedRect(box, RADIUS_PX, RADIUS_PX)
        painter.setPen(QColor(tokens.text))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, cap)
        left += box.width() + GAP_PX


def _width(cap: str, metrics: QFontMetricsF) -> float:
    return max(metrics.horizontalAdvance(cap) + 2 * SIDES_PX, metrics.height() + 2 * ENDS_PX)
