"""The content of a card: its kinds of text, its body of paragraphs, code and tables, and changes of its runs of text.

A change touches only the letters that differ: a growing text is only appended to, a new format changes no text, and a
selection in what stays survives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import cycle
from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontInfo,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)

from app.gui.design.look import Look, blend
from app.gui.design.plain import shortened

ElementLook = Literal["text", "heading", "item", "code", "rule", "end"]
"""Of a paragraph. `end`: a thin one that follows code or a table at a body's end."""
Align = Literal["left", "center", "right"]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph. `level`: of a heading, or the depth of a list's item from 1. `last`: of a list. `quote`: the depth
    of the quote that it is in. `language`: of code. `source`: what is copied of code as a whole.
    """

    runs: tuple[Run, ...] = ()
    look: ElementLook = "text"
    level: int = 0
    quote: int = 0
    last: bool = False
    language: str = ""
    source: str = ""

    @property
    def blocks(self) -> int:
        """How many blocks of a document it takes."""
        return 1

    @property
    def text(self) -> str:
        """Its letters."""
        return "".join(text for text, _ in self.runs)

    @property
    def code(self) -> str:
        """The lines of code."""
        return "\n".join(self.source.split("\n")[1:-1])

    @property
    def looks(self) -> tuple[object, ...]:
        """What its format depends on."""
        return self.look, self.level, self.quote, self.last

    def followed_by(self, runs: tuple[Run, ...]) -> Paragraph:
        """The same with more runs at its end."""
        return replace(self, runs=self.runs + runs)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: rows of cells, the first of which are headings. `source`: what is copied of it as a whole."""

    rows: tuple[tuple[tuple[Run, ...], ...], ...]
    aligns: tuple[Align, ...]
    source: str = ""

    @property
    def blocks(self) -> int:
        """How many blocks of a document it takes: one for each cell, and an empty one before and after."""
        return len(self.rows) * len(self.aligns) + 2


Element = Paragraph | Table


PIECE = 31
APART = "apart"
"""The kind of every second piece of a text."""


def qt_length(text: str) -> int:
    """The length of `text` in a Qt document, which counts in UTF-16."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def in_pieces(runs: Iterable[Run]) -> Iterator[Run]:
    """Cuts plain text between words into pieces of `PIECE` letters, whose formats look the same but differ.

    For each paragraph Qt 6.11 keeps 40 bytes for each letter of its longest stretch in one format. Text without spaces
    stays whole.
    """
    for text, kind in runs:
        if kind != "text" or len(text) <= PIECE:
            yield text, kind
            continue
        start, kinds = 0, cycle(("text", APART))
        while len(text) - start > PIECE:
            end = text.rfind(" ", start + 1, start + PIECE) + 1 or text.find(" ", start + PIECE) + 1
            if not end:
                break
            yield text[start:end], next(kinds)
            start = end
        yield text[start:], next(kinds)


@contextmanager
def laid_out_once(document: QTextDocument) -> Iterator[None]:
    """Lays out all changes in its block together, from the first place to the last."""
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    try:
        yield
    finally:
        cursor.endEditBlock()


def write_runs(
    block: QTextBlock, before: tuple[Run, ...], after: tuple[Run, ...], kinds: Mapping[str, QTextCharFormat]
) -> None:
    """Changes a paragraph from the runs `before` to those `after`, in the formats of their `kinds`."""
    before, after = tuple(in_pieces(before)), tuple(in_pieces(after))
    old, new = "".join(text for text, _ in before), "".join(text for text, _ in after)
    shared = _shared_letters(old, new)
    cursor = QTextCursor(block)
    for start, end, kind in _new_looks(before, after, shared):
        cursor.setPosition(block.position() + qt_length(new[:start]))
        cursor.setPosition(block.position() + qt_length(new[:end]), QTextCursor.MoveMode.KeepAnchor)
        cursor.setCharFormat(kinds[kind])
    cursor.setPosition(block.position() + qt_length(new[:shared]))
    if shared < len(old):
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
    start = 0
    for text, kind in after:
        rest = text[max(0, shared - start) :]
        start += len(text)
        if rest:
            cursor.insertText(rest, kinds[kind])


def _new_looks(before: tuple[Run, ...], after: tuple[Run, ...], shared: int) -> Iterator[tuple[int, int, str]]:
    """The stretches of the first `shared` letters whose kind has changed: from, to, kind."""
    olds = [(len(text), kind) for text, kind in reversed(before) if text]
    place = 0
    for text, kind in after:
        end = min(place + len(text), shared)
        while place < end:
            length, old = olds.pop()
            step = min(length, end - place)
            if step < length:
                olds.append((length - step, old))
            if old != kind:
                yield place, place + step, kind
            place += step


def _shared_letters(a: str, b: str) -> int:
    """The length of the common beginning."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


Run = tuple[str, str]
"""A text and its kind: a key of `text_formats`."""

GAP, PAD, SIDE, ROUND = 7.0, 8.0, 12.0, 8.0
INDENT = 48.0
BODY = 15 / 13
"""The size of what is said, of the size of controls."""
STEP = 16.0
LONGEST_BODY, LONGEST_HEAD = 20_000, 2_000
"""The most letters that are shown of a body, and of each run of a head: to lay out one long word takes Qt the square of
its length.
"""
_CUT = 4_000
"""Letters by which the beginning of a growing body is cut: all that is left is written again each time."""
LINE_BREAK = "\u2028"
_NO_TEXT = dict.fromkeys("\0\ufdd0\ufdd1\ufffc", " ")
_ONE_PARAGRAPH = str.maketrans(dict.fromkeys("\n\r\x0b\x0c\x85\u2029", LINE_BREAK) | _NO_TEXT)
_LINES = str.maketrans(dict.fromkeys("\r\x0b\x0c\x85\u2029", "\n") | _NO_TEXT)


