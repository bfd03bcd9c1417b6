"""The big talk button, which shows the state in words and colour."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.gui.widgets.palette import STATE_COLOURS, Look, blend


class TalkButton(QAbstractButton):
    """Shows `text` large and `hint` small, on the colour of `word`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.word = "stopped"
        self.hint = ""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_state(self, word: str, text: str, hint: str) -> None:
        """Shows a state: `word` chooses the colour, `hint` stands below `text`."""
        if (self.word, self.text(), self.hint) == (word, text, hint):
            return
        self.word, self.hint = word, hint
        self.setText(text)
        self.setAccessibleDescription(f"{text}. {hint}" if hint else text)
        self.update()

    def colour(self) -> QColor:
        """The colour it is painted in."""
        return STATE_COLOURS[self.word]

    def sizeHint(self) -> QSize:
        """Two lines with a margin."""
        return QSize(280, self.fontMetrics().height() * 4 + 8)

    def minimumSizeHint(self) -> QSize:
        """Never narrower than its words."""
        return QSize(max(180, round(self.fontMetrics().height() * 7.5)), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints a rounded box with the words in it, and the focus around it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = self.colour()
        if self.isDown():
            colour = colour.darker(118)
        elif self.underMouse() and self.isEnabled():
            colour = blend(colour, QColor("black"), 0.08)
        box = QRectF(self.rect()).adjusted(3, 3, -3, -3)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(box, 10, 10)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(Look.of(self.palette()).accent, 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 12, 12)
        painter.setPen(QColor("white"))
        large = QFont(self.font())
        large.setPointSizeF(large.pointSizeF() * 1.45)
        large.setWeight(QFont.Weight.DemiBold)
        painter.setFont(large)
        inner = self.rect().adjusted(6, 6, -6, -6)
        middle = inner.center().y() if self.hint else inner.bottom()
        upper = inner.adjusted(0, 0, 0, middle - inner.bottom() + (4 if self.hint else 0))
        flags = Qt.AlignmentFlag.AlignHCenter
        down = Qt.AlignmentFlag.AlignBottom if self.hint else Qt.AlignmentFlag.AlignVCenter
        painter.drawText(upper, flags | down, self.text())
        if self.hint:
            painter.setFont(self.font())
            lower = inner.adjusted(0, middle - inner.top() + 6, 0, 0)
            words = self.fontMetrics().elidedText(self.hint, Qt.TextElideMode.ElideRight, lower.width())
            painter.drawText(lower, flags | Qt.AlignmentFlag.AlignTop, words)
        painter.end()
