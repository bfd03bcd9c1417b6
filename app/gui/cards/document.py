"""The text document that contains the cards, each as one block for its head and one or more for its body.

Edits only touch the characters that differ.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)

from app.gui.cards.card import (
    GAP,
    LINE_BREAK,
    PAD,
    SIDE,
    Card,
    Element,
    Paragraph,
    Table,
    block_formats,
    in_pieces,
    laid_out_once,
    write_runs,
)
from app.gui.cards.formats import (
    Formats,
    as_list,
    cell_format,
    cell_paragraph,
    column_widths,
    paragraph_format,
    table_format,
)
from app.gui.cards.reader import read_markdown
from app.gui.design.look import Look

EDGE = Paragraph(look="end")
"""The empty paragraph before and after a table."""


class Body:
    """Writes card bodies into `document`.

    `strip`: height of the header line above code, in pixels. In the methods, `first` is the block number at which the
    elements start, and `base` is the block format of plain paragraphs.
    """

    def __init__(self, document: QTextDocument, formats: Formats, look: Look, strip: float) -> None:
        self._document = document
        self._formats = formats
        self._look = look
        self._strip = strip
        self.room = 0.0
        """Width of the column of cards, in pixels."""

    def fitted(self, elements: Sequence[Element], base: QTextBlockFormat) -> tuple[Element, ...]:
        """Returns the elements, with tables that are too wide converted to lists."""
        found: list[Element] = []
        for element in elements:
            if isinstance(element, Table) and self._widths(element, base) is None:
                found += as_list(element)
            else:
                found.append(element)
        return tuple(found)

    def write(self, first: int, before: Sequence[Element], after: Sequence[Element], base: QTextBlockFormat) -> None:
        """Replaces the elements `before` with `after`, leaving unchanged ones untouched."""
        shared = 0
        for old, new in zip(before, after, strict=False):
            if old != new:
                if isinstance(old, Table) or isinstance(new, Table):
                    break
                self._change(first, old, new, base)
            first += old.blocks
            shared += 1
        if shared < len(before):
            self._remove(first, before[shared:])
        self._insert(first, after[shared:], base)

    def format(self, first: int, elements: Sequence[Element], base: QTextBlockFormat) -> None:
        """Reapplies the formats of the given elements."""
        for element in elements:
            block = self._document.findBlockByNumber(first)
            if isinstance(element, Paragraph):
                QTextCursor(block).setBlockFormat(self._paragraph(element, base))
            else:
                table = QTextCursor(block.next()).currentTable()
                if table is not None:  # a table inserted in the same edit block isn't found yet, and needs no update
                    table.setFormat(table_format(base, self._widths(element, base) or ()))
                for edge in (block, self._document.findBlockByNumber(first + element.blocks - 1)):
                    QTextCursor(edge).setBlockFormat(self._paragraph(EDGE, base))
            first += element.blocks

    def _change(self, number: int, old: Paragraph, new: Paragraph, base: QTextBlockFormat) -> None:
        block = self._document.findBlockByNumber(number)
        if old.looks != new.looks:
            cursor = QTextCursor(block)
            cursor.setBlockFormat(self._paragraph(new, base))
            cursor.setBlockCharFormat(self._letters(new))
        write_runs(block, old.runs, new.runs, self._formats)

    def _remove(self, first: int, elements: Sequence[Element]) -> None:
        """Removes elements, preserving the format of the block before them."""
        before = self._document.findBlockByNumber(first - 1)
        last = self._document.findBlockByNumber(first + sum(element.blocks for element in elements) - 1)
        look = before.blockFormat()
        cursor = QTextCursor(self._document)
        cursor.setPosition(before.position() + before.length() - 1)
        cursor.setPosition(last.position() + last.length() - 1, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        cursor.setBlockFormat(look)

    def _insert(self, first: int, elements: Sequence[Element], base: QTextBlockFormat) -> None:
        if not elements:
            return
        before = self._document.findBlockByNumber(first - 1)
        cursor = QTextCursor(self._document)
        cursor.setPosition(before.position() + before.length() - 1)
        for element in elements:
            if isinstance(element, Paragraph):
                cursor.insertBlock(self._paragraph(element, base), self._letters(element))
                for text, kind in in_pieces(element.runs):
                    cursor.insertText(text, self._formats[kind])
            else:
                self._insert_table(cursor, element, base)

    def _insert_table(self, cursor: QTextCursor, element: Table, base: QTextBlockFormat) -> None:
        cursor.insertBlock(self._paragraph(EDGE, base), self._formats["edge"])
        look = table_format(base, self._widths(element, base) or ())
        table = cursor.insertTable(len(element.rows), len(element.aligns), look)
        for row, cells in enumerate(element.rows):
            for column, runs in enumerate(cells):
                cell = table.cellAt(row, column)
                cell.setFormat(cell_format(self._look, head=row == 0))
                inner = cell.firstCursorPosition()
                inner.setBlockFormat(cell_paragraph(element.aligns[column]))
                for text, kind in runs:
                    inner.insertText(text, self._formats[kind])
        cursor.setPosition(table.lastPosition() + 1)
        cursor.setBlockFormat(self._paragraph(EDGE, base))
        cursor.setBlockCharFormat(self._formats["edge"])

    def _widths(self, table: Table, base: QTextBlockFormat) -> tuple[float, ...] | None:
        return column_widths(table, self._formats.width, self.room - base.leftMargin() - base.rightMargin())

    def _letters(self, paragraph: Paragraph) -> QTextCharFormat:
        """Returns the character format of a paragraph before it has any text."""
        return self._formats["edge" if paragraph.look in ("rule", "end") else "text"]

    def _paragraph(self, paragraph: Paragraph, base: QTextBlockFormat) -> QTextBlockFormat:
        return paragraph_format(base, paragraph, self._formats.step, self._strip)


def elements_of(card: Card) -> tuple[Element, ...]:
    """Returns the elements of a card's body: those of its Markdown, followed by its runs."""
    if not card.written:
        return (Paragraph(card.body),)
    elements = read_markdown(card.written)
    if not card.body:
        return elements or (Paragraph(),)
    last = elements[-1] if elements else None
    if isinstance(last, Paragraph) and last.look in ("text", "item", "heading"):
        return (*elements[:-1], last.followed_by(card.body))
    rest = elements[:-1] if isinstance(last, Paragraph) and last.look == "end" else elements
    (text, kind), *others = card.body
    return (*rest, Paragraph(((text.lstrip(), kind), *others)))


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

    foot = 0
    """Room below the last card, in pixels."""

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
            frame_format.setBottomMargin(GAP + PAD + self.foot)
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
