"""Fits tables into a card: columns as wide as their words need, or a list where not even these have room."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from app.gui.cards.card import Run
from app.gui.cards.elements import Paragraph, Table

CELL_LEFT, CELL_RIGHT, CELL_PAD = 8.0, 16.0, 5.0
"""Between a cell's text and its edges: left, right, above and below."""

Measure = Callable[[str, str], float]
"""The width in pixels of a text of a kind."""


def column_widths(table: Table, measure: Measure, room: float) -> tuple[float, ...] | None:
    """Returns the widths of the columns in `room` pixels; None if a word would have to be broken.

    Each has room for its longest word; what is left goes to those with long lines.
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
    """Yields a table row by row: its first cell, and below it the others with the headings of their columns."""
    heads, *rows = table.rows
    for row in rows:
        yield Paragraph(tuple(_in_bold(row[0])), "heading", 3)
        for head, cell in zip(heads[1:], row[1:], strict=True):
            if cell:
                yield Paragraph((("•\t", "marker"), *head, (": ", "cell"), *cell), "item", 1)


def _in_bold(cell: tuple[Run, ...]) -> Iterator[Run]:
    return ((text, kind.replace("text", "cell", 1)) for text, kind in cell)


def _width(cell: tuple[Run, ...], measure: Measure) -> float:
    return sum(measure(text, kind) for text, kind in cell)


def _longest_word(cell: tuple[Run, ...], measure: Measure) -> float:
    return max((measure(word, kind) for text, kind in cell for word in text.split()), default=0.0)
