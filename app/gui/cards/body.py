"""Writes the elements of a card's body (paragraphs, code and tables) into a document.

Unchanged elements are left untouched. In changed paragraphs, only the text that differs is replaced.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QTextBlockFormat, QTextCharFormat, QTextCursor, QTextDocument

from app.gui.cards.card import Card, Element, Paragraph, Table, in_pieces, write_runs
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
