"""The timeline's visual layout: colours, fonts, lane positions and word placement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPalette

from app.gui.design.look import Look, blend
from app.gui.design.model_look import model_colour
from app.gui.inspector.things import Backend, Word

Lane = Literal["you", "words", "backend", "secondary", "oracle", "kame", "trouble"]

COMPACT_PX = 130
"""Below this height, the timeline uses a smaller font and a single row for words."""
ROOMY_PX = 200
GAP_PX = 2.0
MOST_WIDTHS = 2_000
"""Size limit of the text width cache, which would otherwise grow with each new request number."""
LATEST_PX = 60.0
"""Maximum distance of a word from its audio. Beyond it, the word moves to another row or is replaced by "…"."""
READY_PX = 22.0
"""Maximum distance of a word from its audio if it has moved to another row."""
MORE = "…"


class Colours:
    """The timeline's colours, named by role; `backend` returns the colour of a model.

    The contrast ratio against `ground` is at least 3:1, and at least 4.5:1 for text.
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
        return model_colour(*backend)

    def on(self, colour: QColor) -> QColor:
        """Returns a text colour that is readable on `colour`."""
        light = 0.299 * colour.redF() + 0.587 * colour.greenF() + 0.114 * colour.blueF()
        return QColor("#101010") if light > 0.5 else QColor("#ffffff")


class Letters:
    """The timeline's fonts and font metrics. `width` returns the width of a string in pixels."""

    def __init__(self, font: QFont, compact: bool) -> None:
        size = max(7.0, font.pointSizeF() * (0.8 if compact else 0.88)) if font.pointSizeF() > 0 else 8.0
        self.font = QFont(font)
        self.font.setPointSizeF(size)
        self.font.setStretch(QFont.Stretch.SemiCondensed)  # so that half a minute of words fits below its audio
        self.italic = QFont(self.font)
        self.italic.setItalic(True)
        metrics = QFontMetricsF(self.font)
        self.ascent, self.descent = metrics.ascent(), metrics.descent()
        self.height = float(round(self.ascent + self.descent))
        self.width: Callable[[str], float] = lru_cache(MOST_WIDTHS)(metrics.horizontalAdvance)


class Strip(NamedTuple):
    """A lane's top edge and height, in pixels."""

    top: float
    height: float

    @property
    def bottom(self) -> float:
        """The bottom edge."""
        return self.top + self.height

    @property
    def middle(self) -> float:
        """The vertical centre."""
        return self.top + self.height / 2


class Lanes:
    """Divides `height` pixels among the lanes, from top to bottom.

    - `strips`: position of each lane, including that of the secondary back-end if `has_secondary`
    - `said`: position of the assistant's words, below its audio level
    - `axis`: position of the time axis
    - `rows`: number of rows in each lane that shows requests or words
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
    """The parameters that determine where and how an item is painted.

    `scale`: pixels per second. `ratio`: device pixels per logical pixel. `interrupted`: label for an answer that the
    user interrupted.
    """

    colours: Colours
    letters: Letters
    lanes: Lanes
    scale: float
    ratio: float
    interrupted: str


class Placed(NamedTuple):
    """A word placed on the timeline. `x`: its left edge, in pixels."""

    x: float
    row: int
    text: str
    settled: bool


def flow(
    words: Sequence[Word], scale: float, width_of: Callable[[str], float], rows: int, limit: float = float("inf")
) -> list[Placed]:
    """Places words below their audio in up to `rows` rows without overlaps.

    - `scale`: pixels per second
    - `width_of`: returns the width of a string in pixels
    - `limit`: right boundary in pixels; words that would extend beyond it are omitted

    Words that don't fit are replaced by "…". Placed words never move when more words arrive.
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
            # Resume only in a row with room for several words, as isolated ones would be meaningless.
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
