"""Shows one answer as a bar: the time until it was heard, divided into what was waited for."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.conversation.latency import PIECES, Piece
from app.gui.design.look import STATE_COLOURS, blend
from app.gui.design.plain import set_tip
from app.gui.latency.descriptions import LatencyWords
from app.gui.widgets.formats import seconds_words

PIECE_COLOURS: dict[Piece, QColor] = {
    "noticing": STATE_COLOURS["listening"],
    "writing": STATE_COLOURS["ready"],
    "backend": STATE_COLOURS["thinking"],
    "voice": STATE_COLOURS["speaking"],
    "between": STATE_COLOURS["stopped"],
}
"""The colours that the conversation's states have elsewhere: white is readable on each, in light and in dark."""

SHOWN_SECONDS = 0.005
"""Shorter pieces would read 0.00 s and are left out."""

BAR_PX = 26
GAP_PX = 16
SWATCH_PX = 10


def piece_colour(piece: Piece, dark: bool) -> QColor:
    """A piece's colour, lighter on a dark background."""
    return PIECE_COLOURS[piece].lighter(135) if dark else PIECE_COLOURS[piece]


class LatencyBar(QWidget):
    """The bar, with each piece's time in it where there is room, and below it what the colours mean."""

    def __init__(self, words: LatencyWords, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.wait: Mapping[Piece, float] = {}
        self.setAccessibleName(self.tr("What was waited for"))
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_wait(self, wait: Mapping[Piece, float]) -> None:
        """Shows how long what was waited for, in seconds."""
        self.wait = wait
        told = ", ".join(f"{name} {time}" for _, name, time in self._pieces()) or self.tr("nothing was waited for")
        self.setAccessibleDescription(told)
        set_tip(self, "\n".join(f"{self._words.stage(p)}: {time}" for p, _, time in self._pieces()))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(420, self.heightForWidth(420))

    def minimumSizeHint(self) -> QSize:
        return QSize(240, BAR_PX)

    def heightForWidth(self, width: int) -> int:
        """The height of the bar and the lines of its legend."""
        places = self._places(width)
        lines = 1 + max((line for line, *_ in places), default=0)
        return BAR_PX + 6 + lines * self._line_height

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = self.palette()
        ground, ink = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
        dark = ground.lightnessF() < 0.5
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(blend(ground, ink, 0.12))
        painter.drawRoundedRect(QRectF(0, 0, self.width(), BAR_PX), 4, 4)
        self._paint_pieces(painter, dark)
        for line, left, piece, text in self._places(self.width()):
            top = BAR_PX + 6 + line * self._line_height
            middle = top + self._line_height / 2
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(piece_colour(piece, dark))
            painter.drawRoundedRect(QRectF(left, middle - SWATCH_PX / 2, SWATCH_PX, SWATCH_PX), 2, 2)
            painter.setPen(ink)
            rect = QRectF(left + SWATCH_PX + 6, top, self.width(), self._line_height)
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        painter.end()

    def _paint_pieces(self, painter: QPainter, dark: bool) -> None:
        pieces = self._pieces()
        whole = sum(self.wait[piece] for piece, *_ in pieces)
        left, metrics = 0.0, self.fontMetrics()
        for place, (piece, _, time) in enumerate(pieces):
            width = self.width() * self.wait[piece] / whole
            last = place == len(pieces) - 1
            rect = QRectF(left, 0, max(1.0, width - (0 if last else 1)), BAR_PX)
            left += width
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(PIECE_COLOURS[piece].lighter(115) if dark else PIECE_COLOURS[piece])
            if rect.width() > 8:
                painter.drawRoundedRect(rect, 4, 4)
            else:
                painter.drawRect(rect)
            if metrics.horizontalAdvance(time) + 12 <= rect.width():
                painter.setPen(QColor("white"))
                painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, time)

    @property
    def _line_height(self) -> int:
        return self.fontMetrics().height() + 4

    def _pieces(self) -> list[tuple[Piece, str, str]]:
        """The pieces that took time, with their names and times in words."""
        return [
            (piece, self._words.short(piece), seconds_words(self.wait[piece]))
            for piece in PIECES
            if self.wait.get(piece, 0.0) >= SHOWN_SECONDS
        ]

    def _places(self, width: int) -> list[tuple[int, float, Piece, str]]:
        """The legend's entries: line, left edge, piece, text."""
        point, line, out = QPointF(0, 0), 0, []
        for piece, name, time in self._pieces():
            text = f"{name} {time}"
            needed = SWATCH_PX + 6 + self.fontMetrics().horizontalAdvance(text)
            if point.x() and point.x() + needed > width:
                line += 1
                point.setX(0)
            out.append((line, point.x(), piece, text))
            point.setX(point.x() + needed + GAP_PX)
        return out
