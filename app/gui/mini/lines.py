"""A label that shows the end of a text: as many lines as fit, and “…” in place of what came before them."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui.design.plain import PlainLabel, elided
from app.gui.design.theme import tokens

ELLIPSIS = "…"


class LastLines(PlainLabel):
    """Plain text; `dim` is for less important words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.dim = False
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)

    def show_words(self, text: str, *, dim: bool) -> None:
        """Shows the end of `text`."""
        words = " ".join(text.split())
        if (words, dim) != (self.text(), self.dim):
            self.dim = dim
            self.setText(words)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.fontMetrics().lineSpacing())

    def lines(self) -> list[str]:
        """The lines that are painted, from the top."""
        text, wide = self.text(), max(1, self.width())
        layout = QTextLayout(text, self.font())
        layout.setTextOption(QTextOption(Qt.AlignmentFlag.AlignLeft))
        found: list[str] = []
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(wide)
            found.append(text[line.textStart() : line.textStart() + line.textLength()].strip())
        layout.endLayout()
        shown = found[-max(1, self.height() // self.fontMetrics().lineSpacing()) :]
        if len(shown) < len(found):
            before = f"{ELLIPSIS} {shown[0]}"
            shown[0] = elided(self.fontMetrics(), before, Qt.TextElideMode.ElideLeft, wide)
        return shown

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QColor(tokens().dim if self.dim else tokens().text))
        high = self.fontMetrics().lineSpacing()
        lines = self.lines()
        top = (self.height() - high * len(lines)) / 2
        for place, line in enumerate(lines):
            room = QRectF(0, top + place * high, self.width(), high)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, line)
        painter.end()
