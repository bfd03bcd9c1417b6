"""Text, paragraph and table formats for the body of a card.

Table columns are at least as wide as their longest word. A table that doesn't fit even then is converted to a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QBrush,
    QFont,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextOption,
    QTextTableCellFormat,
    QTextTableFormat,
)

from app.gui.cards.card import APART, Align, Paragraph, Run, Table, text_formats
from app.gui.design.fonts import CODE_FAMILY
from app.gui.design.look import Look
from app.gui.design.model_look import MODEL_STYLE, colour_at

CELL_LEFT, CELL_RIGHT, CELL_PAD = 8.0, 16.0, 5.0
"""Padding of a table cell: left, right, and top and bottom."""

Measure = Callable[[str, str], float]
"""A function that takes a string and its kind, and returns its width in pixels."""


def column_widths(table: Table, measure: Measure, room: float) -> tuple[float, ...] | None:
    """Returns column widths with which a table fits in `room` pixels, or None if that would break words.

    Each column fits its longest word. The remaining space is distributed in proportion to the additional width that
    each column needs to avoid wrapping.
    """
    sides = CELL_LEFT + CELL_RIGHT + 1
    columns = [[row[place] for row in table.rows] for place in range(len(table.aligns))]
    longest = [max(_longest_word(cell, measure) for cell in column) + sides for column in columns]
    whole = [max(_width(cell, measure) for cell in column) + sides for column in columns]
    if sum(whole) <= room:
        return tuple(whole)
    left = room - sum(longest)
    if left < 0:
        return None
    wanted = [wide - word for wide, word in zip(whole, longest, strict=True)]
    return tuple(word + left * more / sum(wanted) for word, more in zip(longest, wanted, strict=True))


def as_list(table: Table) -> Iterator[Paragraph]:
    """Converts each row of a table to a heading (the first cell) and a list of the other cells with column names."""
    heads, *rows = table.rows
    for row in rows:
        bold = tuple((text, kind.replace("text", "cell", 1)) for text, kind in row[0])
        yield Paragraph(bold, "heading", 3)
        for head, cell in zip(heads[1:], row[1:], strict=True):
            if cell:
                yield Paragraph((("•\t", "marker"), *head, (": ", "cell"), *cell), "item", 1)


def _width(cell: tuple[Run, ...], measure: Measure) -> float:
    return sum(measure(text, kind) for text, kind in cell)


def _longest_word(cell: tuple[Run, ...], measure: Measure) -> float:
    return max((measure(word, kind) for text, kind in cell for word in text.split()), default=0.0)


CODE_PAD = 12.0
"""Padding between code and the edge of its background."""
CODE_SIZE = 0.9
"""Font size of code relative to body text; the code typeface looks larger at the same size."""
HEADINGS = (1.3, 1.15, 1.0)
"""Font sizes of the heading levels, relative to body text."""
PARAGRAPH_GAP, ITEM_GAP = 8.0, 4.0
QUOTE_INDENT = 16.0
_HEIGHT = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
_ALIGNS = {
    "left": Qt.AlignmentFlag.AlignLeft,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignRight,
}


class Formats(dict[str, QTextCharFormat]):
    """A dict that maps kinds of text to formats, created lazily.

    A kind can include styles and a link: `text|bold|italic@https://…`. The style `model3` stands for the third colour
    of models; see `app.gui.design.model_look`.
    """

    def __init__(self, look: Look, font: QFont, scale: float = 1.0) -> None:
        super().__init__(text_formats(look, font, scale))
        self._look = look
        self._font = font
        self._metrics: dict[str, QFontMetricsF] = {}
        text = self["text"]
        for level, size in enumerate(HEADINGS, 1):
            self[f"heading{level}"] = _bold(text, size)
        self[APART] = QTextCharFormat(text)
        self[APART].setProperty(QTextFormat.Property.UserProperty.value, True)
        self["cell"] = _bold(text, 1.0)
        self["marker"] = _coloured(text, look)
        self["edge"] = QTextCharFormat()
        self["edge"].setFontPointSize(1)
        self["code"] = _code(text)
        self.step = text.fontPointSize() * 2.2
        """Indentation per level of lists, in pixels."""

    def font(self, kind: str) -> QFont:
        """Returns the font for a kind of text."""
        font, look = QFont(self._font), self[kind]
        font.setPointSizeF(look.fontPointSize())
        font.setItalic(look.fontItalic())
        font.setWeight(QFont.Weight(look.fontWeight()))
        if look.fontFamilies():
            font.setFamilies(look.fontFamilies())
        return font

    def width(self, text: str, kind: str) -> float:
        """Returns the width of a string of this kind, in pixels."""
        if kind not in self._metrics:
            self._metrics[kind] = QFontMetricsF(self.font(kind))
        return self._metrics[kind].horizontalAdvance(text)

    def __missing__(self, kind: str) -> QTextCharFormat:
        base, _, link = kind.partition("@")
        base, *styles = base.split("|")
        made = QTextCharFormat(self[base])
        if "code" in styles:
            made = _code(made)
        if "bold" in styles:
            # The italic typeface has a single weight, which Qt emboldens only for the weight Bold.
            made.setFontWeight(QFont.Weight.Bold if "italic" in styles else QFont.Weight.DemiBold)
        for style in styles:
            if style.startswith(MODEL_STYLE):
                made.setForeground(colour_at(int(style.removeprefix(MODEL_STYLE)), dark=self._look.dark))
        made.setFontItalic("italic" in styles or made.fontItalic())
        made.setFontStrikeOut("struck" in styles)
        if link:
            made.setAnchor(True)
            made.setAnchorHref(link)
            made.setForeground(self._look.accent)
            made.setFontUnderline(True)
        self[kind] = made
        return made


def _bold(text: QTextCharFormat, size: float) -> QTextCharFormat:
    made = QTextCharFormat(text)
    made.setFontPointSize(text.fontPointSize() * size)
    made.setFontWeight(QFont.Weight.DemiBold)
    return made


def _coloured(text: QTextCharFormat, look: Look) -> QTextCharFormat:
    made = QTextCharFormat(text)
    made.setForeground(look.dim)
    return made


def _code(text: QTextCharFormat) -> QTextCharFormat:
    made = QTextCharFormat(text)
    letters = QFont()
    letters.setFeature(QFont.Tag("calt"), 0)  # no ligature for "->"
    made.setFont(letters, QTextCharFormat.FontPropertiesInheritanceBehavior.FontPropertiesSpecifiedOnly)
    made.setFontFamilies([CODE_FAMILY])
    made.setFontStyleHint(QFont.StyleHint.Monospace)
    made.setFontFixedPitch(True)
    made.setFontPointSize(text.fontPointSize() * CODE_SIZE)
    return made


def paragraph_format(body: QTextBlockFormat, paragraph: Paragraph, step: float, strip: float) -> QTextBlockFormat:
    """Returns the block format of a paragraph.

    - `body`: the block format of plain paragraphs
    - `step`: indentation per list level, in pixels
    - `strip`: height of the header line above code, in pixels
    """
    if paragraph.look == "text" and not paragraph.quote:
        return body
    made = QTextBlockFormat(body)
    made.setBottomMargin(PARAGRAPH_GAP)
    made.setTopMargin(PARAGRAPH_GAP if paragraph.quote else 0.0)
    left = body.leftMargin() + QUOTE_INDENT * paragraph.quote
    match paragraph.look:
        case "heading":
            made.setTopMargin(PARAGRAPH_GAP)
            made.setBottomMargin(ITEM_GAP)
        case "item":
            left += step * paragraph.level
            if any(kind == "marker" for _, kind in paragraph.runs):
                made.setTextIndent(-step)
                made.setTabPositions([QTextOption.Tab(step, QTextOption.TabType.LeftTab)])
            made.setTopMargin(0.0)
            made.setBottomMargin(PARAGRAPH_GAP if paragraph.last else ITEM_GAP)
        case "code":
            left += CODE_PAD
            made.setRightMargin(body.rightMargin() + CODE_PAD)
            made.setTopMargin(strip + PARAGRAPH_GAP)
            made.setBottomMargin(CODE_PAD + ITEM_GAP)
            made.setLineHeight(120.0, _HEIGHT)
        case "rule" | "end":
            made.setLineHeight(1.0, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
            made.setTopMargin(PARAGRAPH_GAP if paragraph.look == "rule" else 0.0)
            made.setBottomMargin(2 * PARAGRAPH_GAP if paragraph.look == "rule" else 0.0)
    made.setLeftMargin(left)
    return made


def table_format(body: QTextBlockFormat, widths: Sequence[float]) -> QTextTableFormat:
    """Returns the format of a table whose columns have these widths, in pixels."""
    made = QTextTableFormat()
    made.setLeftMargin(body.leftMargin())
    made.setRightMargin(body.rightMargin())
    made.setTopMargin(0)
    made.setBottomMargin(PARAGRAPH_GAP + ITEM_GAP)
    made.setBorder(0)
    made.setBorderCollapse(True)
    made.setCellPadding(0)
    made.setCellSpacing(0)
    made.setHeaderRowCount(1)
    made.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_None)
    made.setColumnWidthConstraints([QTextLength(QTextLength.Type.FixedLength, width) for width in widths])
    return made


def cell_format(look: Look, *, head: bool) -> QTextTableCellFormat:
    """Returns the format of a table cell. `head`: whether the cell is in the first row."""
    made = QTextTableCellFormat()
    made.setLeftPadding(CELL_LEFT)
    made.setRightPadding(CELL_RIGHT)
    made.setTopPadding(CELL_PAD)
    made.setBottomPadding(CELL_PAD)
    made.setBottomBorder(1)
    made.setBottomBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    made.setBottomBorderBrush(QBrush(look.dim if head else look.line))
    return made


def cell_paragraph(align: Align) -> QTextBlockFormat:
    """Returns the block format of the text in a table cell."""
    made = QTextBlockFormat()
    made.setAlignment(_ALIGNS[align])
    made.setLineHeight(112.0, _HEIGHT)
    return made
