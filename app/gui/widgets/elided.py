"""A label that is truncated with "…" if it doesn't fit. The owner is responsible for setting a tooltip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget

from app.gui.design.look import blend
from app.gui.design.plain import PlainLabel, elided

LEAST_PX = 24


class ElidedLabel(PlainLabel):
    """One line of plain text, in a dimmed colour if `dim`."""

    def __init__(self, text: str = "", parent: QWidget | None = None, *, dim: bool = False) -> None:
        super().__init__(text, parent)
        self._dim = dim
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST_PX, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = QApplication.palette(self)
        ink, ground = palette.color(QPalette.ColorRole.WindowText), palette.color(QPalette.ColorRole.Window)
        with QPainter(self) as painter:
            painter.setPen(blend(ink, ground, 0.3) if self._dim else ink)
            words = elided(self.fontMetrics(), self.text(), Qt.TextElideMode.ElideRight, self.width())
            painter.drawText(self.rect(), self.alignment() | Qt.AlignmentFlag.AlignVCenter, words)
