"""A card's content and the kinds of text in it: plain data, and the formats that show them."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QTextBlockFormat, QTextCharFormat

from app.gui.look import Look

Run = tuple[str, str]
"""Some text and the kind of its look: a key of `text_formats`."""

GAP, PAD, SIDE, ROUND = 7.0, 8.0, 12.0, 8.0
INDENT = 48.0
STEP = 16.0
LINE_BREAK = "\u2028"
_ONE_PARAGRAPH = str.maketrans(
    dict.fromkeys("\n\r\x0b\x0c\x85\u2029", LINE_BREAK) | dict.fromkeys("\0\ufdd0\ufdd1", " ")
)


@dataclass(frozen=True, slots=True)
class Card:
    """What a card shows. `style` is `user`, `assistant`, `plain`, `live`, `beside` or `divider`."""

    head: tuple[Run, ...]
    body: tuple[Run, ...]
    style: str

    def clean(self) -> Card:
        """The card without characters that would begin a paragraph: head and body are one each."""
        return Card(_clean(self.head), _clean(self.body), self.style)


def _clean(runs: tuple[Run, ...]) -> tuple[Run, ...]:
    return tuple((text.replace("\r\n", "\n").translate(_ONE_PARAGRAPH), kind) for text, kind in runs)


def text_formats(look: Look, font: QFont) -> dict[str, QTextCharFormat]:
    """The format of each kind of text, in these colours and sizes about this font."""
    size = QFontInfo(font).pointSizeF()

    def kind(
        colour: QColor, scale: float = 1.0, *, italic: bool = False, struck: bool = False, bold: bool = False
    ) -> QTextCharFormat:
        made = QTextCharFormat()
        made.setForeground(colour)
        made.setFontPointSize(size * scale)
        made.setFontItalic(italic)
        made.setFontStrikeOut(struck)
        made.setFontWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
        return made

    return {
        "text": kind(look.text, 1.08),
        "unstable": kind(look.dim, 1.08, italic=True),
        "struck": kind(look.dim, struck=True),
        "aside": kind(look.dim, 0.92, italic=True),
        "name": kind(look.accent, 0.92, bold=True),
        "dim": kind(look.dim, 0.88),
        "mark": kind(look.accent, 0.88, bold=True),
        "bad": kind(look.bad, 0.88, bold=True),
        "beside": kind(look.dim, 1.0),
        "tool": kind(look.accent, 0.88),
        "count": kind(look.dim, 0.82),
    }


def block_formats(style: str) -> tuple[QTextBlockFormat, QTextBlockFormat]:
    """The paragraph formats of a card's head and body."""
    head, body = QTextBlockFormat(), QTextBlockFormat()
    for block_format in (head, body):
        block_format.setLeftMargin(SIDE + PAD + {"user": INDENT, "beside": STEP}.get(style, 0.0))
        block_format.setRightMargin(SIDE + PAD + (INDENT if style == "assistant" else 0))
    head.setTopMargin(GAP + 2 * PAD)
    head.setBottomMargin(2)
    body.setBottomMargin(PAD)
    body.setLineHeight(112.0, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    if style == "divider":
        head.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        body.setLineHeight(1.0, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    return head, body
