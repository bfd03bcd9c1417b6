"""One side of the demo: its name, what it does, its stopwatch, its sound and its thoughts."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.demo.base import Side
from app.demo.side import SideState
from app.gui.demo.colours import ink, side_ink
from app.gui.demo.fitted_text import FittedText
from app.gui.demo.lights import Lights
from app.gui.demo.stopwatch import Stopwatch
from app.gui.demo.thoughts import ThoughtsView
from app.gui.demo.waveform import Waveform
from app.gui.design.look import blend
from app.gui.design.motion import Glide
from app.gui.design.theme import tokens

STILL_SECONDS = 0.8
"""Behind its answer a side's waveform stands still."""
HEARD_TINT = 0.1
"""How much of its colour a side's ground takes on when it is heard."""


class SideView(QWidget):
    """Shows a `SideState` at any time of its session."""

    def __init__(self, side: Side, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._side = side
        self.setAccessibleName(name)
        self.name = FittedText(self, weight=QFont.Weight.DemiBold)
        self.name.show_text(name)
        self.model = FittedText(self, colour="dim")
        self.lights = Lights(side, self)
        self.stopwatch = Stopwatch(side, self)
        self.waveform = Waveform(side, self)
        self.thoughts = ThoughtsView(side, self)
        self._heard = Glide(lambda _: self.update(), self, milliseconds=tokens().slow_ms)
        unit = tokens().unit
        column = QVBoxLayout(self)
        column.setContentsMargins(4 * unit, 3 * unit, 4 * unit, 3 * unit)
        column.setSpacing(2 * unit)
        parts = ((self.name, 10), (self.model, 4), (self.lights, 9), (self.stopwatch, 30), (self.waveform, 15))
        for widget, share in (*parts, (self.thoughts, 32)):
            column.addWidget(widget, share)

    def show_state(self, state: SideState, now: float) -> None:
        """Shows what the side does at `now`, a time of its session."""
        heard = state.heard is not None and state.heard_at is not None and now >= state.heard_at
        self.lights.show_lit(state.hears, state.thinks, state.speaks)
        self.stopwatch.show_seconds(state.clock(now), stopped=heard)
        silence = None
        if state.end is not None and now >= state.end:
            silence = (state.end, max(state.end, state.heard_at) if heard and state.heard_at else now)
        last = now if state.last_at is None else state.last_at + STILL_SECONDS
        self.waveform.show_levels(state.levels, min(now, last), silence)
        self.thoughts.show_thoughts(state.thoughts, "" if heard else state.trouble or state.lost)
        self._heard.go(float(heard))

    def clear(self, trouble: str = "") -> None:
        """Shows nothing; `trouble`: but why."""
        self.lights.show_lit(False, False, False)
        self.stopwatch.show_seconds(None)
        self.waveform.show_levels((), 0.0)
        self.thoughts.show_thoughts((), trouble)
        self._heard.go(0.0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the card, in the side's colour once it is heard."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour, share = side_ink(self._side), self._heard.value
        self.name.colour = colour
        painter.setBrush(blend(ink("surface"), colour, HEARD_TINT * share))
        painter.setPen(QPen(blend(ink("line"), colour, share), 1 + 2 * share))
        card = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        painter.drawRoundedRect(card, tokens().card_radius, tokens().card_radius)
        painter.end()
