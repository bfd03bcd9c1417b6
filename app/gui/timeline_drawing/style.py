"""Defines the timeline's colours and fonts, and how its lanes share the height."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPalette

from app.gui.design.look import Look, blend
from app.gui.design.model_colours import model_colour
from app.gui.timeline_data.spans import Lane

COMPACT_PX = 130
"""Below this height, words and labels are small and in one row."""
ROOMY_PX = 200
GAP_PX = 2.0
MOST_WIDTHS = 2_000
"""How many widths are remembered. Each request has its own number, so there is no natural end."""


@dataclass(frozen=True, slots=True)
class Colours:
    """Colours by what they are for; all stand out from `ground` by 3 : 1 at least, and what is read by 4.5 : 1."""

    ground: QColor
    band: QColor
    text: QColor
    dim: QColor
    line: QColor
    user: QColor
    user_band: QColor
    assistant: QColor
    assistant_band: QColor
    warn: QColor
    bad: QColor
    now: QColor
    dark: bool

    @classmethod
    def of(cls, palette: QPalette) -> Colours:
        """The colours that go with `palette`."""
        look = Look.of(palette)
        user = QColor("#63c784" if look.dark else "#1b7439")
        assistant = QColor("#b79cf0" if look.dark else "#6a3fb0")
        return cls(
            ground=look.base,
            band=blend(look.base, look.text, 0.035),
            text=look.text,
            dim=look.dim,
            line=look.line,
            user=user,
            user_band=blend(look.base, user, 0.16),
            assistant=assistant,
            assistant_band=blend(look.base, assistant, 0.16),
            warn=look.warn if look.dark else blend(look.warn, look.text, 0.35),
            bad=look.bad,
            now=look.accent,
            dark=look.dark,
        )

    def backend(self, backend: tuple[str, str]) -> QColor:
        """The colour of a model."""
        return model_colour(*backend, self.dark)

    def on(self, colour: QColor) -> QColor:
        """A colour that is readable on a bar of `colour`."""
        light = 0.299 * colour.redF() + 0.587 * colour.greenF() + 0.114 * colour.blueF()
        return QColor("#101010") if light > 0.5 else QColor("#ffffff")


class Letters:
    """The timeline's fonts, with a cache of the widths of words."""

    def __init__(self, font: QFont, compact: bool) -> None:
        size = max(7.0, font.pointSizeF() * (0.8 if compact else 0.88)) if font.pointSizeF() > 0 else 8.0
        self.font = QFont(font)
        self.font.setPointSizeF(size)
        self.font.setStretch(QFont.Stretch.SemiCondensed)  # half a minute of words must fit under its sound
        self.italic = QFont(self.font)
        self.italic.setItalic(True)
        self.metrics = QFontMetricsF(self.font)
        self.height = float(round(self.metrics.ascent() + self.metrics.descent()))
        self.ascent = self.metrics.ascent()
        self._widths: dict[str, float] = {}

    def width(self, text: str) -> float:
        """The width of a text in pixels."""
        width = self._widths.get(text)
        if width is None:
            if len(self._widths) >= MOST_WIDTHS:
                self._widths.clear()
            width = self._widths[text] = self.metrics.horizontalAdvance(text)
        return width


@dataclass(frozen=True, slots=True)
class Strip:
    """A lane's place: its upper edge and its height, in pixels."""

    top: float
    height: float

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height

    @property
    def middle(self) -> float:
        """The height half way down."""
        return self.top + self.height / 2


@dataclass(frozen=True, slots=True)
class Lanes:
    """Where each lane is, from top to bottom. `said`: the assistant's words, below its sound; `axis`: the time."""

    height: float
    word_rows: int
    said_rows: int
    backend_rows: int
    secondary_rows: int
    strips: dict[Lane, Strip]
    said: Strip
    axis: Strip
    order: tuple[Lane, ...] = field(default=())

    @classmethod
    def of(cls, height: float, letters: Letters, has_secondary: bool) -> Lanes:
        """Divides `height` pixels among the lanes; with `has_secondary`, there is one for the secondary back-end."""
        compact = height < COMPACT_PX
        roomy = height >= ROOMY_PX
        word_rows = 1 if compact else 2
        said_rows = 1 if compact else 3 if roomy else 2
        backend_rows = 3 if roomy else 2
        secondary_rows = 1 if compact else 2
        words, said_tall = word_rows * letters.height, said_rows * letters.height
        axis = letters.height + 2
        shares: dict[Lane, float] = {"you": 1.0, "backend": 2.0, "oracle": 0.7, "kame": 1.0, "trouble": 0.6}
        if has_secondary:
            shares["secondary"] = 1.3
        order: tuple[Lane, ...] = ("you", "words", "backend", "secondary", "oracle", "kame", "trouble")
        order = tuple(lane for lane in order if lane in shares or lane == "words")
        free = max(20.0, height - axis - words - said_tall - GAP_PX * len(order))
        unit = free / sum(shares.values())
        strips: dict[Lane, Strip] = {}
        top, said = 0.0, Strip(0, 0)
        for lane in order:
            tall = words if lane == "words" else float(round(unit * shares[lane]))
            strips[lane] = Strip(top, tall)
            top += tall
            if lane == "kame":
                said = Strip(top, said_tall)
                top += said_tall
            top += GAP_PX
        time = Strip(height - axis, axis)
        return cls(height, word_rows, said_rows, backend_rows, secondary_rows, strips, said, time, order)

    def lane_at(self, y: float) -> Lane | None:
        """The lane at a height; None on the time's."""
        for lane, strip in self.strips.items():
            bottom = self.said.bottom if lane == "kame" else strip.bottom
            if strip.top - GAP_PX <= y < bottom:
                return lane
        return None
