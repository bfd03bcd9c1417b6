"""A flat button that looks like a link, with a ring when it has the focus."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QWidget

from app.gui.design.look import Look


class LinkButton(QPushButton):
    """Underlines its text under the mouse."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFlat(True)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus():
            painter.setPen(QPen(Look.of(self.palette()).accent, 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
        if self.underMouse() and self.isEnabled():
            words = self.fontMetrics().boundingRect(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())
            painter.setPen(self.palette().buttonText().color())
            painter.drawLine(words.bottomLeft(), words.bottomRight())
        painter.end()
