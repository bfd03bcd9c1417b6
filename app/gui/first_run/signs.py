"""The row of steps, and the mark in front of a finding."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui.design.look import Look, blend
from app.gui.design.plain import set_tip
from app.services.machine_service import State


class Steps(QWidget):
    """The steps in a row, each with a dot: done, present, or still to come."""

    def __init__(self, names: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self._names = tuple(names)
        self.here = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_step(0)

    def show_step(self, here: int) -> None:
        self.here = here
        self.setAccessibleName(self.tr("Step {0} of {1}: {2}").format(here + 1, len(self._names), self._names[here]))
        self.update()

    def sizeHint(self) -> QSize:
        high = self.fontMetrics().height()
        wide = sum(self.fontMetrics().horizontalAdvance(name) for name in self._names)
        return QSize(wide + len(self._names) * (high + 30), high + 8)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        look = Look.of(self.palette())
        ink = self.palette().color(QPalette.ColorRole.WindowText)
        ground = self.palette().color(QPalette.ColorRole.Window)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        high = self.fontMetrics().height()
        widths = [high + 6 + self.fontMetrics().horizontalAdvance(name) for name in self._names]
        gap = (self.width() - sum(widths) - 2) / max(1, len(self._names) - 1)
        x, middle = 1.0, self.height() / 2
        for place, (name, wide) in enumerate(zip(self._names, widths, strict=True)):
            dot = QRectF(x, middle - high / 2, high, high)
            done, here = place < self.here, place == self.here
            colour = look.accent if done or here else blend(ground, ink, 0.35)
            painter.setPen(QPen(colour, 1.5))
            painter.setBrush(look.accent if here else Qt.BrushStyle.NoBrush)
            painter.drawEllipse(dot.adjusted(1, 1, -1, -1))
            if done:
                _tick(painter, dot.adjusted(3, 3, -3, -3), look.accent)
            else:
                painter.setPen(_text_colour(look.accent) if here else blend(ink, ground, 0.3))
                painter.drawText(dot, Qt.AlignmentFlag.AlignCenter, str(place + 1))
            painter.setPen(ink if here else blend(ink, ground, 0.3))
            words = QRectF(x + high + 6, 0, wide, self.height())
            painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)
            if place < len(self._names) - 1:
                painter.setPen(QPen(blend(ground, ink, 0.2), 1))
                if gap > 16:
                    painter.drawLine(QPointF(x + wide + 8, middle), QPointF(x + wide + gap - 8, middle))
            x += wide + gap
        painter.end()


class Mark(QWidget):
    """A tick, a dash or a cross, with a name for screen readers."""

    def __init__(self, state: State, parent: QWidget) -> None:
        super().__init__(parent)
        self.state: State = state
        names = {"good": self.tr("good"), "fair": self.tr("all right"), "missing": self.tr("missing")}
        self.setAccessibleName(names[state])
        set_tip(self, names[state])
        side = self.fontMetrics().height() + 2
        self.setFixedSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        look = Look.of(self.palette())
        ground = self.palette().color(QPalette.ColorRole.Window)
        ink = self.palette().color(QPalette.ColorRole.WindowText)
        colour = {"good": look.good, "fair": blend(ground, ink, 0.5), "missing": look.bad}[self.state]
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        disc = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(blend(ground, colour, 0.22))
        painter.drawEllipse(disc)
        room = disc.adjusted(disc.width() * 0.27, disc.height() * 0.27, -disc.width() * 0.27, -disc.height() * 0.27)
        colour = blend(colour, ink, 0.25)
        if self.state == "good":
            _tick(painter, room, colour)
        else:
            painter.setPen(QPen(colour, 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            if self.state == "missing":
                painter.drawLine(room.topLeft(), room.bottomRight())
                painter.drawLine(room.topRight(), room.bottomLeft())
            else:
                painter.drawLine(QPointF(room.left(), room.center().y()), QPointF(room.right(), room.center().y()))
        painter.end()


def _text_colour(colour: QColor) -> QColor:
    """Black or white, whichever is readable on a colour."""
    return QColor("black" if colour.lightnessF() > 0.55 else "white")


def _tick(painter: QPainter, room: QRectF, colour: QColor) -> None:
    painter.setPen(QPen(colour, 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(
        [
            QPointF(room.left(), room.center().y() + room.height() * 0.05),
            QPointF(room.left() + room.width() * 0.38, room.bottom() - room.height() * 0.08),
            QPointF(room.right(), room.top() + room.height() * 0.12),
        ]
    )
