"""Places words under their sound in one or more rows, so that none covers another.

A placed word never moves when others follow, so what has been painted stays valid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.gui.timeline_data.spans import Word

LATEST_PX = 60.0
"""A word may be so far behind its sound; beyond that it goes into another row, or is replaced by “…”."""
READY_PX = 22.0
"""A word that starts a new row must be so near to its sound."""
MORE = "…"


@dataclass(frozen=True, slots=True)
class Placed:
    """A word's left end in pixels, and its row."""

    x: float
    row: int
    text: str
    settled: bool


def flow(
    words: Sequence[Word], scale: float, width_of: Callable[[str], float], rows: int, limit: float | None = None
) -> list[Placed]:
    """Returns the places of `words`, at `scale` pixels a second, without those beyond the pixel `limit`."""
    space = width_of(" ")
    ends = [float("-inf")] * rows
    placed: list[Placed] = []
    row, skipping = 0, False
    for word in words:
        x, width = word.at * scale, width_of(word.text)
        if all(end + 2 * space < x for end in ends):
            row = 0
        at = max(x, ends[row] + space)
        if skipping or at - x > LATEST_PX:
            # A row is only used if it has room for more than one word: single ones can't be read.
            row = min(range(rows), key=lambda r: ends[r])
            at = max(x, ends[row] + space)
            skipping = at - x > READY_PX
        beyond = limit is not None and at + width > limit
        if not (skipping or beyond):
            placed.append(Placed(at, row, word.text, word.settled))
            ends[row] = at + width
            continue
        if placed and placed[-1].text != MORE:
            last = placed[-1].row
            more = Placed(ends[last], last, MORE, word.settled)
            ends[last] += width_of(MORE)
            if limit is None or ends[last] <= limit + width_of(MORE):
                placed.append(more)
    return placed
