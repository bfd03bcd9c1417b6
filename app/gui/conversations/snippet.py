"""Shortens the text in which a search has found something, so that its first match is in view."""

from __future__ import annotations

from itertools import accumulate

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics

from app.gui.cards.runs import qt_length
from app.gui.design.plain import elided

_ONE_LINE = str.maketrans("\n\r\t\u2028\u2029", "     ")


def shortened(snippet: str, metrics: QFontMetrics, width: int) -> tuple[str, list[tuple[int, int]]]:
    """A snippet on one line of `width` pixels with its first match in view, and the matches as (start, length) in
    UTF-16 units.
    """
    pieces = snippet.translate(_ONE_LINE).replace("\x03", "\x02").split("\x02")
    text = "".join(pieces)
    ends = list(accumulate(len(piece) for piece in pieces))
    matches = [(ends[place - 1], ends[place]) for place in range(1, len(pieces), 2)]
    cut = 0
    if matches and metrics.horizontalAdvance(text[: matches[0][1]]) > width * 2 // 3:
        first, last = matches[0]
        # As many whole words before the match as leave it in the left part, or none.
        while cut < first and metrics.horizontalAdvance("…" + text[cut:last]) > max(width // 2, 1):
            space = text.find(" ", cut, first)
            cut = first if space < 0 else space + 1
    lead = "…" if cut else ""
    whole = lead + text[cut:]
    line = elided(metrics, whole, Qt.TextElideMode.ElideRight, width)
    kept = len(whole) if line == whole else len(line) - 1
    places = []
    for first, last in matches:
        first, last = first - cut + len(lead), min(last - cut + len(lead), kept)
        if len(lead) <= first < last:
            places.append((qt_length(line[:first]), qt_length(line[first:last])))
    return line, places
