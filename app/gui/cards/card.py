"""The content of a card, its text formats, and minimal edits to its text in a document.

Edits only touch the characters that differ: streamed text is appended, and changing a format doesn't replace any text.
Selections within unchanged text are therefore preserved.
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
"""The appearance of a paragraph. `end`: the thin paragraph after code, a rule or a table that ends a body."""
Align = Literal["left", "center", "right"]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a body.

    - `level`: heading level, or nesting depth of a list item, from 1
    - `quote`: depth of block quotes around it
    - `last`: whether it is the last item of a list
    - `language`: for code, the language named after the opening fence
    - `source`: for code, the Markdown that is copied if the whole block is selected
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
        """Number of document blocks it occupies."""
        return 1

    @property
    def text(self) -> str:
        """The plain text of all runs."""
        return "".join(text for text, _ in self.runs)

    @property
    def code(self) -> str:
        """The code from `source`, without its fences."""
        return "\n".join(self.source.split("\n")[1:-1])

    @property
    def looks(self) -> tuple[object, ...]:
        """The fields that determine the block format."""
        return self.look, self.level, self.quote, self.last

    def followed_by(self, runs: tuple[Run, ...]) -> Paragraph:
        """Returns a copy with `runs` appended."""
        return replace(self, runs=self.runs + runs)


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first row contains the headings.

    `source`: the Markdown that is copied if the entire table is selected.
    """

    rows: tuple[tuple[tuple[Run, ...], ...], ...]
    aligns: tuple[Align, ...]
    source: str = ""

    @property
    def blocks(self) -> int:
        """Number of document blocks it occupies: one per cell, plus an empty one before and after the table."""
        return len(self.rows) * len(self.aligns) + 2


Element = Paragraph | Table


PIECE = 31
APART = "apart"
"""The kind that `in_pieces` assigns to every second piece."""


def qt_length(text: str) -> int:
    """Returns the length of `text` in UTF-16 code units, which is how QTextDocument counts positions."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def in_pieces(runs: Iterable[Run]) -> Iterator[Run]:
    """Splits plain text at spaces into pieces of up to about `PIECE` characters, alternating between two kinds.

    This saves memory: for each paragraph, Qt 6.11 allocates 40 bytes per character of its longest fragment with a
    uniform format. The formats of the two kinds differ, but look the same. Words are never split.
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
    """A context manager that batches changes, so that the document is laid out only once, at the end."""
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    try:
        yield
    finally:
        cursor.endEditBlock()


def write_runs(
    block: QTextBlock, before: tuple[Run, ...], after: tuple[Run, ...], kinds: Mapping[str, QTextCharFormat]
) -> None:
    """Changes a paragraph's runs from `before` to `after`. `kinds` maps each kind of text to its format."""
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
    """Yields (start, end, kind) for each range within the first `shared` characters whose kind has changed."""
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
    """Returns the length of the common prefix of `a` and `b`."""
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
"""A piece of text and its kind, which is a key of `Formats`."""

GAP, PAD, SIDE, ROUND = 7.0, 8.0, 12.0, 8.0
INDENT = 48.0
BODY = 15 / 13
"""Font size of body text relative to that of controls."""
STEP = 16.0
LONGEST_BODY, LONGEST_HEAD = 20_000, 2_000
"""Maximum number of characters displayed of a body, and of each run of a head.

The limits bound Qt's layout time, which grows quadratically with the length of a single word.
"""
_CUT = 4_000
"""A body that exceeds its limit is truncated at the start, in steps of this number of characters.

The steps keep truncation rare, because each one rewrites the entire remaining text.
"""
LINE_BREAK = "\u2028"
_NO_TEXT = dict.fromkeys("\0\ufdd0\ufdd1\ufffc", " ")
_ONE_PARAGRAPH = str.maketrans(dict.fromkeys("\n\r\x0b\x0c\x85\u2029", LINE_BREAK) | _NO_TEXT)
_LINES = str.maketrans(dict.fromkeys("\r\x0b\x0c\x85\u2029", "\n") | _NO_TEXT)


@dataclass(frozen=True, slots=True)
class Card:
    """The content of a card.

    - `style`: `user`, `assistant`, `plain`, `live`, `beside`, `calm`, `quiet` or `divider`
    - `quote`: text on a separate line between head and body, elided at its start
    - `caret`: position of a painted caret in a body without Markdown, in characters; -1 for no caret
    - `tip`: tooltip
    - `written`: Markdown displayed before the runs of the body
    """

    head: tuple[Run, ...]
    body: tuple[Run, ...]
    style: str
    quote: str = ""
    caret: int = -1
    tip: str = ""
    written: str = ""

    def clean(self) -> Card:
        """Returns a copy with text truncated to the limits, and without characters that would start a new paragraph.

        The body's runs are truncated at the start, because new words of a growing text are appended at its end.
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
    """Normalises line breaks and replaces characters that have a special meaning in a `QTextDocument`."""
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
    """Returns the character format of each kind of text.

    Sizes are relative to that of `font`; the sizes of body text are also multiplied by `scale`.
    """
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
        "ghost": kind(look.dim, BODY, italic=True),
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
    """Returns the background colours of chips, keyed by kind of text."""
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
    """Returns the block formats of a card's head and body. They are cached and must not be modified.

    `quote_height`: space reserved for the quote. `side`: margin on either side of the card. Both are in pixels.
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
