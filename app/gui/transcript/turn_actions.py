"""The buttons over the turn that is under the mouse: copy, hear, ask again, with another model, edit."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.conversation.transcript import Turn
from app.gui.cards.view import CardView
from app.gui.design.icon_button import IconButton
from app.gui.design.theme import tokens

SIDE_PX, EDGE_PX = 2, 8


class TurnActions(QWidget):
    """A child of the view's viewport. The pane tells it which turn is meant; its buttons tell the pane what to do."""

    def __init__(self, view: CardView) -> None:
        super().__init__(view.viewport())
        self._view = view
        self.turn: Turn | None = None
        self.copy = IconButton("copy", self.tr("Copy"), self, size=16)
        self.hear = IconButton("volume-2", self.tr("Hear it again"), self, size=16)
        self.ask = IconButton("refresh-cw", self.tr("Ask again"), self, size=16)
        self.other = IconButton("repeat-2", self.tr("Ask with another model"), self, size=16)
        self.edit = IconButton("pencil", self.tr("Edit and ask"), self, size=16)
        row = QHBoxLayout(self)
        row.setContentsMargins(SIDE_PX, SIDE_PX, SIDE_PX, SIDE_PX)
        row.setSpacing(0)
        for button in (self.copy, self.hear, self.ask, self.other, self.edit):
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the context menu has all of it for the keyboard
            row.addWidget(button)
        self.hide()

    def show_for(self, turn: Turn, box: QRectF, *, playable: bool, askable: bool) -> None:
        """Shows the buttons for a turn, whose card is `box` in the viewport."""
        self.turn = turn
        self.copy.setEnabled(bool(turn.text))
        self.hear.setVisible(playable)
        for button in (self.ask, self.other, self.edit):
            button.setVisible(askable)
        self.adjustSize()
        right = min(box.right(), self._view.viewport().width()) - self.width() - EDGE_PX
        top = max(EDGE_PX, box.top() - self.height() / 2)
        self.move(QPoint(round(right), round(top)))
        self.show()
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(QColor(shown.raised))
        painter.setPen(QPen(QColor(shown.outline if shown.scheme == "contrast" else shown.line), 1))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), shown.radius, shown.radius)
        painter.end()


class HoverWatch(QObject):
    """Calls `moved` with the place of the mouse over a view's viewport, or None when it has left."""

    def __init__(self, view: CardView, moved: Callable[[QPoint | None], None]) -> None:
        super().__init__(view)
        self._moved = moved
        view.viewport().setMouseTracking(True)
        view.viewport().installEventFilter(self)
        view.verticalScrollBar().valueChanged.connect(lambda _: moved(None))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove:
            if event.buttons() == Qt.MouseButton.NoButton:
                self._moved(event.position().toPoint())
        elif event.type() == QEvent.Type.Leave:
            self._moved(None)
        return False
