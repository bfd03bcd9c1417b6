"""The last minute of the conversation in one line: who spoke, and when which model worked."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.gui.design.look import Look
from app.gui.design.theme import tokens
from app.gui.timeline_data.log import TimelineLog
from app.gui.timeline_drawing.style import Colours

SECONDS = 60.0
STEP_SECONDS = 0.25
"""It is painted again when the conversation has gone on by so much."""
BAR_PX, THIN_PX = 4.0, 2.0


class MiniTimeline(QAbstractButton):
    """Reads the timeline's log; `settle` shows what has changed."""

    def __init__(self, log: TimelineLog, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._log = log
        self._painted = (-1.0, 0)
        self.setAccessibleName(self.tr("Timeline of the last minute"))
        self.setToolTip(self.tr("The last minute: your turns, KAME's answers, and the models at work. Click for more."))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def settle(self) -> None:
        """Paints again where there is something new."""
        log = self._log
        now = (log.now // STEP_SECONDS, len(log.requests))
        if now != self._painted:
            self._painted = now
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, tokens().strip - 8)

    def minimumSizeHint(self) -> QSize:
        return QSize(40, tokens().strip - 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._log.now and not self.hasFocus():
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours, shown, log = Colours.of(self.palette()), tokens(), self._log
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(shown.sunken))
        ground = QRectF(self.rect()).adjusted(0, 1, 0, -1)
        painter.drawRoundedRect(ground, 4, 4)
        painter.setClipRect(ground)
        left = max(0.0, log.now - SECONDS)
        scale = self.width() / SECONDS
        third = self.height() / 4

        def bar(start: float, end: float | None, middle: float, thick: float, colour: QColor) -> None:
            x = (start - left) * scale
            wide = max(2.0, ((log.now if end is None else end) - start) * scale)
            painter.setBrush(colour)
            painter.drawRoundedRect(QRectF(x, middle - thick / 2, wide, thick), thick / 2, thick / 2)

        for turn in log.turns.between(left, log.now):
            bar(turn.start, turn.end, third, BAR_PX, colours.user)
        for request in log.requests.between(left, log.now):
            bar(request.start, request.end, 2 * third, THIN_PX, colours.backend(request.backend))
        for answer in log.answers.between(left, log.now):
            bar(answer.start, answer.end, 3 * third, BAR_PX, colours.assistant)
        if self.hasFocus():
            painter.setClipping(False)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(Look.of(self.palette()).accent)
            painter.drawRoundedRect(ground.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.end()
