"""Paints a stretch of the timeline: all lanes, in absolute pixels, so that stretches fit each other seamlessly.

Second 0 is at pixel 0. Knows nothing of what part is in view, nor of widgets.
"""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF

from app.gui.timeline.bars import BarPainter
from app.gui.timeline.style import Colours, Lanes, Letters, Strip
from app.gui.timeline.word_layout import Placed, flow
from app.gui.timeline_data.log import TimelineLog
from app.gui.timeline_data.spans import Answer, Backend, UserTurn
from app.gui.timeline_data.track import Track
from app.gui.widgets.palette import blend

STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600)
STEP_PX = 76
SPILL_PX = 460
"""Labels and words reach so far to the right of what they belong to."""
REACH_PX = 8
"""Marks reach so far to the left of their time."""
LEAST_WORDS_SCALE = 9.0
"""With fewer pixels a second words would only be dots."""
TALLEST_LATE_MS = 160.0
MOST_FLOWS = 200


def clock_words(seconds: float, tenths: bool = False) -> str:
    """Session time for people: `m:ss`, or `m:ss.s` with `tenths`."""
    if tenths:
        whole = round(max(0.0, seconds) * 10)
        return f"{whole // 600}:{whole // 10 % 60:02d}.{whole % 10}"
    whole = int(max(0.0, seconds))
    return f"{whole // 60}:{whole % 60:02d}"


