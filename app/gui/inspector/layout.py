"""Decides how the timeline looks: its colours and letters, where its lanes are, and where each word goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPalette

from app.gui.design.look import Look, blend
from app.gui.design.model_colours import model_colour
from app.gui.inspector.things import Backend, Word

Lane = Literal["you", "words", "backend", "secondary", "oracle", "kame", "trouble"]

COMPACT_PX = 130
"""Below this height, words and labels are small and in one row."""
ROOMY_PX = 200
GAP_PX = 2.0
MOST_WIDTHS = 2_000
"""How many widths are remembered. Each request has its own number, so there is no natural end."""
LATEST_PX = 60.0
"""A word may be so far behind its sound; beyond that it goes into another row, or is replaced by “…”."""
READY_PX = 22.0
"""A word that starts a new row must be so near to its sound."""
MORE = "…"


class Colours:
    """Colours by what they are for; `backend` returns that of a model.

    All stand out from `ground` by 3 : 1 at least, and what is read by 4.5 : 1.
    """

    def __init__(self, palette: QPalette) -> None:
        look = Look.of(palette)
        self.dark = look.dark
        self.ground, self.text, self.dim, self.line = look.base, look.text, look.dim, look.line
        self.band = blend(look.base, look.text, 0.035)
        self.user = QColor("#63c784" if look.dark else "#1b7439")
        self.assistant = QColor("#b79cf0" if look.dark else "#6a3fb0")
        self.user_band = blend(look.base, self.user, 0.16)
        self.assistant_band = blend(look.base, self.assistant, 0.16)
        self.warn = look.warn if look.dark else blend(look.warn, look.text, 0.35)
        self.bad, self.now = look.bad, look.accent
        self.backend: Callable[[Backend], QColor] = cache(self._backend)

    def _backend(self, backend: Backend) -> QColor:
        return model_colour(*backend, self.dark) if any(backend) else self.dim

    def on(self, colour: QColor) -> QColor:
        """A colour that is readable on a bar of `colour`."""
        light = 0.299 * colour.redF() + 0.587 * colour.greenF() + 0.114 * colour.blueF()
        return QColor("#101010") if light > 0.5 else QColor("#ffffff")


class Letters:
    """The timeline's fonts. `width` returns the width of a text in pixels."""

    def __init__(self, font: QFont, compact: bool) -> None:
        size = max(7.0, font.pointSizeF() * (0.8 if compact else 0.88)) if font.pointSizeF() > 0 else 8.0
        self.font = QFont(font)
        self.font.setPointSizeF(size)
        self.font.setStretch(QFont.Stretch.SemiCondensed)  # half a minute of words must fit under its sound
        self.italic = QFont(self.font)
        self.italic.setItalic(True)
        metrics = QFontMetricsF(self.font)
        self.ascent, self.descent = metrics.ascent(), metrics.descent()
        self.height = float(round(self.ascent + self.descent))
        self.width: Callable[[str], float] = lru_cache(MOST_WIDTHS)(metrics.horizontalAdvance)


class Strip(NamedTuple):
    """A lane's place: its upper edge and its height, in pixels."""

    top: float
    height: float

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height

    @property
    def middle(self) -> float:
        """The height halfway down."""
        return self.top + self.height / 2


class Lanes:
    """Divides `height` pixels among the lanes, from top to bottom.

    `strips`: the place of each lane; that of the secondary back-end is only there if it was asked.
    `said`: the assistant's words, below its sound. `axis`: the time.
    `rows`: in how many rows the requests or words of a lane are shown.
    """

    def __init__(self, height: float, letters: Letters, has_secondary: bool) -> None:
        compact, roomy = height < COMPACT_PX, height >= ROOMY_PX
        self.rows: dict[Lane, int] = {
            "words": 1 if compact else 2,
            "backend": 3 if roomy else 2,
            "secondary": 1 if compact else 2,
            "kame": 1 if compact else 3 if roomy else 2,
        }
        shares: dict[Lane, float] = {"you": 1.0, "words": 0.0, "backend": 2.0}
        if has_secondary:
            shares["secondary"] = 1.3
        shares |= {"oracle": 0.7, "kame": 1.0, "trouble": 0.6}
        words, said = self.rows["words"] * letters.height, self.rows["kame"] * letters.height
        self.axis = Strip(height - letters.height - 2, letters.height + 2)
        unit = max(20.0, self.axis.top - words - said - GAP_PX * len(shares)) / sum(shares.values())
        self.strips: dict[Lane, Strip] = {}
        top = 0.0
        for lane, share in shares.items():
            strip = self.strips[lane] = Strip(top, words if lane == "words" else float(round(unit * share)))
            top = strip.bottom
            if lane == "kame":
                self.said = Strip(top, said)
                top += said
            top += GAP_PX


class Layout(NamedTuple):
    """What decides where and how something is painted.

    `scale`: pixels a second. `ratio`: device pixels a pixel. `interrupted`: the label of an answer that the user cut
    short.
    """

    colours: Colours
    letters: Letters
    lanes: Lanes
    scale: float
    ratio: float
    interrupted: str


class Placed(NamedTuple):
    """A word's left end in pixels, and its row."""

    x: float
    row: int
    text: str
    settled: bool


def flow(
    words: Sequence[Word], scale: float, width_of: Callable[[str], float], rows: int, limit: float = float("inf")
) -> list[Placed]:
    """Places words under their sound in one or more rows, so that none covers another.

    `scale`: pixels a second. Words beyond the pixel `limit` are left out. A placed word never moves when others follow.
    """
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
        if not skipping and at + width <= limit:
            placed.append(Placed(at, row, word.text, word.settled))
            ends[row] = at + width
        elif placed and placed[-1].text != MORE:
            last = placed[-1].row
            if ends[last] <= limit:
                placed.append(Placed(ends[last], last, MORE, word.settled))
            ends[last] += width_of(MORE)
    return placed
