"""A section of a page: a heading over a card with rows, which hairlines separate."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.gui.design.fonts import set_size
from app.gui.design.theme import tokens
from app.gui.settings.row import SIDES_PX
from app.gui.widgets.panel import Quiet

HEAD_PX = 8


class _Card(QWidget):
    """Paints the ground of its rows, and a line above each but the first that is shown."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)
        self.rows: list[QWidget] = []

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outlined = t.scheme == "contrast"
        painter.setPen(QPen(QColor(t.line), 1) if outlined else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.surface))
        edge = 0.5 if outlined else 0.0
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(edge, edge, -edge, -edge), t.card_radius, t.card_radius)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(QColor(t.line), 1))
        for row in [row for row in self.rows if row.isVisible()][1:]:
            painter.drawLine(QPointF(SIDES_PX, row.y()), QPointF(self.width() - SIDES_PX, row.y()))
        painter.end()


class Section(QWidget):
    """Holds rows; hidden while none of them is shown."""

    def __init__(self, title: str, page: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._title, self._page = title, page
        self.heading = Quiet(title, self)
        self._card = _Card(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(HEAD_PX)
        column.addWidget(self.heading)
        column.addWidget(self._card)
        self._dress()

    def add(self, row: QWidget, *, first: bool = False) -> None:
        """Adds a row at the end, or as the first one."""
        place = 0 if first else len(self._card.rows)
        row.setParent(self._card)
        self._card.rows.insert(place, row)
        self._card.column.insertWidget(place, row)

    def settle(self, *, with_page: bool) -> bool:
        """Shows itself if a row is to be shown, and says whether; `with_page`: its heading names the page, too."""
        shown = any(not row.isHidden() for row in self._card.rows)
        self.heading.setText(f"{self._page} › {self._title}" if with_page else self._title)
        self.setVisible(shown)
        self._card.update()
        return shown

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._dress()

    def _dress(self) -> None:
        set_size(self.heading, "small", QFont.Weight.DemiBold)
