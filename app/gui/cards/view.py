"""A scrolling column of text cards. Text can be selected across cards, and each card can be updated individually.

All text is in a single document. Boxes, chips and carets are painted around the text and aren't part of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QWidget

from app.gui.cards.card import GAP, PAD, Card, Paragraph, chip_fills, laid_out_once, qt_length
from app.gui.cards.copying import CodeButtons, Key, selected_text
from app.gui.cards.document import CardDocument
from app.gui.cards.links import INNER, LinkView
from app.gui.cards.paint import paint_body, paint_box, paint_caret, paint_chips, paint_divider, paint_empty, paint_quote
from app.gui.design.look import Look, painter_on
from app.gui.design.plain import show_tip


class CardView(LinkView):
    """Displays a column of cards, which are indexed from the top.

    `newest_first`: whether the newest card is at the top instead of the bottom. `scale`: scale factor for the font size
    of body text.
    """

    def __init__(self, *, newest_first: bool = False, scale: float = 1.0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.content = CardDocument(self.document(), scale)
        self.empty_text = ""
        """Placeholder text displayed while there are no cards."""
        self.inner_link_tips: dict[str, str] = {}
        """The tooltips of links to parts of the window, by address."""
        self._newest_first = newest_first
        self._buttons = CodeButtons(self)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setCursorWidth(0)  # hidden while there is no text, and on a divider
        self.cursorPositionChanged.connect(self._show_caret)
        self._restyle()

    @property
    def cards(self) -> list[Card]:
        """The cards, from top to bottom."""
        return self.content.cards

    # -- changing cards

    def insert_card(self, place: int, card: Card) -> None:
        """Inserts a card at index `place`."""
        self.content.insert(place, card)
        self._show_caret()

    def set_card(self, place: int, card: Card) -> None:
        """Replaces the card at `place`. Cheap if the card is unchanged."""
        old = self.cards[place]
        self.content.write(place, card)
        new = self.cards[place]
        # Qt only repaints the area of the changed text, but decorations extend beyond it.
        if (old.style, old.quote, old.caret, old.written) != (new.style, new.quote, new.caret, new.written):
            self.viewport().update()

    def remove_card(self, place: int) -> None:
        """Removes the card at `place`."""
        self.content.remove(place)
        if not self.cards:
            self.setCursorWidth(0)

    def clear_cards(self) -> None:
        """Removes all cards."""
        self.content.clear()
        self.content.set_margins(self.viewport().width())
        self.setCursorWidth(0)

    def _show_caret(self) -> None:
        place = self.card_at_cursor()
        seen = 0 <= place < len(self.cards) and self.cards[place].style != "divider"
        self.setCursorWidth(1 if seen else 0)

    def card_at(self, point: QPoint) -> int:
        """Returns the index of the card at a point in the viewport, or -1 if there is none."""
        return next((place for place, box in self._in_view() if box.contains(QPointF(point))), -1)

    def card_at_cursor(self) -> int:
        """Returns the index of the card that contains the text cursor."""
        return self.content.place_of(self.textCursor().block())

    # -- following the newest card

    def at_newest(self) -> bool:
        """Returns whether the view is scrolled to the newest card, in which case it should follow new ones."""
        bar = self.verticalScrollBar()
        return bar.value() <= 4 if self._newest_first else bar.value() >= bar.maximum() - 24 - self.content.foot

    def show_newest(self) -> None:
        """Scrolls to the newest card."""
        bar = self.verticalScrollBar()
        bar.setValue(0 if self._newest_first else bar.maximum())

    def show_card(self, place: int) -> None:
        """Scrolls a card to the top and moves the text cursor to it."""
        self.put_cursor(place)
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + round(self.box_of(place).top() - GAP))

    def put_cursor(self, place: int) -> None:
        """Moves the text cursor to a card, if there is one at `place`."""
        if 0 <= place < len(self.cards):
            cursor = self.textCursor()
            cursor.setPosition(self.content.block(place, 0).position())
            self.setTextCursor(cursor)

    def keep_view(self, at_newest: bool, height_before: float) -> None:
        """Restores the scroll position after changes to the cards.

        Scrolls to the newest card if `at_newest`. Otherwise, if the newest card is at the top, keeps the visible cards
        in place by compensating for the change from `height_before`, the document's previous height in pixels.
        """
        if at_newest:
            self.show_newest()
        elif self._newest_first:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + round(self.document().size().height() - height_before))

    # -- colours and sizes

    def _restyle(self) -> None:
        self._look, self._font = Look.of(self.palette()), self.font()
        self._fills = chip_fills(self._look)
        self.content.restyle(self._look, self.font())

    def changeEvent(self, event: QEvent) -> None:
        """Rewrites all cards when the palette or font changes."""
        if event.type() not in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) or not hasattr(self, "_fills"):
            super().changeEvent(event)
            return
        stay, top = self.at_newest(), next(self._in_view(), None)
        super().changeEvent(event)
        if (Look.of(self.palette()), self.font()) != (self._look, self._font):
            cards = list(self.cards)
            self._restyle()
            self._buttons.restyle()
            self.content.clear()
            self.content.set_margins(self.viewport().width())
            with laid_out_once(self.document()):
                for place, card in enumerate(cards):
                    self.content.insert(place, card)
            if top is not None and not stay:
                bar = self.verticalScrollBar()
                bar.setValue(bar.value() + round(self.box_of(top[0]).top() - top[1].top()))
        if stay:
            self.show_newest()

    def resizeEvent(self, event: QResizeEvent) -> None:
        stay = self.at_newest()
        self.content.set_margins(event.size().width())
        self.content.set_room(self.contentsRect().width() - self.verticalScrollBar().sizeHint().width())
        super().resizeEvent(event)
        if stay:
            self.show_newest()

    # -- copying

    def createMimeDataFromSelection(self) -> QMimeData:
        """Returns the selection as plain text; see `selected_text`."""
        data = QMimeData()
        data.setText(selected_text(self.content, self.textCursor()))
        return data

    # -- painting

    def link_words(self, link: str) -> str:
        return self.inner_link_tips.get(link, "") if link.startswith(INNER) else link

    def viewportEvent(self, event: QEvent) -> bool:
        """Shows the tooltip of the link or card under the pointer."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            place = self.card_at(event.pos())
            link = self.anchorAt(event.pos())
            words = self.link_words(link) or (self.cards[place].tip if place >= 0 else "")
            show_tip(event.globalPos(), words, self.viewport(), wrap=True)
            return True
        return super().viewportEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        with painter_on(self.viewport()) as painter:
            carets: list[int] = []
            strips: dict[Key, tuple[QRectF, Paragraph]] = {}
            for place, box in self._in_view():
                self._paint_card(painter, place, box)
                if self.cards[place].written:
                    height = self.viewport().height()
                    for number, strip, code in paint_body(
                        painter, self._look, self.content, place, box, height, self._rect
                    ):
                        strips[place, number] = strip, code
                if self.cards[place].caret >= 0:
                    carets.append(place)
            if not self.cards:
                paint_empty(painter, self._look, self.viewport().rect(), self.empty_text)
        self._buttons.place(strips)
        super().paintEvent(event)
        if carets:
            with painter_on(self.viewport()) as painter:
                for place in carets:
                    card, block = self.cards[place], self.content.block(place, 1)
                    letters = "".join(text for text, _ in card.body)[: card.caret]
                    paint_caret(painter, self._look, block, self._origin(block), qt_length(letters))

    def _paint_card(self, painter: QPainter, place: int, box: QRectF) -> None:
        card, head = self.cards[place], self.content.block(place, 0)
        if card.style == "divider":
            words = sum(QFontMetricsF(self.content.font_of(kind)).horizontalAdvance(text) for text, kind in card.head)
            paint_divider(painter, self._look, box, words, self.fontMetrics().height())
            return
        paint_box(painter, self._look, box, card.style)
        paint_chips(painter, head, self._origin(head), card.head, self._fills)
        if card.quote:
            bottom = self.document().documentLayout().blockBoundingRect(head).bottom() - self._scrolled()
            room = QRectF(box.left() + PAD, bottom + 1, box.width() - 2 * PAD, self.content.quote_height - 2)
            paint_quote(painter, self._look, room, card.quote, self.content.font_of("quote"))

    def _scrolled(self) -> int:
        return self.verticalScrollBar().value()

    def _origin(self, block: QTextBlock) -> QPointF:
        """Returns the top-left corner of a block in viewport coordinates."""
        return self._rect(block).topLeft()

    def _rect(self, block: QTextBlock) -> QRectF:
        """Returns the rectangle of a block in viewport coordinates."""
        return self.document().documentLayout().blockBoundingRect(block).translated(0, -self._scrolled())

    def _in_view(self) -> Iterator[tuple[int, QRectF]]:
        """Yields the index and box, in viewport coordinates, of each visible card."""
        # The bottom margin of the card above the top edge may still be visible.
        top = self.content.place_of(self.cursorForPosition(QPoint(4, 0)).block()) if self.cards else 0
        for place in range(max(0, top - 1), len(self.cards)):
            box = self.box_of(place)
            if box.top() > self.viewport().height():
                return
            yield place, box

    def box_of(self, place: int) -> QRectF:
        """Returns a card's box in viewport coordinates."""
        layout = self.document().documentLayout()
        head, body = self.content.block(place, 0), self.content.last_block(place)
        rect = layout.blockBoundingRect(head).united(layout.blockBoundingRect(body))
        margins = head.blockFormat()
        side = self.document().rootFrame().frameFormat().leftMargin()
        left = side + margins.leftMargin() - PAD
        right = self.viewport().width() - side - margins.rightMargin() + PAD
        return QRectF(left, rect.top() - PAD - self._scrolled(), right - left, rect.height() + 2 * PAD)