@dataclass(frozen=True, slots=True)
class Card:
    """The content of a card. `style` is `user`, `assistant`, `plain`, `live`, `beside`, `calm`, `quiet` or `divider`.

    `written`: Markdown that comes before the runs of the body. `quote`: words on a line of their own between head and
    body, of which the last ones that fit are shown. `caret`: a mark is painted after so many letters of a body without
    Markdown; -1 for none. `tip`: the tooltip.
    """

    head: tuple[Run, ...]
    body: tuple[Run, ...]
    style: str
    quote: str = ""
    caret: int = -1
    tip: str = ""
    written: str = ""

    def clean(self) -> Card:
        """Returns the card without characters that would start another paragraph, and no longer than can be shown: of
        the body the end, where a growing one has its newest words.
        """
        card = self
        if (length := sum([len(text) for text, _ in self.body])) > LONGEST_BODY:
            gone = -((LONGEST_BODY - length) // _CUT) * _CUT
            card = replace(card, body=_without_beginning(self.body, gone), caret=max(-1, self.caret - gone + 1))
        if len(self.written) > LONGEST_BODY:
            card = replace(card, written=shortened(self.written, LONGEST_BODY))
        quote = " ".join(shortened(self.quote, LONGEST_HEAD).split())
        head = tuple([(shortened(text, LONGEST_HEAD), kind) for text, kind in self.head])
        return replace(card, head=_clean(head), body=_clean(card.body), quote=quote)


def clean_text(text: str) -> str:
    """Returns a text of several lines without characters that mean something to a document."""
    return text.replace("\r\n", "\n").translate(_LINES)


def _clean(runs: tuple[Run, ...]) -> tuple[Run, ...]:
    return tuple([(text.replace("\r\n", "\n").translate(_ONE_PARAGRAPH), kind) for text, kind in runs])


def _without_beginning(runs: tuple[Run, ...], letters: int) -> tuple[Run, ...]:
    for place, (text, kind) in enumerate(runs):
        if len(text) > letters:
            return ((f"…{text[letters:]}", kind), *runs[place + 1 :])
        letters -= len(text)
    return ()


def text_formats(look: Look, font: QFont, scale: float = 1.0) -> dict[str, QTextCharFormat]:
    """Returns the format of each kind of text in these colours, relative to this font; `scale` is the body's."""
    size = QFontInfo(font).pointSizeF()

    def kind(
        colour: QColor,
        part: float = 1.0,
        *,
        italic: bool = False,
        struck: bool = False,
        bold: bool = False,
        under: QColor | None = None,
    ) -> QTextCharFormat:
        made = QTextCharFormat()
        made.setForeground(colour)
        made.setFontPointSize(size * part)
        made.setFontItalic(italic)
        made.setFontStrikeOut(struck)
        made.setFontWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
        if under is not None:
            made.setBackground(under)
        return made

    gap = kind(look.dim, 0.88)
    gap.setFontLetterSpacingType(QFont.SpacingType.AbsoluteSpacing)
    gap.setFontLetterSpacing(1.0)
    return {
        "text": kind(look.text, BODY * scale),
        "heard": kind(look.text, BODY * scale, under=blend(look.live_card, look.accent, 0.22 if look.dark else 0.16)),
        "still": kind(blend(look.text, look.base, 0.42), BODY * scale),
        "unstable": kind(look.dim, BODY, italic=True),
        "said": kind(look.text, 1.0),
        "struck": kind(look.dim, struck=True),
        "hint": kind(look.dim, 0.92 * scale, italic=True),
        "name": kind(look.accent, 0.92, bold=True),
        "who": kind(look.text, 0.92),
        "dim": kind(look.dim, 0.88),
        "gap": gap,
        "fact": kind(look.dim, 0.84),
        "quote": kind(look.dim, 0.88, italic=True),
        "bad": kind(look.bad, 0.88, bold=True),
        "beside": kind(look.dim, 1.0),
        "tool": kind(look.accent, 0.88),
        "count": kind(look.dim, 0.82),
        "chip": kind(look.base, 0.84, bold=True),
        "chip_dim": kind(look.dim, 0.84),
        "chip_mark": kind(look.accent, 0.84, bold=True),
        "chip_bad": kind(look.bad, 0.84, bold=True),
    }


def chip_fills(look: Look) -> dict[str, QColor]:
    """Returns the colour of the chip behind each kind of text that has one."""
    quiet = blend(look.base, look.text, 0.13)
    return {
        "chip": look.accent,
        "chip_dim": quiet,
        "chip_mark": blend(look.base, look.accent, 0.22),
        "chip_bad": blend(look.base, look.bad, 0.18),
    }


@lru_cache(maxsize=64)
def block_formats(
    style: str, quote_height: float = 0.0, side: float = SIDE
) -> tuple[QTextBlockFormat, QTextBlockFormat]:
    """Returns the paragraph formats of head and body, which are not to be changed. `quote_height`: room between them;
    `side`: beside the card.
    """
    head, body = QTextBlockFormat(), QTextBlockFormat()
    for block_format in (head, body):
        block_format.setLeftMargin(side + PAD + {"user": INDENT, "beside": STEP}.get(style, 0.0))
        block_format.setRightMargin(side + PAD + (INDENT if style == "assistant" else 0))
    head.setTopMargin(GAP + 2 * PAD)
    head.setBottomMargin(2 + quote_height)
    if style not in ("user", "assistant", "divider"):
        head.setLineHeight(120.0, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    body.setBottomMargin(PAD)
    body.setLineHeight(130.0 if style == "quiet" else 112.0, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    if style == "divider":
        head.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        body.setLineHeight(1.0, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    return head, body
