"""Paints a card's decorations: box, chips, quote, caret, code backgrounds, quote bars and rules.

Decorations are not part of the document, so they are never copied along with the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QTextBlock, QTextCursor, QTextLine

from app.gui.cards.card import GAP, PAD, ROUND, Paragraph, Run, Table, qt_length
from app.gui.cards.document import CardDocument
from app.gui.cards.formats import CODE_PAD, QUOTE_INDENT
from app.gui.design.look import Look, draw_rounded, set_ink
from app.gui.design.plain import draw_words, elided


def paint_body(
    painter: QPainter,
    look: Look,
    content: CardDocument,
    place: int,
    box: QRectF,
    bottom: float,
    rect_of: Callable[[QTextBlock], QRectF],
) -> Iterator[tuple[int, QRectF, Paragraph]]:
    """Paints the decorations behind the body of the card at `place`.

    - `box`: the card's box, in viewport coordinates
    - `bottom`: the bottom edge of the viewport
    - `rect_of`: returns the rectangle of a block's text in viewport coordinates

    Yields, for each visible code block, its index within the card, its header strip and its paragraph.
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


BAR = 2.0
"""The width of the caret and of a quote's bar, in pixels."""
QUOTE_STEP = 9.0
_PATCH_SIDE, _PATCH_UP = 4.5, 1.0


def paint_box(painter: QPainter, look: Look, box: QRectF, style: str) -> None:
    """Paints the rounded box behind a card."""
    if style in ("quiet", "assistant"):
        return
    if style in ("beside", "calm"):
        draw_rounded(painter, box, ROUND, inset=0.5, edge=QPen(look.line, 1))
        return
    fill = {"user": look.user_card, "live": look.live_card}.get(style, look.plain_card)
    draw_rounded(painter, box, ROUND, fill=fill, edge=QPen(look.accent, 1.5) if style == "live" else None)


def paint_empty(painter: QPainter, look: Look, room: QRect, words: str) -> None:
    """Paints the placeholder text `words` centred in the rectangle `room`, for a column without cards."""
    painter.setPen(look.dim)
    flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
    painter.drawText(room.adjusted(24, 24, -24, -24), flags, words)


def paint_divider(painter: QPainter, look: Look, box: QRectF, words: float, line_height: float) -> None:
    """Paints a line on either side of centred text, if there is room. `words`: width of the text in pixels."""
    painter.setPen(QPen(look.line, 1))
    middle = round(box.top() + PAD + line_height / 2) + 0.5
    part = (box.width() - words) / 2 - PAD
    if part < GAP:
        return
    painter.drawLine(QPointF(box.left(), middle), QPointF(box.left() + part, middle))
    painter.drawLine(QPointF(box.right() - part, middle), QPointF(box.right(), middle))


def paint_chips(
    painter: QPainter, block: QTextBlock, at: QPointF, runs: tuple[Run, ...], fills: Mapping[str, QColor]
) -> None:
    """Paints a chip behind each run whose kind is in `fills`.

    `at`: top-left corner of the block in viewport coordinates.
    """
    start = 0
    for text, kind in runs:
        end = start + qt_length(text)
        fill = fills.get(kind)
        if fill is not None:
            set_ink(painter, fill=fill)
            for patch in _rects(block, start, end):
                patch.translate(at)
                patch.adjust(-_PATCH_SIDE, -_PATCH_UP, _PATCH_SIDE, _PATCH_UP)
                painter.drawRoundedRect(patch, patch.height() / 2, patch.height() / 2)
        start = end


def paint_code_ground(painter: QPainter, look: Look, box: QRectF, strip: float, language: str, font: QFont) -> None:
    """Paints the background of a code block, with its language in a header line `strip` pixels high."""
    draw_rounded(painter, box, ROUND, fill=look.sunken)
    name = QRectF(box.left() + CODE_PAD, box.top(), box.width() - 2 * CODE_PAD, strip)
    draw_words(painter, name, language, look.dim, font)


def paint_inline_code(painter: QPainter, look: Look, block: QTextBlock, at: QPointF, runs: tuple[Run, ...]) -> None:
    """Paints a background behind each run of inline code. `at`: top-left corner of the block."""
    start = 0
    set_ink(painter, fill=look.sunken)
    for text, kind in runs:
        end = start + qt_length(text)
        if "|code" in kind:
            for patch in _rects(block, start, end):
                patch.translate(at)
                painter.drawRoundedRect(patch.adjusted(-1.5, -1, 1.5, 1), 4, 4)
        start = end


def paint_quote_bars(painter: QPainter, look: Look, left: float, top: float, bottom: float, depth: int) -> None:
    """Draws a vertical bar to the left of a quoted paragraph for each level of nesting."""
    set_ink(painter, fill=look.line)
    for step in range(depth):
        painter.drawRoundedRect(QRectF(left + step * QUOTE_INDENT, top, 3, bottom - top), 1.5, 1.5)


def paint_rule(painter: QPainter, look: Look, left: float, right: float, y: float) -> None:
    """Paints a horizontal rule."""
    painter.setPen(QPen(look.line, 1))
    painter.drawLine(QPointF(left, round(y) + 0.5), QPointF(right, round(y) + 0.5))


def paint_quote(painter: QPainter, look: Look, room: QRectF, words: str, font: QFont) -> None:
    """Paints as many of the last `words` as fit in the rectangle `room`, next to a thin vertical line."""
    set_ink(painter, fill=look.line)
    painter.drawRect(QRectF(room.left(), room.top() + 2, BAR, room.height() - 4))
    painter.setFont(font)
    painter.setPen(look.dim)
    text = last_words(words, QFontMetricsF(font), room.width() - QUOTE_STEP)
    flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
    painter.drawText(room.adjusted(QUOTE_STEP, 0, 0, 0), flags, text)


def paint_caret(painter: QPainter, look: Look, block: QTextBlock, at: QPointF, place: int) -> None:
    """Paints a caret before the character at `place`, counted in UTF-16 code units."""
    line = block.layout().lineForTextPosition(place)
    if not line.isValid():
        return
    x = _x(line, place)
    top = at.y() + line.y()
    draw_rounded(painter, QRectF(at.x() + x, top - 2, BAR, line.ascent() + line.descent() + 4), 1, fill=look.accent)
    painter.drawEllipse(QPointF(at.x() + x + BAR / 2, top - 2), 3, 3)


def last_words(words: str, metrics: QFontMetricsF, width: float) -> str:
    """Returns as many words from the end of `words` as fit into `width` pixels, in quotation marks."""
    whole = f"“{words}”"
    if metrics.horizontalAdvance(whole) <= width:
        return whole
    room = width - metrics.horizontalAdvance("“")
    rest = elided(metrics, f"{words}”", Qt.TextElideMode.ElideLeft, room).lstrip("…")
    _, space, behind = rest.partition(" ")  # drop the partial first word
    return f"“…{behind if space else rest}"


def _x(line: QTextLine, place: int) -> float:
    # PySide returns a tuple of the x coordinate and the cursor position, but its stub declares `object`.
    return line.cursorToX(place)[0]  # type: ignore[index]


def _rects(block: QTextBlock, start: int, end: int) -> list[QRectF]:
    """Returns the rectangles that the text from `start` to `end` occupies, one per line."""
    rects, layout = [], block.layout()
    while start < end:
        line = layout.lineForTextPosition(start)
        if not line.isValid():
            break
        stop = min(end, line.textStart() + line.textLength())
        left, right = _x(line, start), _x(line, stop)
        rects.append(QRectF(left, line.y(), right - left, line.ascent() + line.descent()))
        start = max(stop, start + 1)
    return rects
