"""One side of the demo: its name, activity, stopwatch, audio and newest thought.

The stopwatch, in very large digits, runs until the side is first heard, then stops and takes on the side's colour. The
waveform of the question, the silence after it and the answer scrolls from right to left in real time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.conversation.frame import FRAME_SECONDS
from app.demo.base import Side
from app.demo.side import SideState
from app.gui.demo.painting import draw_fitted, fitted, ink, side_ink
from app.gui.design.fonts import CODE_FAMILY
from app.gui.design.look import blend, draw_rounded, painter_on
from app.gui.design.motion import Glide
from app.gui.design.plain import draw_words
from app.gui.design.theme import tokens
from app.gui.widgets.formats import decimal

SHARES = (0.1, 0.05, 0.09, 0.31, 0.15, 0.07, 0.23)
"""The heights of the name, the model, the lights, the stopwatch, the waveform, the last thought and the newest one."""
SHOWN_SECONDS = 6.0
"""Seconds of audio across the waveform's width."""
NOW_SHARE = 0.94
"""The horizontal position of the current time, as a fraction of the width."""
QUIETEST_DBFS = -50.0
"""Frames quieter than this are not drawn."""
HEARD_TINT = 0.1
"""The fraction of a side's colour that is blended into its background once it has been heard."""
MOST_ROWS = 6
"""The maximum number of rows; the newest ones are shown."""


