"""Paints what belongs to the Markdown of a card: grounds of code, bars beside quotes, and rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QTextBlock, QTextCursor

from app.gui.cards.card import PAD
from app.gui.cards.document import CardDocument
from app.gui.cards.elements import Paragraph, Table
from app.gui.cards.formats import CODE_PAD, QUOTE_INDENT
from app.gui.cards.paint import paint_code_ground, paint_inline_code, paint_quote_bars, paint_rule
from app.gui.design.look import Look


def paint_body(
    painter: QPainter,
    look: Look,
    content: CardDocument,
    place: int,
    box: QRectF,
    bottom: float,
    rect_of: Callable[[QTextBlock], QRectF],
) -> Iterator[tuple[int, QRectF, Paragraph]]:
    """Paints below the text of the card at `place`, whose box is `box`, in a viewport that ends at `bottom`.

    `rect_of`: the rectangle of a paragraph's text in the viewport. Yields each code in view with its number in the
    card, and the strip above it.
    """
    left, right = box.left() + PAD, box.right() - PAD
    number = 0
    elements = list(content.elements(place))
    for following, (element, block) in enumerate(elements, 1):
        rect = rect_of(block)
        if rect.top() > bottom + content.strip_height:
            return
        if isinstance(element, Table):
            _paint_cells(painter, look, element, block, rect_of)
            continue
        indent = left + QUOTE_INDENT * element.quote
        if element.quote:
            ends = [
                rect_of(below).top()
                for one, below in elements[following : following + 1]
                if isinstance(one, Paragraph) and one.quote
            ]
            paint_quote_bars(painter, look, left, rect.top(), ends[0] if ends else rect.bottom(), element.quote)
        if element.look == "code":
            strip = QRectF(indent, rect.top() - content.strip_height, right - indent, content.strip_height)
            ground = strip.adjusted(0, 0, 0, rect.height() + CODE_PAD)
            if ground.bottom() > 0:
                paint_code_ground(painter, look, ground, strip.height(), element.language, content.font_of("dim"))
                yield number, strip, element
            number += 1
        elif element.look == "rule":
            paint_rule(painter, look, indent, right, rect.top())
        elif rect.bottom() > 0:
            paint_inline_code(painter, look, block, rect.topLeft(), element.runs)


def _paint_cells(
    painter: QPainter, look: Look, table: Table, block: QTextBlock, rect_of: Callable[[QTextBlock], QRectF]
) -> None:
    if not any("|code" in kind for row in table.rows for cell in row for _, kind in cell):
        return
    cells = QTextCursor(block.next()).currentTable()
    for row, line in enumerate(table.rows):
        for column, runs in enumerate(line):
            if any("|code" in kind for _, kind in runs):
                cell = cells.cellAt(row, column).firstCursorPosition().block()
                paint_inline_code(painter, look, cell, QPointF(rect_of(cell).topLeft()), runs)
