"""Paints a section of the timeline and records the area of each item.

Each request is drawn as a bar, hatched until the first words arrive and solid while the answer streams in. A thin tail
extends the bar while its words are still being fed to the front-end. A superseded request is faded and struck through,
with an arrow to its replacement.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPen, QPolygonF

from app.gui.design.look import blend
from app.gui.design.model_look import model_name
from app.gui.inspector.activity import Activity
from app.gui.inspector.layout import Lane, Layout, Strip, flow
from app.gui.inspector.things import Answer, RequestBar, Thing, UserTurn, between
from app.gui.widgets.formats import clock_words

SPILL_PX = 460
"""Maximum distance by which labels and words extend to the right of their item's start."""
REACH_PX = 8
"""Maximum distance by which marks extend to the left of their time."""
NEAR_PX = 5.0
"""Horizontal tolerance of hit testing."""
LEAST_SCALE = 9.0
"""Minimum scale, in pixels per second, at which words are painted."""
TALLEST_BAR_PX = 18.0
LEAST_BAR_PX = 3.0
TAIL_PX = 3.0
TALLEST_LATE_MS = 160.0
LOWEST_DB = -60.0
LONGEST_GAP_SECONDS = 0.5
"""Shorter gaps in the levels are interpolated, since they only occur because the GUI thread was busy."""
TICK_SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600)
LEAST_TICK_PX = 76


class Hit(NamedTuple):
    """An item's hit area, in pixels."""

    left: float
    top: float
    right: float
    bottom: float
    thing: Thing


class Place(NamedTuple):
    """A bar's position in pixels. `first`: where the first words arrived. `tail`: where its tail ends."""

    left: float
    first: float
    right: float
    tail: float
    top: float
    height: float

    @property
    def middle(self) -> float:
        return self.top + self.height / 2


