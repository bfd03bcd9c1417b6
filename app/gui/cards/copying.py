"""Turns a selection of cards into plain text that reads well: items with their marks, whole tables as their source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from PySide6.QtGui import QTextBlock, QTextCursor

from app.gui.cards.card import LINE_BREAK
from app.gui.cards.document import CardDocument
from app.gui.cards.elements import Element, Paragraph


def selected_text(content: CardDocument, cursor: QTextCursor) -> str:
    """Returns the text that is selected. Code and tables that are selected as a whole are in it as their source; code
    alone has no fences.
    """
    begin, end = cursor.selectionStart(), cursor.selectionEnd()
    if begin == end or not content.cards:
        return ""
    if cursor.hasComplexSelection():  # several cells of one table, from one corner to another
        return _clean(_selected_cells(content, cursor))
    document = cursor.document()
    first = content.place_of(document.findBlock(begin))
    last = content.place_of(document.findBlock(end))
    parts: list[tuple[str, Paragraph | None]] = []
    for place in range(first, last + 1):
        head = content.block(place, 0)
        if _touches(head, begin, end):
            parts.append((_letters(head, begin, end), None))
        for element, block in content.elements(place):
            parts += _element(element, _blocks(block, element.blocks), begin, end)
    text = ""
    for number, (part, paragraph) in enumerate(parts):
        text += f"{_gap(parts[number - 1][1], paragraph) if number else ''}{part}"
    return _clean(text)


def _clean(text: str) -> str:
    return text.replace("\u00a0", " ").replace("\u2060", "")


def _selected_cells(content: CardDocument, cursor: QTextCursor) -> str:
    """The selected cells with tabulators between them, or the source of the table."""
    table = cursor.currentTable()
    # PySide returns four numbers; its stub says `object`.
    first_row, rows, first_column, columns = cast("tuple[int, int, int, int]", cursor.selectedTableCells())
    if (rows, columns) == (table.rows(), table.columns()):
        before = table.firstCursorPosition().block().previous()
        place = content.place_of(before)
        return next(element.source for element, block in content.elements(place) if block == before)
    return "\n".join(
        "\t".join(
            table.cellAt(row, column).firstCursorPosition().block().text()
            for column in range(first_column, first_column + columns)
        )
        for row in range(first_row, first_row + rows)
    )


def _element(
    element: Element, blocks: list[QTextBlock], begin: int, end: int
) -> Iterator[tuple[str, Paragraph | None]]:
    inside = [block for block in blocks if _touches(block, begin, end)]
    whole = begin <= blocks[0].position() and blocks[-1].position() + blocks[-1].length() - 1 <= end
    if not inside or (isinstance(element, Paragraph) and element.look == "end"):
        return
    if isinstance(element, Paragraph):
        within = blocks[0].position() <= begin and end < blocks[0].position() + blocks[0].length()
        if whole and element.source and not within:
            yield element.source, element
        else:
            yield _marked(element, _letters(blocks[0], begin, end)), element
    elif whole or len(inside) == len(blocks) - 2:
        yield element.source, Paragraph(look="code")
    else:
        yield _cells(blocks, len(element.aligns), begin, end), Paragraph(look="code")


def _cells(blocks: list[QTextBlock], columns: int, begin: int, end: int) -> str:
    """The selected cells, row by row, with tabulators between them."""
    cells = blocks[1:-1]
    rows = (cells[place : place + columns] for place in range(0, len(cells), columns))
    lines = ("\t".join(_letters(cell, begin, end) for cell in row if _touches(cell, begin, end)) for row in rows)
    return "\n".join(line for line in lines if line)


def _marked(paragraph: Paragraph, text: str) -> str:
    indent = "  " * (paragraph.level - 1) if paragraph.look == "item" else ""
    if paragraph.look == "rule":
        return "---"
    return f"{'> ' * paragraph.quote}{indent}{text if paragraph.look == 'code' else text.replace(chr(9), ' ')}"


def _gap(before: Paragraph | None, paragraph: Paragraph | None) -> str:
    """What stands between two paragraphs: a blank line within a body, but not between the items of a list."""
    if before is None or paragraph is None or before.look == paragraph.look == "item":
        return "\n"
    return "\n\n"


def _blocks(block: QTextBlock, count: int) -> list[QTextBlock]:
    blocks = [block]
    while len(blocks) < count:
        blocks.append(blocks[-1].next())
    return blocks


def _touches(block: QTextBlock, begin: int, end: int) -> bool:
    return block.position() <= end and begin < block.position() + block.length()


def _letters(block: QTextBlock, begin: int, end: int) -> str:
    """The selected letters of a paragraph."""
    start = block.position()
    cursor = QTextCursor(block)
    cursor.setPosition(max(begin, start))
    cursor.setPosition(min(end, start + block.length() - 1), QTextCursor.MoveMode.KeepAnchor)
    return cursor.selectedText().replace(LINE_BREAK, "\n")
