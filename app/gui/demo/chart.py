"""The demo's chart: response times as bars, by front-end and model."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui.demo.descriptions import DemoGroup, DemoWords
from app.gui.design.look import Look, blend

_HUES = ("#2f78c4", "#d9822b", "#3b9c6b", "#8a5cc7", "#c2486a", "#6b7c93")
_HUES_DARK = ("#6ca9ec", "#f0a95c", "#63c795", "#b592ec", "#ec88a4", "#a3b1c4")
STEPS = (0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
LEAST_SCALE_SECONDS = 0.5


def backend_colour(place: int, dark: bool) -> QColor:
    """The colour of the model at `place` in the order of names."""
    hues = _HUES_DARK if dark else _HUES
    return QColor(hues[place % len(hues)])


class DemoChart(QWidget):
    """Paints groups of bars below each other, over a grid of seconds."""

    def __init__(self, words: DemoWords, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.groups: tuple[DemoGroup, ...] = ()
        self._names: tuple[str, ...] = ()
        self._words = words
        self.setAccessibleName(self.tr("Response times by model"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_groups(self, groups: Sequence[DemoGroup], names: Sequence[str]) -> None:
        """Shows these bars; the order of `names` gives the colours."""
        self.groups, self._names = tuple(groups), tuple(names)
        descriptions = (
            f"{group.title}: " + ", ".join(f"{bar.backend} {self._words.time(bar.seconds)}" for bar in group.bars)
            for group in self.groups
        )
        self.setAccessibleDescription("; ".join(descriptions))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Is as high as its bars."""
        return QSize(640, round(self._height))

    def minimumSizeHint(self) -> QSize:
        """Narrower, at the same height."""
        return QSize(380, round(self._height))

    @property
    def scale(self) -> float:
        """Seconds at the right edge: a round number."""
        return math.ceil(self._longest / self._step - 1e-9) * self._step

    @property
    def _longest(self) -> float:
        return max([bar.seconds or 0.0 for group in self.groups for bar in group.bars] + [LEAST_SCALE_SECONDS])

    @property
    def _step(self) -> float:
        return next((step for step in STEPS if self._longest / step <= 5), STEPS[-1])

    @property
    def _line(self) -> float:
        return self.fontMetrics().height()

    @property
    def _row(self) -> float:
        return self._line * 1.55

    @property
    def _height(self) -> float:
        bars = sum(len(group.bars) for group in self.groups)
        return bars * self._row + len(self.groups) * self._line * 2.1 + self._line * 1.9

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints each group with its grid."""
        palette = self.palette()
        ground, ink = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
        look = Look.of(palette)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        plot = self._plot
        y = 0.0
        for group in self.groups:
            top = y + self._line * 2.1
            bars = QRectF(plot.left(), top, plot.width(), len(group.bars) * self._row)
            last = group is self.groups[-1]
            self._paint_grid(painter, bars, ground, ink, with_times=last)
            y = self._paint_group(painter, plot, y, group, (look, ink))
        painter.end()

    def _paint_grid(self, painter: QPainter, plot: QRectF, ground: QColor, ink: QColor, *, with_times: bool) -> None:
        painter.setFont(self._small)
        steps = round(self.scale / self._step)
        digits = 2 if self._step == 0.25 else 1 if self._step < 1 else 0
        for step in range(steps + 1):
            seconds = step * self._step
            x = plot.left() + plot.width() * seconds / self.scale
            painter.setPen(QPen(blend(ground, ink, 0.28 if step == 0 else 0.13), 1))
            painter.drawLine(round(x), round(plot.top()), round(x), round(plot.bottom()))
            if not with_times:
                continue
            painter.setPen(blend(ink, ground, 0.32))
            box = QRectF(x - 40, plot.bottom() + 2, 80, self._line)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, f"{seconds:.{digits}f} s")

    def _paint_group(
        self, painter: QPainter, plot: QRectF, y: float, group: DemoGroup, colours: tuple[Look, QColor]
    ) -> float:
        look, ink = colours
        bold = QFont(self.font())
        bold.setWeight(QFont.Weight.DemiBold)
        painter.setFont(bold)
        painter.setPen(ink)
        y += self._line * 0.5
        title = QRectF(0, y, self.width(), self._line * 1.2)
        painter.drawText(title, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, group.title)
        y += self._line * 1.6
        painter.setFont(self.font())
        for bar in group.bars:
            row = QRectF(0, y, self.width(), self._row)
            painter.setPen(ink)
            name = self.fontMetrics().elidedText(bar.backend, Qt.TextElideMode.ElideRight, round(plot.left() - 12))
            label = QRectF(0, y, plot.left() - 10, self._row)
            painter.drawText(label, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, name)
            width = plot.width() * max(0.0, bar.seconds or 0.0) / self.scale
            box = QRectF(plot.left(), row.center().y() - self._row * 0.33, max(width, 2.0), self._row * 0.66)
            if bar.seconds is not None:
                painter.setPen(Qt.PenStyle.NoPen)
                place = self._names.index(bar.backend) if bar.backend in self._names else 0
                painter.setBrush(backend_colour(place, look.dark))
                painter.drawRoundedRect(box, 3, 3)
            painter.setPen(ink if bar.seconds is not None else look.bad)
            text = self._words.time(bar.seconds)
            place_of = QRectF(box.right() + 6 if bar.seconds is not None else plot.left() + 6, y, 200, self._row)
            painter.drawText(place_of, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
            y += self._row
        return y

    @property
    def _small(self) -> QFont:
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * 0.85)
        return font

    @property
    def _plot(self) -> QRectF:
        widest = max((self.fontMetrics().horizontalAdvance(b.backend) for g in self.groups for b in g.bars), default=0)
        left = min(widest + 14, self.width() * 0.4)
        times = self.fontMetrics().horizontalAdvance("00.00 s") + 12
        return QRectF(left, 0, max(40.0, self.width() - left - times), self._height - self._line * 1.5)