class TimelinePainter:
    """Paints the timeline between the x coordinates `left` and `right`, in pixels from second 0."""

    def __init__(self, painter: QPainter, activity: Activity, layout: Layout, left: float, right: float) -> None:
        self.hits: list[Hit] = []
        self._painter, self._activity, self._left, self._right = painter, activity, left, right
        self._colours, self._letters, self._lanes, self._scale, self._ratio, self._interrupted = layout
        self._earliest, self._latest = (left - REACH_PX) / self._scale, (right + REACH_PX) / self._scale
        self._before = (left - SPILL_PX) / self._scale

    def paint(self) -> None:
        """Paints all lanes and fills `hits`."""
        activity, colours, strips = self._activity, self._colours, self._lanes.strips
        turns = between(activity.turns, self._before, self._latest)
        answers = between(activity.answers, self._before, self._latest)
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._painter.setFont(self._letters.font)
        self._paint_ground()
        for turn in turns:
            self._paint_speech(turn, strips["you"], strips["you"].bottom, colours.user_band)
        for answer in answers:
            self._paint_speech(answer, strips["kame"], self._lanes.said.bottom, colours.assistant_band)
        self._paint_levels()
        self._paint_partials()
        self._paint_feed()
        self._paint_troubles()
        self._paint_requests("backend")
        self._paint_requests("secondary")
        self._paint_words(turns, strips["words"], self._lanes.rows["words"])
        self._paint_words(answers, self._lanes.said, self._lanes.rows["kame"])
        self._paint_swaps()
        for answer, following in zip_longest(answers, answers[1:]):
            self._paint_break(answer, following)

    def _x(self, second: float) -> float:
        return float(round(second * self._scale))

    def _hit(self, left: float, top: float, right: float, bottom: float, thing: Thing) -> None:
        self.hits.append(Hit(left, top, right, bottom, thing))

    def _line(self, x: float, top: float, bottom: float, pen: QPen) -> None:
        self._painter.setPen(pen)
        self._painter.drawLine(QLineF(x, top, x, bottom))

    def _text(self, x: float, y: float, text: str, colour: QColor) -> None:
        self._painter.setPen(colour)
        self._painter.drawText(QPointF(x, y), text)

    def _polygon(self, colour: QColor, *corners: tuple[float, float]) -> None:
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(colour)
        self._painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in corners]))
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_ground(self) -> None:
        """Paints the alternating lane backgrounds and the time axis."""
        painter, colours, lanes, wide = self._painter, self._colours, self._lanes, self._right - self._left
        painter.fillRect(QRectF(self._left, 0, wide, lanes.axis.bottom), colours.ground)
        for lane, strip in list(lanes.strips.items())[::2]:
            tall = strip.height + (lanes.said.height if lane == "kame" else 0)
            painter.fillRect(QRectF(self._left, strip.top, wide, tall), colours.band)
        painter.fillRect(QRectF(self._left, lanes.axis.top - 1, wide, 1), colours.line)
        step = next((step for step in TICK_SECONDS if step * self._scale >= LEAST_TICK_PX), TICK_SECONDS[-1])
        for second in range(max(0, int(self._before / step)) * step, int(self._latest) + 1, step):
            x = self._x(second)
            painter.fillRect(QRectF(x, 0, 1, lanes.axis.top + 4), colours.line)
            self._text(x + 3.5, lanes.axis.top + 1 + self._letters.ascent, clock_words(second), colours.dim)

    # -- speech

    def _paint_speech(self, speech: UserTurn | Answer, strip: Strip, bottom: float, colour: QColor) -> None:
        """Paints a turn or answer as a band, hatched during pauses."""
        colours, now = self._colours, self._activity.now

        def band(start: float, end: float, brush: QColor | QBrush) -> QRectF:
            x = self._x(start)
            rect = QRectF(x, strip.top, max(2.0, self._x(end) - x), strip.height)
            self._painter.fillRect(rect, brush)
            return rect

        end = now if speech.end is None else speech.end
        rect = band(speech.start, end, colour)
        self._hit(rect.left() - NEAR_PX, strip.top, rect.right() + NEAR_PX, bottom, speech)
        for gap_start, gap_end in speech.gaps:
            for brush in (colours.ground, QBrush(blend(colour, colours.text, 0.25), Qt.BrushStyle.FDiagPattern)):
                band(gap_start, end if gap_end is None else gap_end, brush)
        if isinstance(speech, Answer):
            for at, _, how in speech.corrections:
                pen = QPen(colours.warn if how == "corrected" else colours.assistant, 2)
                self._line(self._x(at) + 0.5, strip.top, strip.bottom, pen)

    def _paint_levels(self) -> None:
        """Paints both sides' audio levels as envelopes centred in their lanes."""
        times, levels = self._activity.levels.between(self._earliest - 1.0, self._latest + 1.0)
        if len(times) < 2:
            return
        shares = np.clip((levels - LOWEST_DB) / -LOWEST_DB, 0.0, 1.0)
        per_pixel = int(len(times) / max(1.0, (times[-1] - times[0]) * self._scale))
        if per_pixel > 1:
            starts = np.arange(0, len(times), per_pixel)
            times, shares = times[starts], np.maximum.reduceat(shares, starts, axis=1)
        xs = (np.arange(round((self._right - self._left) * self._ratio)) + 0.5) / self._ratio + self._left
        after = np.searchsorted(times, xs / self._scale)
        known = (after > 0) & (after < len(times))
        after = np.clip(after, 1, len(times) - 1)
        known &= times[after] - times[after - 1] <= max(LONGEST_GAP_SECONDS, 2 / self._scale)
        sides: tuple[tuple[Lane, QColor], ...] = (("you", self._colours.user), ("kame", self._colours.assistant))
        for share, (lane, colour) in zip(shares, sides, strict=True):
            strip = self._lanes.strips[lane]
            half = np.interp(xs / self._scale, times, share).astype(np.float32) ** 1.5 * (strip.height / 2 - 0.5)
            half = np.where(known, np.maximum(half, 0.5), np.float32(-1.0))
            ys = (np.arange(round(strip.height * self._ratio), dtype=np.float32) + 0.5) / self._ratio
            cover = np.clip((half - np.abs(ys[:, None] - strip.height / 2)) * self._ratio + 0.5, 0.0, 1.0)
            shades = np.linspace([0] * 4, [colour.blue(), colour.green(), colour.red(), 255], 256).astype(np.uint8)
            pixels = shades.view(np.uint32)[:, 0][(cover * 255).astype(np.uint8)]
            image = QImage(pixels.data, len(xs), len(ys), QImage.Format.Format_ARGB32_Premultiplied)
            image.setDevicePixelRatio(self._ratio)
            self._painter.drawImage(QPointF(self._left, strip.top), image)

    def _paint_words(self, speeches: Sequence[UserTurn | Answer], strip: Strip, rows: int) -> None:
        """Paints the words of turns or answers below their audio."""
        if self._scale < LEAST_SCALE:
            return
        letters, colours = self._letters, self._colours
        for speech, following in zip_longest(speeches, speeches[1:]):
            limit = float("inf") if following is None else following.start * self._scale - 4
            placed = flow(speech.words, self._scale, letters.width, rows, limit)
            dim = isinstance(speech, UserTurn) and speech.backchannel
            right = self._x(speech.start)
            for word in placed:
                right = max(right, word.x + letters.width(word.text))
                if self._left - SPILL_PX <= word.x <= self._right:
                    self._painter.setFont(letters.font if word.settled else letters.italic)
                    y = strip.top + word.row * letters.height + letters.ascent
                    self._text(round(word.x), y, word.text, colours.text if word.settled and not dim else colours.dim)
            if placed:
                self._hit(self._x(speech.start) - REACH_PX, strip.top, right + REACH_PX, strip.bottom, speech)
        self._painter.setFont(letters.font)

    def _paint_break(self, answer: Answer, following: Answer | None) -> None:
        """Marks the point where the user interrupted an answer."""
        if not answer.interrupted or answer.end is None:
            return
        letters, strip, colours = self._letters, self._lanes.strips["kame"], self._colours
        x, wide = self._x(answer.end) + 0.5, letters.width(self._interrupted)
        self._line(x, strip.top, self._lanes.said.bottom, QPen(colours.bad, 2))
        if following is None or (following.start - answer.end) * self._scale > wide + 8:
            self._painter.fillRect(QRectF(x + 2, strip.top, wide + 4, strip.height), colours.band)
            self._text(x + 4, strip.middle - letters.height / 2 + letters.ascent, self._interrupted, colours.bad)

    # -- moments

    def _paint_partials(self) -> None:
        """Marks the arrival of each transcript. The mark of a final transcript has the full height."""
        strip, colours = self._lanes.strips["words"], self._colours
        for partial in between(self._activity.partials, self._earliest, self._latest):
            x = self._x(partial.start) + 0.5
            top, colour = (strip.top, colours.user) if partial.final else (strip.bottom - 3, colours.dim)
            self._line(x, top, strip.bottom - 1, QPen(colour, 1))
            self._hit(x - NEAR_PX / 2, strip.top, x + NEAR_PX / 2, strip.bottom, partial)

    def _paint_feed(self) -> None:
        """Paints the words fed to the front-end and, below them, the tokens it consumed."""
        activity, strip, colours = self._activity, self._lanes.strips["oracle"], self._colours
        words_tall = strip.height * (0.55 if activity.taken else 1.0) - 1
        wide = max(1.5, min(4.0, 0.08 * self._scale - 1))
        for fed in between(activity.fed, self._earliest, self._latest):
            x, tall = self._x(fed.start), words_tall * min(1.0, 0.4 + 0.2 * fed.words)
            rect = QRectF(x - wide / 2, strip.top + words_tall - tall, wide, tall)
            self._painter.fillRect(rect, colours.backend(fed.backend))
            self._hit(x - NEAR_PX, strip.top, x + NEAR_PX, strip.top + words_tall, fed)
        top = strip.top + words_tall + 1
        for taken in between(activity.taken, self._earliest, self._latest):
            x, tall = self._x(taken.start), (strip.bottom - top) * min(1.0, 0.4 + 0.3 * taken.tokens)
            colour = blend(colours.backend(taken.backend), colours.ground, 0.3)
            self._painter.fillRect(QRectF(x - wide / 2, top, wide, tall), colour)
            self._hit(x - NEAR_PX, top, x + NEAR_PX, strip.bottom, taken)

    def _paint_troubles(self) -> None:
        """Paints each late frame as a bar whose height indicates the lateness, and each other fault as a diamond."""
        strip, colours = self._lanes.strips["trouble"], self._colours
        half, middle = min(strip.height / 2, 5.0), strip.middle
        for trouble in between(self._activity.troubles, self._earliest, self._latest):
            x = self._x(trouble.start)
            self._hit(x - NEAR_PX, strip.top, x + NEAR_PX, strip.bottom, trouble)
            if trouble.what == "late":
                tall = max(4.0, strip.height * min(1.0, 0.35 + trouble.amount / TALLEST_LATE_MS))
                self._painter.fillRect(QRectF(x - 1.5, strip.bottom - tall, 3, tall), colours.warn)
            else:
                colour = colours.warn if trouble.what == "skipped" else colours.bad
                self._polygon(colour, (x, middle - half), (x + half, middle), (x, middle + half), (x - half, middle))

    def _paint_swaps(self) -> None:
        """Paints each change of model or front-end as a line through all lanes, with a flag bearing the new name."""
        letters, strip = self._letters, self._lanes.strips["you"]
        for swap in between(self._activity.swaps, self._before, self._latest):
            x, text = self._x(swap.start) + 0.5, f"→ {swap.name}"
            colour = self._colours.backend(swap.backend or ("", ""))
            self._line(x, 0, self._lanes.axis.top, QPen(colour, 1.6, Qt.PenStyle.DashLine))
            flag = QRectF(x, strip.top, letters.width(text) + 8, letters.height)
            self._painter.fillRect(flag, colour)
            self._text(x + 4, strip.top + letters.ascent, text, self._colours.on(colour))
            self._hit(x - NEAR_PX / 2, 0, x + NEAR_PX / 2, self._lanes.axis.top, swap)
            self._hit(flag.left(), flag.top(), flag.right(), flag.bottom(), swap)

    # -- requests

    def _paint_requests(self, lane: Lane) -> None:
        if lane not in self._lanes.strips:
            return
        found, rows = between(self._activity.bars, self._before, self._latest), self._lanes.rows[lane]
        bars = [bar for bar in found if bar.secondary == (lane == "secondary")]
        places = {bar.request.number: self._place(bar, lane) for bar in bars}
        for n, bar in enumerate(bars):
            after = (places[b.request.number].left for b in bars[n + 1 :] if b.rows[rows] == bar.rows[rows])
            self._paint_bar(bar, places[bar.request.number])
            self._paint_label(bar, places[bar.request.number], next(after, float("inf")) - 3)
        for bar in bars:
            if bar.past:
                self._paint_superseded(bar, places[bar.request.number], places.get(bar.request.by))

    def _place(self, bar: RequestBar, lane: Lane) -> Place:
        strip, rows = self._lanes.strips[lane], self._lanes.rows[lane]
        row_tall = strip.height / rows
        tall = min(TALLEST_BAR_PX, row_tall - 2)
        end = self._activity.now if bar.end is None else bar.end
        superseded_at = bar.request.superseded_at if bar.past and bar.first else None
        until = max(end, bar.fed_until or 0.0, superseded_at or 0.0)
        left, first = self._x(bar.start), self._x(end if bar.first is None else min(bar.first, end))
        right = max(self._x(end), left + LEAST_BAR_PX, first + LEAST_BAR_PX if bar.first is not None else left)
        top = strip.top + bar.rows[rows] * row_tall + (row_tall - tall) / 2
        return Place(left, first, right, max(right, self._x(until)), top, tall)

    def _paint_bar(self, bar: RequestBar, place: Place) -> None:
        painter, colours = self._painter, self._colours
        colour = colours.backend(bar.backend)
        if bar.past:
            colour = blend(colour, colours.ground, 0.62)
        waiting = QRectF(place.left + 0.5, place.top + 0.5, max(1.0, place.first - place.left), place.height - 1)
        painter.setPen(QPen(colour, 1))
        for brush in (QBrush(blend(colour, colours.ground, 0.8)), QBrush(colour, Qt.BrushStyle.BDiagPattern)):
            painter.setBrush(brush)
            painter.drawRect(waiting)
        if bar.first is not None:
            painter.fillRect(QRectF(place.first, place.top, place.right - place.first, place.height), colour)
        painter.fillRect(QRectF(place.right, place.middle - TAIL_PX / 2, place.tail - place.right, TAIL_PX), colour)
        if bar.request.end_reason == "failed":
            self._line(place.right - 1, place.top - 1, place.top + place.height + 1, QPen(colours.bad, 2))

    def _paint_label(self, bar: RequestBar, place: Place, room: float) -> None:
        """Labels a bar with the request number, and with the model if it has changed and there is room."""
        letters, colours = self._letters, self._colours
        number, model = str(bar.request.number), model_name(bar.request.backend, bar.request.model)
        y = place.top + (place.height + letters.height) / 2 - letters.descent
        inside = place.height >= letters.ascent and bar.first is not None and not bar.past
        right = place.tail
        for text in (f"{number} {model}", number) if bar.named else (number,):
            wide = letters.width(text)
            if inside and wide + 6 <= place.right - place.first:
                self._text(place.first + 3, y, text, colours.on(colours.backend(bar.backend)))
                break
            if place.right + 4 + wide <= room:
                if place.tail > place.right:  # the text would overlap the tail
                    self._painter.fillRect(QRectF(place.right + 2, place.top, wide + 4, place.height), colours.ground)
                self._text(place.right + 4, y, text, colours.dim if bar.past else colours.text)
                right = max(right, place.right + 5 + wide)
                if bar.past:
                    self._painter.drawLine(QLineF(place.right + 3, place.middle, place.right + 5 + wide, place.middle))
                break
        self._hit(place.left - NEAR_PX, place.top - 2, right, place.top + place.height + 2, bar)

    def _paint_superseded(self, bar: RequestBar, place: Place, newer: Place | None) -> None:
        """Strikes through a superseded bar and draws an arrow to its replacement if that is in another row."""
        y, at = round(place.middle) + 0.5, bar.request.superseded_at
        self._painter.setPen(QPen(self._colours.dim, 1))
        self._painter.drawLine(QLineF(place.left - 2, y, place.right + 2, y))
        if at is not None and newer is not None and abs(newer.top - place.top) >= 2:
            x, down = self._x(at) + 0.5, newer.top > place.top
            tip, back = (newer.top, -4.0) if down else (newer.top + newer.height, 4.0)
            self._line(x, y, tip, QPen(self._colours.text, 1))
            self._polygon(self._colours.text, (x, tip), (x - 3, tip + back), (x + 3, tip + back))
