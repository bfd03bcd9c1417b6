"""Shows the response times of the newest answers as a row of bars, one of which is picked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QFont, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui.design.look import Look, blend
from app.gui.widgets.formats import seconds_words

MOST_BARS = 30
LEAST_SCALE_SECONDS = 1.0
HEIGHT_PX = 68
HIGHEST_PX = 260


@dataclass(frozen=True, slots=True)
class Bar:
    """One answer: the user's turn, and seconds; `slow` ones stand out."""

    turn: int
    seconds: float
    slow: bool = False


class LatencyStrip(QWidget):
    """Emits `picked` with the turn of the bar that the user has clicked or reached with the arrow keys."""

    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars: tuple[Bar, ...] = ()
        self.turn = 0
        self._median: float | None = None
        self.setAccessibleName(self.tr("Response times of the newest answers"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        self.setMaximumHeight(HIGHEST_PX)
        self.setToolTip(
            self.tr("One bar an answer, the newest at the right. Click one, or use the arrow keys, to see its stages.")
        )

    def show_bars(self, bars: Sequence[Bar], median: float | None, turn: int) -> None:
        """Shows the newest of `bars`, a line at `median`, and the one of `turn` as picked."""
        self.bars, self._median, self.turn = tuple(bars[-MOST_BARS:]), median, turn
        mine = next((bar for bar in self.bars if bar.turn == turn), None)
        told = self.tr("none picked")
        if mine is not None:
            place = self.bars.index(mine) + 1
            told = self.tr("{0} of {1}: {2}").format(place, len(self.bars), seconds_words(mine.seconds))
            if mine.slow:
                told += ", " + self.tr("slow")
        self.setAccessibleDescription(told)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(420, HEIGHT_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, HEIGHT_PX)

    def bar_rect(self, place: int) -> QRectF:
        """Where the bar at `place` is clicked: the whole height."""
        plot = self._plot
        width = plot.width() / MOST_BARS
        return QRectF(plot.right() - (len(self.bars) - place) * width, 0, width, self.height())

    # -- Qt's own events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The arrow keys, Home and End pick another bar."""
        here = next((n for n, bar in enumerate(self.bars) if bar.turn == self.turn), len(self.bars) - 1)
        there = {
            Qt.Key.Key_Left: here - 1,
            Qt.Key.Key_Right: here + 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: len(self.bars) - 1,
        }.get(Qt.Key(event.key()))
        if there is None:
            super().keyPressEvent(event)
        elif 0 <= there < len(self.bars):
            self.picked.emit(self.bars[there].turn)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click picks the bar under it."""
        for place, bar in enumerate(self.bars):
            if self.bar_rect(place).contains(event.position()):
                self.picked.emit(bar.turn)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = self.palette()
        look = Look.of(palette)
        ground, ink = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
        dim = blend(ink, ground, 0.32)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        plot, top = self._plot, self._scale
        painter.setPen(QPen(blend(ground, ink, 0.25), 1))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())
        painter.setPen(dim)
        painter.setFont(self._small)
        line = self.fontMetrics().height()
        labels = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for seconds, y in ((0.0, plot.bottom()), (top, plot.top())):
            painter.drawText(QRectF(0, y - line / 2, plot.left() - 6, line), labels, f"{seconds:.1f} s")
        for place, bar in enumerate(self.bars):
            self._paint_bar(painter, place, bar, look, ink)
        if self._median is not None and len(self.bars) > 1 and 0 < self._median < top:
            y = plot.bottom() - plot.height() * self._median / top
            painter.setPen(QPen(dim, 1, Qt.PenStyle.DashLine))
            painter.drawLine(round(plot.left()), round(y), round(plot.right()), round(y))
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(look.accent, 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
        painter.end()

    def _paint_bar(self, painter: QPainter, place: int, bar: Bar, look: Look, ink: QColor) -> None:
        plot, cell = self._plot, self.bar_rect(place)
        height = max(2.0, plot.height() * min(1.0, bar.seconds / self._scale))
        rect = QRectF(cell.left() + 1.5, plot.bottom() - height, cell.width() - 3, height)
        colour = look.warn if bar.slow else look.accent
        mine = bar.turn == self.turn
        painter.setPen(QPen(ink, 2) if mine else Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(rect, 2, 2)

    @property
    def _small(self) -> QFont:
        font = self.font()
        font.setPointSizeF(font.pointSizeF() * 0.85)
        return font

    @property
    def _scale(self) -> float:
        """Seconds at the top."""
        return max(LEAST_SCALE_SECONDS, *(bar.seconds for bar in self.bars), 0.0)

    @property
    def _plot(self) -> QRectF:
        left = self.fontMetrics().horizontalAdvance("00.0 s") + 10
        return QRectF(left, 12, self.width() - left - 6, self.height() - 24)
