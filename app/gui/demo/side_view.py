"""One side of the demo: its name, activity, stopwatch, audio and thoughts.

The stopwatch, in very large digits, runs until the side is first heard, then stops and takes on the side's colour. The
waveform of the question, the silence after it and the answer scrolls from right to left in real time. Three lights show
whether the side is listening, thinking or speaking. The newest thought is shown in large letters and cross-fades with
the previous one; older ones are struck through.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent, QPen, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QWidget

from app.conversation.frame import FRAME_SECONDS
from app.demo.base import Side
from app.demo.side import Level, SideState, Thought
from app.gui.demo.fitted_text import Filling, FittedText, faded, font_px, ink, side_ink
from app.gui.design.fonts import CODE_FAMILY
from app.gui.design.icons import paint_icon
from app.gui.design.look import blend, draw_rounded, painter_on, set_ink
from app.gui.design.motion import Glide
from app.gui.design.plain import draw_words
from app.gui.design.theme import tokens
from app.gui.widgets.form import column


class Stopwatch(Filling):
    """A stopwatch in large digits. `text` is the displayed time; `stopped` is True once the side has been heard."""

    def __init__(self, side: Side, parent: QWidget) -> None:
        super().__init__(parent, tokens().display, tokens().title * 4)
        self.text = "0.00"
        self.stopped = False
        self._side = side
        self._running = False
        self._colour = Glide(lambda _: self.update(), self, milliseconds=tokens().slow_ms)
        self.setAccessibleName(self.tr("Seconds until it is heard"))

    def show_seconds(self, seconds: float | None, *, stopped: bool = False, moving: bool = True) -> None:
        """Shows a time, or 0.00 if `seconds` is None because the question is still being asked.

        `moving`: whether to animate the change of colour.
        """
        text = f"{min(seconds or 0.0, 99.99):.2f}"
        if (text, stopped, seconds is not None) == (self.text, self.stopped, self._running):
            return
        self.text, self.stopped, self._running = text, stopped, seconds is not None
        self.setAccessibleDescription(self.tr("{0} seconds").format(text) if stopped else "")
        if stopped and moving:
            self._colour.go(1.0)
        else:
            self._colour.jump(float(stopped))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the digits, followed by a smaller unit."""
        with painter_on(self) as painter:
            font = QFont(CODE_FAMILY)
            font.setStyleHint(QFont.StyleHint.Monospace)
            digit = QFontMetricsF(font_px(font, 100)).horizontalAdvance("0") / 100
            px = min(self.height() * 1.1, self.width() / (digit * (len(self.text) + 0.9)))
            plain = ink("text" if self._running else "dim")
            painter.setPen(blend(plain, side_ink(self._side), self._colour.value))
            painter.setFont(font_px(font, px))
            width = digit * px * len(self.text)
            unit = digit * px * 0.7
            left = (self.width() - width - unit) / 2
            place = QRectF(left, 0, width + unit, self.height())
            middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
            painter.drawText(place, middle, self.text)
            painter.setFont(font_px(self.font(), px * 0.34))
            baseline = self.height() / 2 + QFontMetricsF(font_px(font, px)).capHeight() / 2
            painter.drawText(round(left + width + unit * 0.12), round(baseline), self.tr("s"))


SHOWN_SECONDS = 6.0
"""Seconds of audio across the waveform's width."""
NOW_SHARE = 0.94
"""The horizontal position of the current time, as a fraction of the width."""
QUIETEST_DBFS = -50.0
"""Frames quieter than this are not drawn."""


