"""A label that gives way: what has no room ends in “…”. Whoever uses it puts the whole into its tooltip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QApplication, QLabel, QSizePolicy, QWidget

from app.gui.widgets.palette import blend

LEAST_PX = 24


class Elided(QLabel):
    """One line, that wants its width and makes do with less; `dim` for what matters less."""

    def __init__(self, text: str = "", parent: QWidget | None = None, *, dim: bool = False) -> None:
        super().__init__(text, parent)
        self._dim = dim
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def minimumSizeHint(self) -> QSize:
        """Room for the dots."""
        return QSize(LEAST_PX, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the words that have room, in the colours of now."""
        palette = QApplication.palette(self)
        ink, ground = palette.color(QPalette.ColorRole.WindowText), palette.color(QPalette.ColorRole.Window)
        painter = QPainter(self)
        painter.setPen(blend(ink, ground, 0.3) if self._dim else ink)
        words = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(self.rect(), self.alignment() | Qt.AlignmentFlag.AlignVCenter, words)
        painter.end()
