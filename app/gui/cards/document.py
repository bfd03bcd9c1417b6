"""The text document that contains the cards, each as one block for its head and one or more for its body.

Edits only touch the characters that differ.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)

from app.gui.cards.body import Body, elements_of
from app.gui.cards.card import (
    GAP,
    LINE_BREAK,
    PAD,
    SIDE,
    Card,
    Element,
    Paragraph,
    block_formats,
    laid_out_once,
    write_runs,
)
from app.gui.cards.formats import Formats
from app.gui.design.look import Look

COLUMN_PX = 720.0
"""Maximum width of a column of cards."""


class CardDocument:
    """The cards in `document`. `scale`: scale factor for the font size of body text."""

    def __init__(self, document: QTextDocument, scale: float) -> None:
        self.cards: list[Card] = []
        self.edits = 0
        """Number of changes to cards written so far."""
        self._document = document
        self._scale = scale
        self._side = SIDE
        self._room = COLUMN_PX
        self._elements: list[tuple[Element, ...]] = []
        self._firsts: list[int] = []  # the block number of each card's head
        document.setDocumentMargin(0)

    def restyle(self, look: Look, font: QFont) -> None:
        """Sets the colours and font. Only affects cards written afterwards."""
        self._formats = Formats(look, font, self._scale)
        self.quote_height = round(QFontMetricsF(self.font_of("quote")).height() + 5)
        self.strip_height = round(QFontMetricsF(self.font_of("dim")).height() + 14)
        self._body = Body(self._document, self._formats, look, self.strip_height)
        self._body.room = self._room

    def font_of(self, kind: str) -> QFont:
        """Returns the font for a kind of text."""
        return self._formats.font(kind)

    def block(self, place: int, part: int) -> QTextBlock:
        """Returns a block of a card: its head if `part` is 0, otherwise that block of its body, counted from 1."""
        return self._document.findBlockByNumber(self._firsts[place] + part)

    def last_block(self, place: int) -> QTextBlock:
        """Returns the last block of a card."""
        return self.block(place, self._blocks(place) - 1)

    def place_of(self, block: QTextBlock) -> int:
        """Returns the index of the card that contains `block`."""
        return bisect_right(self._firsts, block.blockNumber()) - 1

    def elements(self, place: int) -> Iterator[tuple[Element, QTextBlock]]:
        """Yields each element of a card's body together with its first block."""
        part = 1
        for element in self._elements[place]:
            yield element, self.block(place, part)
            part += element.blocks

    def text(self, place: int) -> str:
        """Returns a card's text: the head on one line, with its parts separated by dots, followed by the body."""
        body = (self.block(place, part).text() for part in range(1, self._blocks(place)))
        return f"{self.block(place, 0).text().replace(LINE_BREAK, ' · ')}\n" + "\n".join(body)

    def formats(self, place: int) -> list[tuple[str, QTextCharFormat]]:
        """Returns the text fragments of a card's body and their formats."""
        pieces = []
        for part in range(1, self._blocks(place)):
            iterator = self.block(place, part).begin()
            while not iterator.atEnd():
                fragment = iterator.fragment()
                pieces.append((fragment.text(), fragment.charFormat()))
                iterator += 1
        return pieces

    # -- changing cards

    def insert(self, place: int, card: Card) -> None:
        """Inserts a card at index `place`."""
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        if not self.cards:
            cursor.insertBlock()  # an empty document already has one block
        else:
            if place < len(self.cards):
                cursor.setPosition(self.block(place, 0).position())
            else:
                cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertBlock()
            cursor.insertBlock()
        first = self._firsts[place] if place < len(self.cards) else self._first_behind()
        self.cards.insert(place, Card((), (), ""))
        self._elements.insert(place, (Paragraph(),))
        self._firsts.insert(place, first)
        self._move(place, 2)
        self.write(place, card)
        cursor.endEditBlock()

    def write(self, place: int, card: Card) -> None:
        """Replaces the card at `place`. No-op if `card` is equal to it."""
        old, card = self.cards[place], card.clean()
        if old == card:
            return
        self.edits += 1
        self.cards[place] = card
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        if old.style != card.style or bool(old.quote) != bool(card.quote):
            self._format_blocks(place, card)
        if old.head != card.head:
            write_runs(self.block(place, 0), old.head, card.head, self._formats)
        if (old.written, old.body) != (card.written, card.body):
            self._write_body(place, card)
        cursor.endEditBlock()

    def remove(self, place: int) -> None:
        """Removes the card at `place`."""
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        last = place == len(self.cards) - 1
        if last and place:
            before = self.last_block(place - 1)
            cursor.setPosition(before.position() + before.length() - 1)
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        elif last:
            cursor.select(QTextCursor.SelectionType.Document)
        else:
            cursor.setPosition(self.block(place, 0).position())
            cursor.setPosition(self.block(place + 1, 0).position(), QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._move(place, -self._blocks(place))
        del self.cards[place], self._elements[place], self._firsts[place]
        if self.cards:  # the block now at this position still has the format of the removed card
            near = min(place, len(self.cards) - 1)
            self._format_blocks(near, self.cards[near])
        cursor.endEditBlock()

    def clear(self) -> None:
        """Removes all cards."""
        self.cards.clear()
        self._elements.clear()
        self._firsts.clear()
        self._document.clear()

    def _write_body(self, place: int, card: Card) -> None:
        before, base = self._elements[place], self._block_formats(card)[1]
        elements = self._elements[place] = self._body.fitted(elements_of(card), base)
        self._body.write(self._firsts[place] + 1, before, elements, base)
        self._move(place, sum(e.blocks for e in elements) - sum(e.blocks for e in before))

    def _blocks(self, place: int) -> int:
        return 1 + sum(element.blocks for element in self._elements[place])

    def _first_behind(self) -> int:
        return self._firsts[-1] + self._blocks(len(self._firsts) - 1) if self._firsts else 0

    def _move(self, place: int, blocks: int) -> None:
        """Offsets the block numbers of all cards after `place` by `blocks`."""
        if blocks:
            for other in range(place + 1, len(self._firsts)):
                self._firsts[other] += blocks

    # -- margins

    def set_side(self, side: float) -> None:
        """Sets the margin on either side of the cards, in pixels."""
        if self._side != side:
            self._side = side
            with laid_out_once(self._document):
                for place, card in enumerate(self.cards):
                    self._format_blocks(place, card)
            self._fit_tables()

    def set_margins(self, width: int) -> None:
        """Centres the column in a view of this width, in pixels. Must be called again after `clear`."""
        frame = self._document.rootFrame()
        margin = max(0.0, (width - COLUMN_PX) / 2)
        frame_format = frame.frameFormat()
        if frame_format.leftMargin() != margin or not frame_format.bottomMargin():
            frame_format.setLeftMargin(margin)
            frame_format.setRightMargin(margin)
            # Qt ignores the first block's top margin, so reserve space for the first box here.
            frame_format.setTopMargin(GAP + PAD)
            frame_format.setBottomMargin(GAP + PAD)
            frame.setFrameFormat(frame_format)

    def set_room(self, width: float) -> None:
        """Fits the tables into a view of this width, in pixels.

        The width must exclude the scroll bar, even while that is hidden. Otherwise, the scroll bar could appear and
        disappear repeatedly as the tables are refitted.
        """
        room = min(width, COLUMN_PX)
        if self._room != room:
            self._room = self._body.room = room
            self._fit_tables()

    def _fit_tables(self) -> None:
        with_tables = [(place, card) for place, card in enumerate(self.cards) if "|" in card.written]
        for change in (self._write_body, self._format_blocks):  # new tables can only be formatted in a second pass
            with laid_out_once(self._document):
                for place, card in with_tables:
                    change(place, card)

    def _block_formats(self, card: Card) -> tuple[QTextBlockFormat, QTextBlockFormat]:
        return block_formats(card.style, self.quote_height if card.quote else 0.0, self._side)

    def _format_blocks(self, place: int, card: Card) -> None:
        head, body = self._block_formats(card)
        QTextCursor(self.block(place, 0)).setBlockFormat(head)
        self._body.format(self._firsts[place] + 1, self._elements[place], body)
