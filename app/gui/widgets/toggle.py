"""A check box that is drawn as a switch."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox, QWidget

from app.gui.design.look import blend
from app.gui.design.motion import Glide
from app.gui.design.theme import tokens

TRACK_PX = 36, 20
EDGE_PX = 4
"""Around the track, for the ring that shows the focus."""


class Toggle(QCheckBox):
    """Has no text of its own: the label stands beside it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._glide = Glide(lambda _: self.update(), self, milliseconds=tokens().quick_ms)
        self.toggled.connect(self._move)

    def sizeHint(self) -> QSize:
        return QSize(TRACK_PX[0] + 2 * EDGE_PX, TRACK_PX[1] + 2 * EDGE_PX)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, point: QPoint) -> bool:
        return self.rect().contains(point)

    def _move(self, on: bool) -> None:
        if self.isVisible():
            self._glide.go(float(on))
        else:
            self._glide.jump(float(on))

    def paintEvent(self, event: QPaintEvent) -> None:
        t, share = tokens(), self._glide.value
        track = QRectF(EDGE_PX, (self.height() - TRACK_PX[1]) / 2, *TRACK_PX)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        off, on = QColor(t.outline), QColor(t.accent_hover if self.underMouse() else t.accent)
        fill = blend(off, on, share)
        if not self.isEnabled():
            fill = QColor(t.line)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawRoundedRect(track, track.height() / 2, track.height() / 2)
        knob = track.height() - 6
        left = track.left() + 3 + share * (track.width() - track.height())
        painter.setBrush(blend(QColor(t.surface), QColor(t.on_accent), share))
        painter.drawEllipse(QRectF(left, track.top() + 3, knob, knob))
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(t.accent_text), 2))
            ring = track.adjusted(-3, -3, 3, 3)
            painter.drawRoundedRect(ring, ring.height() / 2, ring.height() / 2)
        painter.end()
