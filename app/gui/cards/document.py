"""Writes cards into a text document: each is two paragraphs, a head and a body.

A change touches only the letters that differ.
"""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontMetricsF, QTextBlock, QTextCharFormat, QTextCursor, QTextDocument

from app.gui.cards.card import GAP, LINE_BREAK, PAD, SIDE, Card, block_formats, text_formats
from app.gui.cards.runs import laid_out_once, write_runs
from app.gui.design.look import Look

COLUMN_PX = 720.0
"""The widest that a column of cards gets."""


class CardDocument:
    """The cards of `document`. `scale` is the size of the bodies' text."""

    def __init__(self, document: QTextDocument, scale: float) -> None:
        self.cards: list[Card] = []
        self.edits = 0
        """The number of cards written so far."""
        self._document = document
        self._scale = scale
        self._side = SIDE
        self._kinds: dict[str, QTextCharFormat] = {}
        document.setDocumentMargin(0)

    def restyle(self, look: Look, font: QFont) -> None:
        """Uses these colours and this font for the cards that are written from now on."""
        self._font = font
        self._kinds = text_formats(look, font, self._scale)
        self.quote_height = round(QFontMetricsF(self.font_of("quote")).height() + 5)

    def font_of(self, kind: str) -> QFont:
        """The font of a kind of text."""
        font = QFont(self._font)
        font.setPointSizeF(self._kinds[kind].fontPointSize())
        font.setItalic(self._kinds[kind].fontItalic())
        return font

    def block(self, place: int, part: int) -> QTextBlock:
        """The paragraph of a card's head (`part` 0) or body (1)."""
        return self._document.findBlockByNumber(2 * place + part)

    def text(self, place: int) -> str:
        """The text of a card: the head on one line with dots, a line break, the body."""
        return f"{self.block(place, 0).text().replace(LINE_BREAK, ' · ')}\n{self.block(place, 1).text()}"

    def formats(self, place: int) -> list[tuple[str, QTextCharFormat]]:
        """The pieces of a card's body with their formats."""
        pieces = []
        iterator = self.block(place, 1).begin()
        while not iterator.atEnd():
            fragment = iterator.fragment()
            pieces.append((fragment.text(), fragment.charFormat()))
            iterator += 1
        return pieces

    # -- changing cards

    def insert(self, place: int, card: Card) -> None:
        """Inserts a card before the one that is at `place` now."""
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        if not self.cards:
            cursor.insertBlock()  # an empty document has one paragraph already
        else:
            if place < len(self.cards):
                cursor.setPosition(self.block(place, 0).position())
            else:
                cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertBlock()
            cursor.insertBlock()
        self.cards.insert(place, Card((), (), ""))
        self.write(place, card)
        cursor.endEditBlock()

    def write(self, place: int, card: Card) -> None:
        """Changes the card at `place` into `card`, if it is another one."""
        old, card = self.cards[place], card.clean()
        if old == card:
            return
        self.edits += 1
        self.cards[place] = card
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        if old.style != card.style or bool(old.quote) != bool(card.quote):
            self._format_blocks(place, card)
        for part, before, after in ((0, old.head, card.head), (1, old.body, card.body)):
            if before != after:
                write_runs(self.block(place, part), before, after, self._kinds)
        cursor.endEditBlock()

    def remove(self, place: int) -> None:
        """Removes the card at `place`."""
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        last = place == len(self.cards) - 1
        if last and place:
            cursor.setPosition(self.block(place - 1, 1).position() + self.block(place - 1, 1).length() - 1)
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        elif last:
            cursor.select(QTextCursor.SelectionType.Document)
        else:
            cursor.setPosition(self.block(place, 0).position())
            cursor.setPosition(self.block(place + 1, 0).position(), QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        del self.cards[place]
        if place < len(self.cards):
            self._format_blocks(place, self.cards[place])
        cursor.endEditBlock()

    def clear(self) -> None:
        """Removes all cards."""
        self._document.clear()
        self.cards.clear()

    # -- margins

    def set_side(self, side: float) -> None:
        """Leaves so many pixels free to the left and right of the cards."""
        if self._side != side:
            self._side = side
            with laid_out_once(self._document):
                for place, card in enumerate(self.cards):
                    self._format_blocks(place, card)

    def set_margins(self, width: int) -> None:
        """Limits the column to `COLUMN_PX` in a view of this width. Needed again after `clear`."""
        frame = self._document.rootFrame()
        margin = max(0.0, (width - COLUMN_PX) / 2)
        frame_format = frame.frameFormat()
        if frame_format.leftMargin() != margin or not frame_format.bottomMargin():
            frame_format.setLeftMargin(margin)
            frame_format.setRightMargin(margin)
            # The first paragraph's own margin is not laid out, so the first box needs room here.
            frame_format.setTopMargin(GAP + PAD)
            frame_format.setBottomMargin(GAP + PAD)
            frame.setFrameFormat(frame_format)

    def _format_blocks(self, place: int, card: Card) -> None:
        quote = self.quote_height if card.quote else 0.0
        for part, block_format in enumerate(block_formats(card.style, quote, self._side)):
            QTextCursor(self.block(place, part)).setBlockFormat(block_format)