class TimelinePainter:
    """Paints at `scale` pixels a second."""

    def __init__(
        self, log: TimelineLog, colours: Colours, letters: Letters, lanes: Lanes, scale: float, interrupted: str
    ) -> None:
        self.log = log
        self.colours = colours
        self.letters = letters
        self.lanes = lanes
        self.scale = scale
        self.bars = BarPainter(log, colours, letters, lanes, scale)
        self._interrupted = interrupted
        self._flows: dict[UserTurn | Answer, tuple[tuple, list[Placed]]] = {}

    def paint(self, painter: QPainter, left: float, right: float) -> None:
        """Paints the pixels from `left` to `right`."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        earliest, latest = (left - REACH_PX) / self.scale, (right + REACH_PX) / self.scale
        before = (left - SPILL_PX) / self.scale
        self._ground(painter, left, right)
        turns = self.log.turns.between(before, latest)
        answers = self.log.answers.between(before, latest)
        self._grid(painter, left, right)
        for turn in turns:
            self._turn(painter, turn)
        for answer in answers:
            self._answer(painter, answer)
        self._sounds(painter, earliest, latest)
        self._partials(painter, earliest, latest)
        self._feed(painter, earliest, latest)
        self._troubles(painter, earliest, latest)
        self.bars.paint(painter, before, latest, secondary=False)
        self.bars.paint(painter, before, latest, secondary=True)
        if self.scale >= LEAST_WORDS_SCALE:
            for turn in turns:
                self._words(painter, turn, self.lanes.strips["words"], left, right)
            for answer in answers:
                self._words(painter, answer, self.lanes.said, left, right)
        self._swaps(painter, before, latest)
        for answer in answers:
            self._break(painter, answer)

    def backend_colour(self, backend: Backend) -> QColor:
        """A brain's colour."""
        places = self.log.backends
        return self.colours.backend(places.index(backend)) if backend in places else self.colours.dim

    def worded(self, track: Track, second: float) -> UserTurn | Answer | None:
        """The one whose words are painted at a second."""
        x = second * self.scale
        for thing in reversed(track.between((x - SPILL_PX) / self.scale, second)):
            placed = self._flow(thing)
            ends = [word.x + self.letters.width(word.text) for word in placed]
            if placed and thing.start * self.scale - REACH_PX <= x <= max(ends) + REACH_PX:
                return thing
        return None

    # -- what is behind

    def _ground(self, painter: QPainter, left: float, right: float) -> None:
        painter.fillRect(QRectF(left, 0, right - left, self.lanes.height), self.colours.ground)
        for place, lane in enumerate(self.lanes.order):
            if place % 2 == 0:
                strip = self.lanes.strips[lane]
                tall = strip.height + (self.lanes.said.height if lane == "kame" else 0)
                painter.fillRect(QRectF(left, strip.top, right - left, tall), self.colours.band)

    def _grid(self, painter: QPainter, left: float, right: float) -> None:
        axis = self.lanes.axis
        painter.setPen(QPen(self.colours.line, 1))
        painter.drawLine(QLineF(left, axis.top - 0.5, right, axis.top - 0.5))
        for second in self._ticks(left, right):
            x = round(second * self.scale) + 0.5
            painter.drawLine(QLineF(x, 0, x, axis.top + 4))

    def times(self, painter: QPainter, left: float, right: float) -> None:
        """Writes the times into the axis; those that are not in view as a whole are left out."""
        painter.setFont(self.letters.font)
        painter.setPen(self.colours.dim)
        for second in self._ticks(left, right):
            x, words = round(second * self.scale) + 3.5, clock_words(second)
            if left <= x and x + self.letters.width(words) <= right:
                painter.drawText(QPointF(x, self.lanes.axis.top + 1 + self.letters.ascent), words)

    def _ticks(self, left: float, right: float) -> range:
        """The seconds that have a line of their own."""
        step = next((s for s in STEPS if s * self.scale >= STEP_PX), STEPS[-1])
        first = max(0, int((left - REACH_PX) / self.scale / step))
        return range(first * step, int((right + REACH_PX) / self.scale) + 1, step)

    # -- sound

    def _turn(self, painter: QPainter, turn: UserTurn) -> None:
        strip = self.lanes.strips["you"]
        self._band(painter, strip, turn.start, turn.end, self.colours.user_band)
        for start, end in turn.pauses:
            self._band(painter, strip, start, turn.end if end is None else end, self.colours.user_band, hatched=True)

    def _answer(self, painter: QPainter, answer: Answer) -> None:
        strip = self.lanes.strips["kame"]
        self._band(painter, strip, answer.start, answer.end, self.colours.assistant_band)
        for start, end in answer.holds:
            self._band(painter, strip, start, end, self.colours.assistant_band, hatched=True)
        for at, _, how in answer.mends:
            x = round(at * self.scale) + 0.5
            painter.setPen(QPen(self.colours.warn if how == "corrected" else self.colours.assistant, 2))
            painter.drawLine(QLineF(x, strip.top, x, strip.bottom))

    def _band(
        self, painter: QPainter, strip: Strip, start: float, end: float | None, colour: QColor, hatched: bool = False
    ) -> None:
        x = round(start * self.scale)
        x_end = max(round((self.log.now if end is None else end) * self.scale), x + 2)
        rect = QRectF(x, strip.top, x_end - x, strip.height)
        if hatched:
            painter.fillRect(rect, self.colours.ground)
            painter.fillRect(rect, QBrush(blend(colour, self.colours.text, 0.25), Qt.BrushStyle.FDiagPattern))
        else:
            painter.fillRect(rect, colour)

    def _sounds(self, painter: QPainter, earliest: float, latest: float) -> None:
        # The frames beyond both ends: the outline goes on into the stretches beside this one.
        times, shares = self.log.levels.between(earliest - 0.2, latest + 0.2)
        if len(times) == 0:
            return
        xs = times * self.scale
        per_pixel = int(len(xs) / max(1.0, xs[-1] - xs[0])) if len(xs) > 1 else 0
        if per_pixel > 1:
            starts = np.arange(0, len(xs), per_pixel)
            xs, shares = xs[starts], np.fmax.reduceat(shares, starts, axis=1)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for row, lane, colour in ((0, "you", self.colours.user), (1, "kame", self.colours.assistant)):
            strip = self.lanes.strips[lane]
            half = np.maximum(shares[row] ** 1.5 * (strip.height / 2 - 0.5), 0.5)
            painter.setBrush(colour)
            for run in _runs(half):
                across, tall = xs[run], half[run]
                if len(across) == 1:
                    across, tall = np.array([across[0] - 1, across[0] + 1]), np.repeat(tall, 2)
                outline = [QPointF(x, y) for x, y in zip(across.tolist(), (strip.middle - tall).tolist(), strict=True)]
                below = zip(across[::-1].tolist(), (strip.middle + tall)[::-1].tolist(), strict=True)
                outline += [QPointF(x, y) for x, y in below]
                painter.drawPolygon(QPolygonF(outline))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    # -- words

    def _words(self, painter: QPainter, thing: UserTurn | Answer, strip: Strip, left: float, right: float) -> None:
        placed = self._flow(thing)
        if not placed:
            return
        letters, colours = self.letters, self.colours
        dim = isinstance(thing, UserTurn) and thing.backchannel
        tops = [strip.top + row * letters.height + letters.ascent for row in range(self._rows(thing))]
        for word in placed:
            if word.x > right or word.x + SPILL_PX < left or word.x + letters.width(word.text) < left:
                continue
            painter.setFont(letters.font if word.settled else letters.italic)
            painter.setPen(colours.text if word.settled and not dim else colours.dim)
            painter.drawText(QPointF(round(word.x), tops[word.row]), word.text)

    def _flow(self, thing: UserTurn | Answer) -> list[Placed]:
        key = (thing.version, thing.next_start)
        known = self._flows.get(thing)
        if known is not None and known[0] == key:
            return known[1]
        if len(self._flows) > MOST_FLOWS:
            self._flows.clear()
        limit = None if thing.next_start is None else thing.next_start * self.scale - 4
        placed = flow(thing.words, self.scale, self.letters.width, self._rows(thing), limit)
        self._flows[thing] = (key, placed)
        return placed

    def _rows(self, thing: UserTurn | Answer) -> int:
        return self.lanes.word_rows if isinstance(thing, UserTurn) else self.lanes.said_rows

    def _partials(self, painter: QPainter, earliest: float, latest: float) -> None:
        strip = self.lanes.strips["words"]
        settling, settled = [], []
        for partial in self.log.partials.between(earliest, latest):
            x = round(partial.start * self.scale) + 0.5
            if partial.final:
                settled.append(QLineF(x, strip.top, x, strip.bottom - 1))
            else:
                settling.append(QLineF(x, strip.bottom - 3, x, strip.bottom - 1))
        painter.setPen(QPen(self.colours.dim, 1))
        painter.drawLines(settling)
        painter.setPen(QPen(self.colours.user, 1))
        painter.drawLines(settled)

    # -- marks

    def _feed(self, painter: QPainter, earliest: float, latest: float) -> None:
        strip = self.lanes.strips["oracle"]
        both = len(self.log.taken) > 0
        words_tall = strip.height * (0.55 if both else 1.0) - 1
        wide = max(1.5, min(4.0, 0.08 * self.scale - 1))
        for fed in self.log.fed.between(earliest, latest):
            tall = words_tall * min(1.0, 0.4 + 0.2 * fed.words)
            x = round(fed.start * self.scale)
            rect = QRectF(x - wide / 2, strip.top + words_tall - tall, wide, tall)
            painter.fillRect(rect, self.backend_colour(fed.backend))
        top = strip.top + words_tall + 1
        for taken in self.log.taken.between(earliest, latest):
            tall = (strip.bottom - top) * min(1.0, 0.4 + 0.3 * taken.tokens)
            x = round(taken.start * self.scale)
            colour = blend(self.backend_colour(taken.backend), self.colours.ground, 0.3)
            painter.fillRect(QRectF(x - wide / 2, top, wide, tall), colour)

    def _troubles(self, painter: QPainter, earliest: float, latest: float) -> None:
        strip = self.lanes.strips["trouble"]
        painter.setPen(Qt.PenStyle.NoPen)
        for trouble in self.log.troubles.between(earliest, latest):
            x = round(trouble.start * self.scale)
            if trouble.what == "late":
                tall = max(4.0, strip.height * min(1.0, 0.35 + trouble.amount / TALLEST_LATE_MS))
                painter.fillRect(QRectF(x - 1.5, strip.bottom - tall, 3, tall), self.colours.warn)
                continue
            serious = trouble.what != "shed"
            half = min(strip.height / 2, 5.0)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setBrush(self.colours.bad if serious else self.colours.warn)
            middle = strip.middle
            corners = [QPointF(x, middle - half), QPointF(x + half, middle), QPointF(x, middle + half)]
            painter.drawPolygon(QPolygonF([*corners, QPointF(x - half, middle)]))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _swaps(self, painter: QPainter, earliest: float, latest: float) -> None:
        letters = self.letters
        for swap in self.log.swaps.between(earliest, latest):
            x = round(swap.start * self.scale) + 0.5
            colour = self.backend_colour(swap.backend) if swap.backend is not None else self.colours.dim
            painter.setPen(QPen(colour, 1.6, Qt.PenStyle.DashLine))
            painter.drawLine(QLineF(x, 0, x, self.lanes.axis.top))
            strip = self.lanes.strips["you"]
            text = f"→ {swap.name}"
            tall = letters.height
            flag = QRectF(x, strip.top, letters.width(text) + 8, tall)
            painter.fillRect(flag, colour)
            painter.setPen(self.colours.on(colour))
            painter.setFont(letters.font)
            painter.drawText(QPointF(x + 4, strip.top + letters.ascent), text)

    def _break(self, painter: QPainter, answer: Answer) -> None:
        """Where the user cut the assistant short."""
        if not answer.interrupted or answer.end is None:
            return
        strip = self.lanes.strips["kame"]
        x = round(answer.end * self.scale) + 0.5
        painter.setPen(QPen(self.colours.bad, 2))
        painter.drawLine(QLineF(x, strip.top, x, self.lanes.said.bottom))
        wide = self.letters.width(self._interrupted)
        if answer.next_start is None or (answer.next_start - answer.end) * self.scale > wide + 8:
            painter.fillRect(QRectF(x + 2, strip.top, wide + 4, strip.height), self.colours.band)
            painter.setFont(self.letters.font)
            y = strip.middle - self.letters.height / 2 + self.letters.ascent
            painter.drawText(QPointF(x + 4, y), self._interrupted)


def _runs(values: np.ndarray) -> list[slice]:
    """The stretches without gaps (NaN)."""
    known = np.flatnonzero(~np.isnan(values))
    if len(known) == 0:
        return []
    breaks = np.flatnonzero(np.diff(known) > 1)
    starts = np.concatenate(([0], breaks + 1))
    ends = np.concatenate((breaks, [len(known) - 1]))
    return [slice(int(known[a]), int(known[b]) + 1) for a, b in zip(starts, ends, strict=True)]
