"""The buttons for a turn: copy, hear, slower, read on, ask again, another model, edit; and what follows the pointer."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.conversation.record.transcript import Turn
from app.gui.cards.view import CardView
from app.gui.design.icons import IconButton
from app.gui.design.look import draw_rounded, painter_on
from app.gui.design.theme import tokens
from app.gui.widgets.form import row

BUTTON_SIDE_PX, EDGE_PX = 2, 8


class TurnActions(QWidget):
    """The buttons that appear on a turn's card. A child of the view's viewport; the pane handles the clicks."""

    def __init__(self, view: CardView) -> None:
        super().__init__(view.viewport())
        self._view = view
        self.turn: Turn | None = None
        self.question: Turn | None = None
        """The user's turn that `turn` is, or answers."""
        self.copy = IconButton("copy", self.tr("Copy"), self, size=16)
        self.hear = IconButton("volume-2", self.tr("Hear it again"), self, size=16)
        self.slower = IconButton("turtle", self.tr("Say it more slowly"), self, size=16)
        self.read_on = IconButton("play", self.tr("Read on"), self, size=16)
        self.ask = IconButton("refresh-cw", self.tr("Ask again"), self, size=16)
        self.other = IconButton("repeat-2", self.tr("Ask with another model"), self, size=16)
        self.edit = IconButton("pencil", self.tr("Edit and ask"), self, size=16)
        buttons = (self.copy, self.hear, self.slower, self.read_on, self.ask, self.other, self.edit)
        for button in buttons:
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # keyboard users find the same actions in the context menu
        row(*buttons, within=self, spacing=0, margins=BUTTON_SIDE_PX)
        self.below = False
        self.hide()

    def show_for(
        self, turn: Turn, question: Turn | None, box: QRectF, *, playable: bool, repeatable: bool, below: bool
    ) -> None:
        """Shows the buttons for `turn`, whose card occupies the rectangle `box` in the viewport.

        - `question`: the user's turn to ask again, if that is possible
        - `playable`: whether its sound can be heard again
        - `repeatable`: whether it can be said again
        - `below`: whether they appear below the card rather than at its upper edge
        """
        self.turn, self.question = turn, question
        self.hear.setVisible(playable or repeatable)
        self.slower.setVisible(repeatable)
        self.read_on.setVisible(repeatable and turn.interrupted)
        for button in (self.ask, self.other, self.edit):
            button.setVisible(question is not None)
        self.adjustSize()
        if below:
            place = QPoint(round(max(0.0, box.left())), round(box.bottom()))
        else:
            right = min(box.right(), self._view.viewport().width()) - self.width() - EDGE_PX
            place = QPoint(round(right), round(max(EDGE_PX, box.top() - self.height() / 2)))
        self.below = below
        self.move(place)
        self.show()
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.below:
            return
        shown = tokens()
        with painter_on(self) as painter:
            fill, edge = QColor(shown.raised), QColor(shown.frame)
            draw_rounded(painter, self.rect(), shown.radius, inset=0.5, fill=fill, edge=edge)


class HoverWatch(QObject):
    """Calls `moved` with the pointer's position in a view's viewport, or None when it leaves or the view scrolls."""

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
