"""The mute button beside the microphone's level."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.gui.widgets.palette import STATE_COLOURS, Look, blend


class MuteButton(QAbstractButton):
    """Checked: the user has muted the microphone; `confirmed`: the session has done so, and only then it turns red."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setCheckable(True)
        self.confirmed = False
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.toggled.connect(lambda _: self._show_state())
        self._show_state()

    def confirm(self, muted: bool) -> None:
        """Shows whether the session has muted the microphone."""
        if self.confirmed != muted:
            self.confirmed = muted
            self._show_state()

    def sizeHint(self) -> QSize:
        """Has room for the longer of its two words."""
        metrics = self.fontMetrics()
        width = max(metrics.horizontalAdvance(text) for text in (self.tr("Mute"), self.tr("Muted")))
        return QSize(width + 26, metrics.height() + 12)

    def _show_state(self) -> None:
        self.setText(self.tr("Muted") if self.isChecked() else self.tr("Mute"))
        self.setAccessibleName(self.tr("Mute the microphone"))
        words = (
            self.tr("The microphone is muted: none of its sound is used.")
            if self.confirmed
            else self.tr("Silences the microphone (Ctrl+M).")
        )
        self.setToolTip(words)
        self.setAccessibleDescription(words)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints a small box, red while muting is confirmed."""
        palette = self.palette()
        ground, ink = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 2, -0.5, -2)
        if self.confirmed:
            fill, text = STATE_COLOURS["muted"], QColor("white")
        else:
            fill, text = blend(ground, ink, 0.22 if self.isChecked() or self.isDown() else 0.1), ink
        if self.underMouse() and self.isEnabled():
            fill = blend(fill, ink, 0.08)
        painter.setPen(QPen(blend(ground, ink, 0.3), 1))
        painter.setBrush(fill)
        painter.drawRoundedRect(box, 6, 6)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(Look.of(palette).accent, 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 7, 7)
        painter.setPen(text)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())
        painter.end()