class SideView(QWidget):
    """Shows one side as a card: its state in action or, among the figures, its median.

    - `model`: the name of the model
    - `trouble`: why there is no answer
    - `rows`: what is shown in place of the waveform and the thoughts, among the figures
    """

    def __init__(self, side: Side, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.name, self.model = name, ""
        self._side = side
        self._lights = (self.tr("listens"), self.tr("thinks"), self.tr("speaks"))
        self._heard = Glide(lambda _: self.update(), self, milliseconds=tokens().slow_ms)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(8 * tokens().control, 6 * tokens().control)
        self.setAccessibleName(name)
        self.clear()

    def clear(self, trouble: str = "") -> None:
        """Resets the view. `trouble`: an error message to show."""
        self.show_state(SideState(), 0.0)
        self.trouble = trouble

    def show_state(self, state: SideState, now: float) -> None:
        """Shows `state` as of the session time `now`."""
        self.state, self.now = state, now
        self.rows: tuple[str, ...] = ()
        self._show(state.clock(now), state.heard is not None)
        self.trouble = "" if self.stopped else state.trouble

    def show_median(self, seconds: float | None, rows: Sequence[str]) -> None:
        """Shows a median, and `rows` with the single figures."""
        self.clear()
        self.rows = tuple(rows[-MOST_ROWS:])
        self._show(seconds, seconds is not None)

    def _show(self, seconds: float | None, stopped: bool) -> None:
        self.clock, self.runs, self.stopped = decimal(min(seconds or 0.0, 99.99), 2), seconds is not None, stopped
        self._heard.go(float(stopped))
        self.setAccessibleDescription(self.tr("{0} seconds").format(self.clock) if stopped else "")
        self.update()

    @property
    def lit(self) -> tuple[bool, bool, bool]:
        """Whether the side listens, thinks and speaks."""
        return self.state.hears, self.state.thinks and not self.rows, self.state.speaks

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the card, tinted in the side's colour once the side has been heard."""
        unit, centre = tokens().unit, Qt.AlignmentFlag.AlignCenter
        box = QRectF(self.rect()).adjusted(4 * unit, 2 * unit, -4 * unit, -2 * unit)
        name, model, lights, clock, waveform, last, newest = (
            QRectF(box.left(), box.top() + box.height() * top, box.width(), box.height() * share * 0.9)
            for top, share in zip(accumulate(SHARES, initial=0.0), SHARES, strict=False)
        )
        third = lights.width() / 3
        with painter_on(self) as painter:
            colour, heard = side_ink(self._side), self._heard.value
            edge = QPen(blend(ink("line"), colour, heard), 1 + 2 * heard)
            fill = blend(ink("surface"), colour, HEARD_TINT * heard)
            draw_rounded(painter, self.rect(), tokens().card_radius, inset=2, fill=fill, edge=edge)
            draw_fitted(painter, name, self.name, colour, bold=True)
            draw_words(painter, model, self.model, ink("dim"), fitted(painter, model, model.height() * 0.75), centre)
            self._paint_clock(painter, clock, blend(ink("text" if self.runs else "dim"), colour, heard))
            if self.rows:
                self._paint_rows(painter, waveform.united(newest))
                return
            for place, (word, on) in enumerate(zip(self._lights, self.lit, strict=True)):
                pill = QRectF(lights.left() + place * third + unit, lights.top(), third - 2 * unit, lights.height())
                draw_rounded(painter, pill, pill.height() / 2, fill=colour if on else ink("sunken"))
                draw_fitted(painter, pill, word, ink("surface" if on else "dim"), bold=True, most=0.5)
            self._paint_waveform(painter, waveform)
            self._paint_thoughts(painter, last, newest)

    def _paint_clock(self, painter: QPainter, room: QRectF, colour: QColor) -> None:
        usual = painter.font()
        painter.setFont(QFont(CODE_FAMILY))  # its digits are all as wide, so that they stand still
        room = room.adjusted(0, -0.2 * room.height(), 0, 0.2 * room.height())  # digits have no descenders
        draw_fitted(painter, room, self.tr("{0} s").format(self.clock), colour, most=0.76)
        painter.setFont(usual)

    def _paint_rows(self, painter: QPainter, room: QRectF) -> None:
        height = room.height() / MOST_ROWS
        for place, text in enumerate(self.rows):
            line = QRectF(room.left(), room.top() + place * height, room.width(), height)
            draw_words(painter, line, text, ink("text"), fitted(painter, line, height * 0.6))

    def _paint_waveform(self, painter: QPainter, room: QRectF) -> None:
        """Paints one bar per frame, mirrored about the centre line, and the silence after the question."""
        state, mine, middle = self.state, side_ink(self._side), room.center().y()

        def x(at: float) -> float:
            return max(room.left(), room.left() + room.width() * (NOW_SHARE + (at - self.now) / SHOWN_SECONDS))

        if state.end is not None and self.now >= state.end:
            begin, end = x(state.end), x(state.end + (state.clock(self.now) or 0.0))
            painter.fillRect(QRectF(begin, room.top(), end - begin, room.height()), blend(ink("surface"), mine, 0.2))
            painter.fillRect(QRectF(begin - 1, room.top(), 2, room.height()), mine)
        painter.fillRect(QRectF(room.left(), middle, room.width(), 1), ink("line"))
        width = max(1.5, room.width() * FRAME_SECONDS / SHOWN_SECONDS * 0.62)
        for level in state.levels:
            loudest = max(level.user_dbfs, level.assistant_dbfs)
            # Perceived loudness is roughly logarithmic, but speech is easiest to recognise on a scale below that.
            height = room.height() * 0.94 * max(0.0, min(1.0, 1 - loudest / QUIETEST_DBFS)) ** 1.4
            if height >= 2 and self.now - SHOWN_SECONDS * NOW_SHARE + FRAME_SECONDS < level.at <= self.now:
                bar = QRectF(x(level.at) - width, middle - height / 2, width, height)
                shade = mine if level.assistant_dbfs > level.user_dbfs else ink("dim")
                draw_rounded(painter, bar, width / 2, fill=shade)

    def _paint_thoughts(self, painter: QPainter, last: QRectF, newest: QRectF) -> None:
        thoughts = [revision for revision in self.state.revisions if revision.text.strip()]
        if self.trouble or not thoughts:
            draw_fitted(painter, newest, self.trouble, ink("bad"), most=0.3)
            return
        older = [one.text for one in thoughts if not thoughts[-1].text.strip().startswith(one.text.strip())]
        font = fitted(painter, last, last.height() * 0.6, struck=True)
        draw_words(painter, last, older[-1] if older else "", ink("dim"), font, Qt.AlignmentFlag.AlignCenter)
        spoken = next((one for one in thoughts if one.speaking), thoughts[-1])
        draw_fitted(painter, newest, spoken.text, ink("dim"), most=0.3, said=(spoken.heard, side_ink(self._side)))
