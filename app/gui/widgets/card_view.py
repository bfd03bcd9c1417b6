"""A scrolling column of text cards that can be selected and copied, and changed one at a time.

Each card is two paragraphs of one text document, a head and a body, with a rounded box painted behind
them. A change touches only the letters that differ; what is painted upon it (see `card_paint`) is no
part of the text. Knows nothing of talks or revisions.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QTextEdit, QToolTip, QWidget

from app.gui.widgets.card import GAP, LINE_BREAK, PAD, SIDE, Card, block_formats, chip_fills, text_formats
from app.gui.widgets.card_paint import paint_box, paint_caret, paint_chips, paint_divider, paint_empty, paint_quote
from app.gui.widgets.card_runs import laid_out_once, qt_length, write_runs
from app.gui.widgets.palette import Look

COLUMN_PX = 860.0


class CardView(QTextEdit):
    """Shows cards by their place. `newest_first` decides which end stays in view; `scale` is the bodies' text size."""

    _kinds: dict[str, QTextCharFormat] = {}

    def __init__(self, *, newest_first: bool = False, scale: float = 1.0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scale, self._side = scale, SIDE
        self.cards: list[Card] = []
        self.edits = 0
        """How often a card was written; what didn't change must not cost anything."""
        self.empty_text = ""
        """What stands in the middle while there is no card."""
        self._newest_first = newest_first
        self._look = Look.of(self.palette())
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self.setCursorWidth(0)  # where there is nothing to select
        self._take_look()

    # -- changing cards

    def insert_card(self, place: int, card: Card) -> None:
        """Puts a card before the one that is at `place` now."""
        card = card.clean()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        if not self.cards:
            self.setCursorWidth(1)
            cursor.insertBlock()  # an empty document has one paragraph already
        else:
            if place < len(self.cards):
                cursor.setPosition(self._block(place, 0).position())
            else:
                cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertBlock()
            cursor.insertBlock()
        self.cards.insert(place, Card((), (), ""))
        self._write(place, card)
        cursor.endEditBlock()

    def set_card(self, place: int, card: Card) -> None:
        """Shows `card` at `place`; costs nothing when it is there already."""
        card = card.clean()
        if self.cards[place] != card:
            self._write(place, card)

    def remove_card(self, place: int) -> None:
        """Takes the card at `place` out."""
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        last = place == len(self.cards) - 1
        if last and place:
            cursor.setPosition(self._block(place - 1, 1).position() + self._block(place - 1, 1).length() - 1)
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        elif last:
            cursor.select(QTextCursor.SelectionType.Document)
        else:
            cursor.setPosition(self._block(place, 0).position())
            cursor.setPosition(self._block(place + 1, 0).position(), QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        del self.cards[place]
        if not self.cards:
            self.setCursorWidth(0)
        if place < len(self.cards):
            self._format_blocks(place, self.cards[place])
        cursor.endEditBlock()

    def clear_cards(self) -> None:
        """Takes all cards out."""
        self.document().clear()
        self.cards.clear()
        self.setCursorWidth(0)
        self._set_margins(self.viewport().width())

    def set_side(self, side: float) -> None:
        """Leaves so many pixels free left and right of the cards."""
        if self._side != side:
            self._side = side
            with laid_out_once(self.document()):
                for place, card in enumerate(self.cards):
                    self._format_blocks(place, card)

    def card_text(self, place: int) -> str:
        """The text of a card as it stands in the document: head, on one line with dots, line break, body."""
        return f"{self._block(place, 0).text().replace(LINE_BREAK, ' · ')}\n{self._block(place, 1).text()}"

    def card_at(self, point: QPoint) -> int:
        """The place of the card under `point` of the viewport; -1 for none."""
        return next((place for place, box in self._in_view() if box.contains(QPointF(point))), -1)

    def card_formats(self, place: int) -> list[tuple[str, QTextCharFormat]]:
        """The pieces of a card's body with the formats they have in the document."""
        pieces = []
        iterator = self._block(place, 1).begin()
        while not iterator.atEnd():
            fragment = iterator.fragment()
            pieces.append((fragment.text(), fragment.charFormat()))
            iterator += 1
        return pieces

    # -- keeping the newest in view

    def at_newest(self) -> bool:
        """Whether the newest card is in view, so that it should stay so."""
        bar = self.verticalScrollBar()
        return bar.value() <= 4 if self._newest_first else bar.value() >= bar.maximum() - 24

    def show_newest(self) -> None:
        """Scrolls to the newest card."""
        bar = self.verticalScrollBar()
        bar.setValue(0 if self._newest_first else bar.maximum())

    def keep_view(self, at_newest: bool, height_before: float) -> None:
        """After changes: stays with the newest, or, with newer cards above, on what was being read."""
        if at_newest:
            self.show_newest()
        elif self._newest_first:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + round(self.document().size().height() - height_before))

    # -- inner parts

    def _block(self, place: int, part: int) -> QTextBlock:
        return self.document().findBlockByNumber(2 * place + part)

    def _write(self, place: int, card: Card) -> None:
        self.edits += 1
        old = self.cards[place]
        self.cards[place] = card
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        if old.style != card.style or bool(old.quote) != bool(card.quote):
            self._format_blocks(place, card)
        for part, before, after in ((0, old.head, card.head), (1, old.body, card.body)):
            if before != after:
                write_runs(self._block(place, part), before, after, self._kinds)
        cursor.endEditBlock()
        if (old.style, old.quote, old.caret) != (card.style, card.quote, card.caret):
            self.viewport().update()

    def _format_blocks(self, place: int, card: Card) -> None:
        quote = self._quote_height if card.quote else 0.0
        for part, block_format in enumerate(block_formats(card.style, quote, self._side)):
            QTextCursor(self._block(place, part)).setBlockFormat(block_format)

    def _take_look(self) -> None:
        """Takes the colours and the font of now."""
        self._look = Look.of(self.palette())
        self._kinds = text_formats(self._look, self.font(), self._scale)
        self._fills = chip_fills(self._look)
        self._quote_font = self._font_of("quote")
        self._quote_height = round(QFontMetricsF(self._quote_font).height() + 5)

    def _rewrite(self) -> None:
        """Writes all cards anew, in the colours and the font of now."""
        self._take_look()
        cards, self.cards = self.cards, []
        self.document().clear()
        self._set_margins(self.viewport().width())
        for place, card in enumerate(cards):
            self.insert_card(place, card)

    def _set_margins(self, width: int) -> None:
        """Leaves the column readable in a viewport of this width. A document that was emptied has no margins left."""
        frame = self.document().rootFrame()
        margin = max(0.0, (width - COLUMN_PX) / 2)
        frame_format = frame.frameFormat()
        if frame_format.leftMargin() != margin or not frame_format.bottomMargin():
            frame_format.setLeftMargin(margin)
            frame_format.setRightMargin(margin)
            # The first paragraph's own margin is not laid out, so the first box needs room here.
            frame_format.setTopMargin(GAP + PAD)
            frame_format.setBottomMargin(GAP + PAD)
            frame.setFrameFormat(frame_format)

    def changeEvent(self, event: QEvent) -> None:
        """Follows the system's colours and font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and self._kinds:
            self._rewrite()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keeps the column readable on wide windows, and the newest card in view."""
        stay = self.at_newest()
        self._set_margins(event.size().width())
        super().resizeEvent(event)
        if stay:
            self.show_newest()

    def viewportEvent(self, event: QEvent) -> bool:
        """Tells the mouse of the card under it."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            place = self.card_at(event.pos())
            tip = escape(self.cards[place].tip).replace("\n", "<br>") if place >= 0 else ""
            QToolTip.showText(event.globalPos(), f"<p>{tip}</p>" if tip else "", self.viewport())
            return True
        return super().viewportEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the boxes of the cards in view, the text upon them, and the carets upon that."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        carets: list[int] = []
        for place, box in self._in_view():
            self._paint_card(painter, place, box)
            if self.cards[place].caret >= 0:
                carets.append(place)
        if not self.cards:
            paint_empty(painter, self._look, self.viewport().rect(), self.empty_text)
        painter.end()
        super().paintEvent(event)
        if carets:
            painter = QPainter(self.viewport())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for place in carets:
                card, block = self.cards[place], self._block(place, 1)
                letters = "".join(text for text, _ in card.body)[: card.caret]
                paint_caret(painter, self._look, block, self._origin(block), qt_length(letters))
            painter.end()

    def _paint_card(self, painter: QPainter, place: int, box: QRectF) -> None:
        card, head = self.cards[place], self._block(place, 0)
        if card.style == "divider":
            words = sum(QFontMetricsF(self._font_of(kind)).horizontalAdvance(text) for text, kind in card.head)
            paint_divider(painter, self._look, box, words, self.fontMetrics().height())
            return
        paint_box(painter, self._look, box, card.style)
        paint_chips(painter, head, self._origin(head), card.head, self._fills)
        if card.quote:
            bottom = self.document().documentLayout().blockBoundingRect(head).bottom() - self._scrolled()
            room = QRectF(box.left() + PAD, bottom + 1, box.width() - 2 * PAD, self._quote_height - 2)
            paint_quote(painter, self._look, room, card.quote, self._quote_font)

    def _scrolled(self) -> int:
        return self.verticalScrollBar().value()

    def _origin(self, block: QTextBlock) -> QPointF:
        """Where in the viewport a paragraph's text is painted."""
        corner = self.document().documentLayout().blockBoundingRect(block).topLeft()
        return QPointF(corner.x(), corner.y() - self._scrolled())

    def _font_of(self, kind: str) -> QFont:
        font = QFont(self.font())
        font.setPointSizeF(self._kinds[kind].fontPointSize())
        font.setItalic(self._kinds[kind].fontItalic())
        return font

    def _in_view(self) -> Iterator[tuple[int, QRectF]]:
        """The cards that are seen, with their boxes in the viewport."""
        # The place under the top edge: the card above may reach into view with its margin.
        top = self.cursorForPosition(QPoint(4, 0)).blockNumber() // 2 if self.cards else 0
        for place in range(max(0, top - 1), len(self.cards)):
            box = self._box(place)
            if box.top() > self.viewport().height():
                return
            yield place, box

    def _box(self, place: int) -> QRectF:
        layout = self.document().documentLayout()
        head, body = self._block(place, 0), self._block(place, 1)
        rect = layout.blockBoundingRect(head).united(layout.blockBoundingRect(body))
        margins = head.blockFormat()
        side = self.document().rootFrame().frameFormat().leftMargin()
        left = side + margins.leftMargin() - PAD
        right = self.viewport().width() - side - margins.rightMargin() + PAD
        return QRectF(left, rect.top() - PAD - self._scrolled(), right - left, rect.height() + 2 * PAD)
