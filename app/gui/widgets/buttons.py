"""Small buttons: slim buttons, links and toggles.

A slim button is only as wide as its text, without the style's minimum width, which is meant for the buttons at the
bottom of dialogs. A link is a flat button with a focus ring. A toggle is a check box drawn as a switch.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox, QPushButton, QWidget

from app.gui.design.look import Look, blend, draw_rounded, painter_on, set_ink
from app.gui.design.motion import Glide
from app.gui.design.plain import OnClick, connect_click
from app.gui.design.theme import tokens

SIDES_PX = 24


class SlimButton(QPushButton):
    """A push button without a minimum width."""

    def sizeHint(self) -> QSize:
        words = self.fontMetrics().horizontalAdvance(self.text().replace("&", ""))
        return QSize(words + SIDES_PX, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


class LinkButton(QPushButton):
    """A flat button that underlines its text on hover. `name` is its accessible name.

    `does` is called or emitted on a click.
    """

    def __init__(self, parent: QWidget, text: str = "", name: str = "", does: OnClick | None = None) -> None:
        super().__init__(text, parent)
        connect_click(self, does)
        self.setAccessibleName(name)
        self.setFlat(True)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        with painter_on(self) as painter:
            if self.hasFocus():
                painter.setPen(QPen(Look.of(self.palette()).accent, 2))
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
            if self.underMouse() and self.isEnabled():
                words = self.fontMetrics().boundingRect(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())
                painter.setPen(self.palette().buttonText().color())
                painter.drawLine(words.bottomLeft(), words.bottomRight())


TRACK_PX = 36, 20
EDGE_PX = 4
"""The margin around the track for the focus ring."""


class Toggle(QCheckBox):
    """A check box drawn as a switch. It shows no text, so it needs a separate label."""

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
        with painter_on(self) as painter:
            off, on = QColor(t.outline), QColor(t.accent_hover if self.underMouse() else t.accent)
            fill = blend(off, on, share)
            if not self.isEnabled():
                fill = QColor(t.line)
            draw_rounded(painter, track, track.height() / 2, fill=fill)
            knob = track.height() - 6
            left = track.left() + 3 + share * (track.width() - track.height())
            painter.setBrush(blend(QColor(t.surface), QColor(t.on_accent), share))
            painter.drawEllipse(QRectF(left, track.top() + 3, knob, knob))
            if self.hasFocus():
                set_ink(painter, edge=QPen(QColor(t.accent_text), 2))
                ring = track.adjusted(-3, -3, 3, 3)
                painter.drawRoundedRect(ring, ring.height() / 2, ring.height() / 2)
