"""Response time charts: a breakdown of one answer into stages, and a comparison of the latest answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.conversation.record.latency import PIECES, Answer, Piece
from app.gui.design.look import STATE_COLOURS, Look, blend, draw_rounded, painter_on, set_ink
from app.gui.design.plain import LegendLabel, draw_words
from app.gui.widgets.form import column
from app.gui.widgets.formats import decimal, seconds_words

PIECE_COLOURS: dict[Piece, QColor] = {
    "noticing": STATE_COLOURS["listening"],
    "writing": STATE_COLOURS["ready"],
    "backend": STATE_COLOURS["thinking"],
    "voice": STATE_COLOURS["speaking"],
    "between": STATE_COLOURS["stopped"],
}
"""The same colours as those of the conversation's states. White text is readable on all of them in both themes."""

SHOWN_SECONDS = 0.005
"""Shorter pieces are omitted, because they would be displayed as "0.00 s"."""
BAR_PX = 26
MOST_BARS = 30
LEAST_SCALE_SECONDS = 1.0
HEIGHT_PX, HIGHEST_PX = 68, 260


def piece_colour(piece: Piece, palette: QPalette) -> QColor:
    """Returns a piece's colour, lightened for dark themes."""
    dark = palette.color(QPalette.ColorRole.Base).lightnessF() < 0.5
    return PIECE_COLOURS[piece].lighter(135) if dark else PIECE_COLOURS[piece]


