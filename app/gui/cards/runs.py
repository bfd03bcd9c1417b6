"""Changes the runs of text in a paragraph, and touches only the letters that differ.

A growing text is only appended to, a new format changes no text, and a selection in what stays survives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import cycle

from PySide6.QtGui import QTextBlock, QTextCharFormat, QTextCursor, QTextDocument

from app.gui.cards.card import Run

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
