"""A level meter from -60 to 0 dB with a peak-hold line, which decays based on event timestamps."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui.design.look import Look, blend, draw_rounded, painter_on

LOWEST_DB = -60.0
HOLD_SECONDS = 1.2
FALL_DB_PER_SECOND = 24.0
CLIPPED_SECONDS = 2.0
"""How long the "too loud" warning stays visible after clipping."""
MARKS_DB = (-60, -40, -20, 0)


class LevelMeter(QWidget):
    """Shows the latest level as a bar and the recent peak as a line, below the label if `titled`."""

    def __init__(self, label: str, parent: QWidget | None = None, *, titled: bool = True) -> None:
        super().__init__(parent)
        self._label = label
        self._titled = titled
        self.level_db = LOWEST_DB
        self.peak_db = LOWEST_DB
        self._peak_at = 0.0
        self._last_at = 0.0
        self._clipped_at = -1e9
        self.muted = False
        self.setAccessibleName(label)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def clipped(self) -> bool:
        """Whether the audio clipped within the last `CLIPPED_SECONDS`."""
        return self._last_at - self._clipped_at <= CLIPPED_SECONDS

    def set_muted(self, muted: bool) -> None:
        """Sets whether the microphone is muted, which the meter displays differently from silence."""
        if self.muted != muted:
            self.muted = muted
            self.clear()

    def set_level(self, level_db: float, at: float, clipped: bool = False) -> None:
        """Shows a level in dB at session time `at`; NaN counts as silence. `clipped`: whether the audio clipped."""
        if clipped:
            self._clipped_at = at
        level = min(0.0, max(LOWEST_DB, level_db)) if level_db == level_db else LOWEST_DB
        self.level_db = level
        if level >= self.peak_db:
            self.peak_db, self._peak_at = level, at
        elif at - self._peak_at > HOLD_SECONDS:
            fallen = self.peak_db - FALL_DB_PER_SECOND * max(0.0, at - self._last_at)
            self.peak_db = max(level, fallen)
        self._last_at = at
        self.update()

    def clear(self) -> None:
        """Resets the meter to silence at session time 0."""
        self.level_db = self.peak_db = LOWEST_DB
        self._peak_at = self._last_at = 0.0
        self._clipped_at = -1e9
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(220, round(self.fontMetrics().height() * (2.1 if self._titled else 1.0)) + 12)

    def minimumSizeHint(self) -> QSize:
        return QSize(110, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        look = Look.of(self.palette())
        ground = self.palette().color(QPalette.ColorRole.Window)
        ink = self.palette().color(QPalette.ColorRole.WindowText)
        with painter_on(self) as painter:
            line = self.fontMetrics().height()
            remark = self.tr("muted") if self.muted else self.tr("too loud") if self.clipped else ""
            if self._titled:
                painter.setPen(ink)
                painter.drawText(0, 0, self.width(), line, Qt.AlignmentFlag.AlignLeft, self._label)
                painter.setPen(look.bad)
                painter.drawText(0, 0, self.width(), line, Qt.AlignmentFlag.AlignRight, remark)
            # Inset, so that the first and last labels of the scale can be centred below the ends of the bar.
            small = self.font()
            small.setPointSizeF(small.pointSizeF() * 0.8)
            inset = max(10.0, QFontMetricsF(small).horizontalAdvance("\u221260") / 2 + 1)
            track = QRectF(inset, line + 3 if self._titled else 2, self.width() - 2 * inset, 9)
            draw_rounded(painter, track, 3, fill=blend(ground, ink, 0.16))
            if self.muted:
                painter.setPen(QPen(look.bad, 2))
                painter.drawLine(track.topLeft(), track.bottomRight())
                painter.setPen(Qt.PenStyle.NoPen)
            filled = QRectF(track)
            filled.setWidth(track.width() * _share(self.level_db))
            if filled.width() > 0.5:
                painter.setBrush(self._colour(look, self.level_db))
                painter.drawRoundedRect(filled, 3, 3)
            if self.peak_db > LOWEST_DB:
                x = track.left() + track.width() * _share(self.peak_db)
                painter.setPen(QPen(self._colour(look, self.peak_db), 2))
                painter.drawLine(round(x), round(track.top()) - 1, round(x), round(track.bottom()) + 1)
            painter.setFont(small)
            painter.setPen(blend(ink, ground, 0.36))
            if remark and not self._titled:  # drawn in place of the scale
                painter.setPen(look.bad)
                below = QRectF(track.left(), track.bottom() + 1, track.width(), line)
                painter.drawText(below, Qt.AlignmentFlag.AlignHCenter, remark)
            for mark in MARKS_DB if self._titled or not remark else ():
                x = track.left() + track.width() * _share(mark)
                rect = QRectF(x - 20, track.bottom() + 1, 40, line)
                painter.drawText(rect, Qt.AlignmentFlag.AlignHCenter, f"{mark}".replace("-", "\u2212"))

    @staticmethod
    def _colour(look: Look, level_db: float) -> QColor:
        if level_db > -3:
            return look.bad
        return look.warn if level_db > -12 else look.good


def _share(level_db: float) -> float:
    return (level_db - LOWEST_DB) / -LOWEST_DB