class LatencyBar(QWidget):
    """A stacked bar that divides the wait for one answer into pieces, each labelled with its duration if it fits.

    `names`: the names of the pieces in the legend below the bar.
    """

    def __init__(self, names: Mapping[Piece, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names = names
        self._pieces: list[tuple[Piece, float, str]] = []
        self.legend = LegendLabel(self)
        self.legend.setWordWrap(True)
        column(self.legend, within=self, margins=(0, BAR_PX + 6, 0, 0))
        self.setAccessibleName(self.tr("What was waited for"))

    def show_wait(self, wait: Mapping[Piece, float]) -> None:
        """Shows `wait`, the duration of each piece in seconds."""
        shown = [piece for piece in PIECES if wait.get(piece, 0.0) >= SHOWN_SECONDS]
        self._pieces = [(piece, wait[piece], seconds_words(wait[piece])) for piece in shown]
        names = [f"{self._names[piece]} {time}" for piece, _, time in self._pieces]
        self.setAccessibleDescription(", ".join(names) or self.tr("nothing was waited for"))
        colours = [piece_colour(piece, self.palette()).name() for piece in shown]
        self.legend.show_names(list(zip(colours, names, strict=True)))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        palette, left = self.palette(), 0.0
        with painter_on(self) as painter:
            ground = blend(palette.color(QPalette.ColorRole.Window), palette.windowText().color(), 0.12)
            draw_rounded(painter, QRectF(0, 0, self.width(), BAR_PX), 4, fill=ground)
            whole = sum(seconds for _, seconds, _ in self._pieces)
            for piece, seconds, time in self._pieces:
                width = self.width() * seconds / whole
                rect = QRectF(left, 0, max(1.0, width - (1 if left + width < self.width() - 1 else 0)), BAR_PX)
                left += width
                set_ink(painter, fill=PIECE_COLOURS[piece])
                painter.drawRoundedRect(rect, min(4.0, rect.width() / 2), 4)
                if self.fontMetrics().horizontalAdvance(time) + 12 <= rect.width():
                    draw_words(painter, rect, time, QColor("white"), flags=Qt.AlignmentFlag.AlignCenter)


class LatencyStrip(QWidget):
    """A bar chart of the latest answers' response times.

    Emits `picked` with the turn of the bar that the user selects by mouse or keyboard.
    """

    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.answers: Sequence[Answer] = ()
        self.turn, self.slow, self._median = 0, 0.0, 0.0
        self.setAccessibleName(self.tr("Response times of the latest answers"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        self.setMinimumSize(240, HEIGHT_PX)
        self.setMaximumHeight(HIGHEST_PX)
        self.setToolTip(self.tr("One bar for each answer. Click one, or use the arrow keys, to see its stages."))

    def show_answers(self, answers: Sequence[Answer], slow: float, median: float, turn: int) -> None:
        """Shows the last `MOST_BARS` of `answers`.

        - `slow`: answers that took longer than this many seconds are highlighted
        - `median`: the position of the median line, in seconds
        - `turn`: the turn whose bar is marked as selected
        """
        self.answers, self.slow, self._median, self.turn = answers[-MOST_BARS:], slow, median, turn
        description = ""
        for place, answer in enumerate(self.answers, 1):
            if answer.turn == turn:
                time, count = seconds_words(answer.response), len(self.answers)
                description = self.tr("{0} of {1}: {2}").format(place, count, time)
                description += ", " + self.tr("slow") if answer.response > slow else ""
        self.setAccessibleDescription(description)
        self.update()

    @property
    def _plot(self) -> QRectF:
        left = self.fontMetrics().horizontalAdvance("00.0 s") + 10
        return QRectF(left, 12, self.width() - left - 6, self.height() - 24)

    def bar_rect(self, place: int) -> QRectF:
        """Returns the clickable area of the bar at index `place`, which covers the widget's full height."""
        width = self._plot.width() / MOST_BARS
        return QRectF(self._plot.right() - (len(self.answers) - place) * width, 0, width, self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Moves the selection with Left, Right, Home and End."""
        keys, last = Qt.Key, len(self.answers) - 1
        here = next((n for n, answer in enumerate(self.answers) if answer.turn == self.turn), last)
        places: dict[int, int] = {
            keys.Key_Left: here - 1,
            keys.Key_Right: here + 1,
            keys.Key_Home: 0,
            keys.Key_End: last,
        }
        there = places.get(event.key())
        if there is None:
            super().keyPressEvent(event)
        elif 0 <= there <= last:
            self.picked.emit(self.answers[there].turn)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Selects the bar under the pointer."""
        for place, answer in enumerate(self.answers):
            if self.bar_rect(place).contains(event.position()):
                self.picked.emit(answer.turn)

    def paintEvent(self, event: QPaintEvent) -> None:
        look, plot = Look.of(self.palette()), self._plot
        ground, ink = self.palette().color(QPalette.ColorRole.Window), self.palette().windowText().color()
        dim = blend(ink, ground, 0.32)
        top = max(LEAST_SCALE_SECONDS, *(answer.response for answer in self.answers), 0.0)
        with painter_on(self) as painter:
            painter.setPen(QPen(blend(ground, ink, 0.25), 1))
            painter.drawLine(plot.bottomLeft(), plot.bottomRight())
            painter.setPen(dim)
            line = self.fontMetrics().height()
            for seconds, y in ((0.0, plot.bottom()), (top, plot.top())):
                side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                painter.drawText(QRectF(0, y - line / 2, plot.left() - 6, line), side, f"{decimal(seconds, 1)} s")
            for place, answer in enumerate(self.answers):
                cell, height = self.bar_rect(place), max(2.0, plot.height() * answer.response / top)
                bar = QRectF(cell.left() + 1.5, plot.bottom() - height, cell.width() - 3, height)
                fill = look.warn if answer.response > self.slow else look.accent
                draw_rounded(painter, bar, 2, fill=fill, edge=QPen(ink, 2) if answer.turn == self.turn else None)
            if len(self.answers) > 1 and 0 < self._median < top:
                y = round(plot.bottom() - plot.height() * self._median / top)
                painter.setPen(QPen(dim, 1, Qt.PenStyle.DashLine))
                painter.drawLine(round(plot.left()), y, round(plot.right()), y)
            if self.hasFocus():
                draw_rounded(painter, self.rect(), 4, inset=1, edge=QPen(look.accent, 2))