class Waveform(Filling):
    """Shows `levels` up to the current time. `silence` is the interval between the end of the question and the first
    sound of the answer, or the current time if there is none yet.
    """

    def __init__(self, side: Side, parent: QWidget) -> None:
        super().__init__(parent, tokens().control)
        self.levels: Sequence[Level] = ()
        self.silence: tuple[float, float] | None = None
        self._now = 0.0
        self._side = side
        self.setAccessibleName(self.tr("Question and answer as sound"))

    def show_levels(self, levels: Sequence[Level], now: float, silence: tuple[float, float] | None = None) -> None:
        """Updates the waveform. All times are session times in seconds."""
        self.levels, self._now, self.silence = levels, now, silence
        self.update()

    def _x(self, at: float) -> float:
        return self.width() * (NOW_SHARE + (at - self._now) / SHOWN_SECONDS)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints one bar per frame, mirrored about the centre line."""
        with painter_on(self) as painter:
            middle, step = self.height() / 2, self.width() * FRAME_SECONDS / SHOWN_SECONDS
            mine, theirs = side_ink(self._side), ink("dim")
            if self.silence is not None:
                begin, end = map(self._x, self.silence)
                painter.fillRect(QRectF(begin, 0, end - begin, self.height()), faded(mine, 0.16))
                painter.setPen(QPen(mine, 2))
                painter.drawLine(round(begin), 0, round(begin), self.height())
            painter.setPen(QPen(ink("line"), 1))
            painter.drawLine(0, round(middle), self.width(), round(middle))
            painter.setPen(Qt.PenStyle.NoPen)
            width = max(1.5, step * 0.62)
            for level in self.levels:
                x = self._x(level.at)
                if x < -step or level.at > self._now + FRAME_SECONDS:
                    continue
                speaks = level.assistant > level.user
                height = self.height() * 0.94 * _share(max(level.user, level.assistant))
                if height < 2:
                    continue
                painter.setBrush(mine if speaks else theirs)
                painter.drawRoundedRect(QRectF(x - width, middle - height / 2, width, height), width / 2, width / 2)


def _share(dbfs: float) -> float:
    """Returns the relative height of a bar, 0 to 1, on a scale between linear and logarithmic. Perceived loudness is
    roughly logarithmic, but speech is easiest to recognise on a scale in between.
    """
    return max(0.0, min(1.0, 1 - dbfs / QUIETEST_DBFS)) ** 1.4


ICONS = ("ear", "brain", "volume-2")


class Lights(Filling):
    """Three indicator lights. `lit` holds whether the side is listening, thinking and speaking, in this order."""

    def __init__(self, side: Side, parent: QWidget) -> None:
        super().__init__(parent, tokens().control)
        self.lit = (False, False, False)
        self._side = side
        self._words = (self.tr("listens"), self.tr("thinks"), self.tr("speaks"))
        self._glides = [Glide(lambda _: self.update(), self, milliseconds=tokens().quick_ms) for _ in ICONS]
        self.setAccessibleName(self.tr("What it does"))

    def show_lit(self, listens: bool, thinks: bool, speaks: bool) -> None:
        """Switches the lights on or off."""
        lit = (listens, thinks, speaks)
        if lit == self.lit:
            return
        self.lit = lit
        for glide, on in zip(self._glides, lit, strict=True):
            glide.go(float(on))
        words = [word for word, on in zip(self._words, lit, strict=True) if on]
        self.setAccessibleDescription(", ".join(words))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints each icon on a disc, with labels scaled to fit."""
        with painter_on(self) as painter:
            cell = self.width() / len(ICONS)
            disc = min(self.height() * 0.92, cell * 0.5)
            font = font_px(self.font(), disc * 0.36, QFont.Weight.DemiBold)
            widest = max(QFontMetricsF(font).horizontalAdvance(word) for word in self._words)
            gap = disc * 0.18
            font = font_px(font, disc * 0.36 * min(1.0, (cell - disc - 2 * gap) / widest), QFont.Weight.DemiBold)
            painter.setFont(font)
            for place, (name, word, glide) in enumerate(zip(ICONS, self._words, self._glides, strict=True)):
                width = disc + gap + QFontMetricsF(font).horizontalAdvance(word)
                left = place * cell + (cell - width) / 2
                on, colour = glide.value, side_ink(self._side)
                set_ink(painter, fill=ink("sunken"))
                middle = QPointF(left + disc / 2, self.height() / 2)
                painter.drawEllipse(middle, disc / 2, disc / 2)
                painter.setBrush(faded(colour, on))
                painter.drawEllipse(middle, disc / 2, disc / 2)
                drawn = disc * 0.56
                icon = QRectF(middle.x() - drawn / 2, middle.y() - drawn / 2, drawn, drawn)
                paint_icon(painter, name, blend(ink("dim"), ink("surface"), on), icon)
                painter.setPen(blend(ink("dim"), colour, on))
                room = QRectF(left + disc + gap, 0, cell, self.height())
                painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, word)


OLDER = 2
"""Number of superseded thoughts that remain visible."""
OLDER_SHARE = 0.32
"""The fraction of the height reserved for superseded thoughts."""
LINES = 3
"""Number of lines of the newest thought that fit at the normal text size. Longer thoughts are scaled down."""


class ThoughtsView(Filling):
    """Shows the `newest` thought in large letters, with the `older` ones above it."""

    def __init__(self, side: Side, parent: QWidget) -> None:
        super().__init__(parent, tokens().body * 4)
        self.newest: Thought | None = None
        self.older: tuple[Thought, ...] = ()
        self.trouble = ""
        self._side = side
        self._leaving: Thought | None = None
        self._fade = Glide(lambda _: self.update(), self, milliseconds=tokens().slow_ms, value=1.0)
        self.setAccessibleName(self.tr("What it thinks"))

    def show_thoughts(self, thoughts: Sequence[Thought], trouble: str = "") -> None:
        """Shows the `thoughts` on a question, oldest first, omitting earlier ones with the same text as the newest.

        If there are none, shows `trouble`, the reason why there is no answer.
        """
        newest = thoughts[-1] if thoughts else None
        older = tuple(thought for thought in thoughts[:-1] if newest is not None and thought.text != newest.text)
        older = older[-OLDER:]
        if (newest, older, trouble) == (self.newest, self.older, self.trouble):
            return
        before = self.newest
        self.newest, self.older, self.trouble = newest, older, trouble
        if newest is None:
            self._leaving = None
            self._fade.jump(1.0)
        elif before is None or before.number != newest.number:
            self._leaving = before
            self._fade.jump(0.0)
            self._fade.go(1.0)
        self.setAccessibleDescription(trouble or (newest.text if newest is not None else ""))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the superseded thoughts above the newest one."""
        with QPainter(self) as painter:
            top = self.height() * OLDER_SHARE
            row = top / OLDER
            for place, thought in enumerate(reversed(self.older)):
                # Each new thought pushes the older ones up and fades them.
                share = place + (1 - self._fade.value if place == 0 else 0)
                painter.setOpacity(max(0.0, 0.9 - 0.4 * share))
                self._paint_older(painter, thought, QRectF(0, top - (place + 1) * row, self.width(), row))
            room = QRectF(0, top, self.width(), self.height() - top)
            if self.trouble and self.newest is None:
                painter.setOpacity(1.0)
                self._paint_text(painter, Thought(0, self.trouble), room, "bad")
            if self._leaving is not None and self._fade.value < 1:
                painter.setOpacity(1 - self._fade.value)
                self._paint_text(painter, self._leaving, room)
            if self.newest is not None:
                painter.setOpacity(self._fade.value)
                self._paint_text(painter, self.newest, room)

    def _paint_older(self, painter: QPainter, thought: Thought, room: QRectF) -> None:
        font = font_px(self.font(), max(tokens().caption, room.height() * 0.64))
        font.setStrikeOut(True)
        draw_words(painter, room, thought.text, ink("dim"), font, Qt.AlignmentFlag.AlignCenter)

    def _paint_text(self, painter: QPainter, thought: Thought, room: QRectF, colour: str = "dim") -> None:
        """Paints a thought centred in the rectangle `room`, with the words spoken so far in the side's colour."""
        said = QTextLayout.FormatRange()
        said.start, said.length = 0, _letters(thought.text, thought.said)
        said.format = QTextCharFormat()
        said.format.setForeground(side_ink(self._side))
        px = room.height() / LINES / 1.25
        while True:
            layout = QTextLayout(thought.text, font_px(self.font(), px, QFont.Weight.Medium))
            layout.setTextOption(QTextOption(Qt.AlignmentFlag.AlignHCenter))
            layout.setFormats([said])
            height = _lay_out(layout, room.width())
            if height <= room.height() or px <= tokens().caption:
                break
            px *= 0.92
        painter.setPen(ink(colour))
        layout.draw(painter, QPointF(room.left(), room.top() + max(0.0, (room.height() - height) / 2)))


def _letters(text: str, words: int) -> int:
    """Returns the character offset at which the first `words` words of `text` end."""
    place = 0
    for word in text.split()[:words]:
        place = text.index(word, place) + len(word)
    return place


def _lay_out(layout: QTextLayout, width: float) -> float:
    height = 0.0
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        line.setPosition(QPointF(0, height))
        height += line.height() * 1.05
    layout.endLayout()
    return height


STILL_SECONDS = 0.8
"""How long a side's waveform keeps scrolling after its answer has ended."""
HEARD_TINT = 0.1
"""The fraction of a side's colour that is blended into its background once it has been heard."""


class SideView(QWidget):
    """Shows one side's `SideState` as a card."""

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
        parts = ((self.name, 10), (self.model, 4), (self.lights, 9), (self.stopwatch, 30), (self.waveform, 15))
        margins = (4 * unit, 3 * unit, 4 * unit, 3 * unit)
        column(*parts, (self.thoughts, 32), within=self, spacing=2 * unit, margins=margins)

    def show_state(self, state: SideState, now: float) -> None:
        """Shows `state` as of the session time `now`."""
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
        """Resets the view. `trouble`: an error message to show."""
        self.lights.show_lit(False, False, False)
        self.stopwatch.show_seconds(None)
        self.waveform.show_levels((), 0.0)
        self.thoughts.show_thoughts((), trouble)
        self._heard.go(0.0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the card, tinted in the side's colour once the side has been heard."""
        with painter_on(self) as painter:
            colour, share = side_ink(self._side), self._heard.value
            self.name.colour = colour
            fill = blend(ink("surface"), colour, HEARD_TINT * share)
            edge = QPen(blend(ink("line"), colour, share), 1 + 2 * share)
            draw_rounded(painter, self.rect(), tokens().card_radius, inset=2, fill=fill, edge=edge)
