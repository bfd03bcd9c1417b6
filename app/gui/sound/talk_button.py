"""The round talk button. Its colour and icon show the state, and its ring shows the audio level."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QMouseEvent, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.gui.design.fonts import sized
from app.gui.design.icons import paint_icon
from app.gui.design.look import STATE_COLOURS, blend, painter_on, set_ink
from app.gui.design.motion import reduced_motion
from app.gui.design.plain import draw_words
from app.gui.design.theme import tokens

CIRCLE_PX, RING_PX, ICON_PX, GAP_PX = 56, 10, 24, 6
QUIETEST_DB = -55.0
FALL = 0.3
"""Decay of the ring: the fraction of the distance to a lower level covered per update."""

_ICONS = {
    "loading": "loader-circle",
    "ready": "mic",
    "listening": "mic",
    "hearing": "audio-lines",
    "thinking": "sparkles",
    "speaking": "audio-lines",
    "stopped": "play",
    "muted": "mic-off",
}


class TalkButton(QAbstractButton):
    """A round button in the colour of the state `word`. Below it is the button text; if `words` is False, only the
    circle and its ring are shown. `hint` is for the widgets around it to show.
    """

    def __init__(self, parent: QWidget | None = None, *, words: bool = True) -> None:
        super().__init__(parent)
        self._with_words = words
        self.word = "stopped"
        self.hint = ""
        self.level = 0.0
        """The size of the ring, from 0 to 1."""
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        wide = QSizePolicy.Policy.Preferred if words else QSizePolicy.Policy.Fixed
        self.setSizePolicy(wide, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def show_state(self, word: str, text: str, hint: str) -> None:
        """Shows a state. `word` determines colour and icon."""
        if (self.word, self.text(), self.hint) == (word, text, hint):
            return
        self.word, self.hint = word, hint
        self.setText(text)
        self.setAccessibleDescription(f"{text}. {hint}" if hint else text)
        self.update()

    def show_levels(self, user_db: float, assistant_db: float) -> None:
        """Shows the level of whichever side is speaking. Both levels are in dBFS."""
        self.show_level(assistant_db if self.word == "speaking" else user_db)

    def show_level(self, level_db: float) -> None:
        """Shows a level in dBFS as the size of the ring; NaN counts as silence."""
        wanted = min(1.0, max(0.0, 1 - level_db / QUIETEST_DB)) if level_db == level_db else 0.0
        if wanted < self.level and not reduced_motion():
            wanted = max(wanted, self.level + (wanted - self.level) * FALL)
        if abs(wanted - self.level) > 0.01:
            self.level = wanted
            self.update(self._circle_room())

    def colour(self) -> QColor:
        """Returns the colour of the current state."""
        return STATE_COLOURS[self.word]

    def sizeHint(self) -> QSize:
        """Returns the size of the circle with its ring and, if shown, a line of text."""
        if not self._with_words:
            return QSize(CIRCLE_PX + 2 * RING_PX, CIRCLE_PX + 2 * RING_PX)
        high = CIRCLE_PX + 2 * RING_PX + QFontMetrics(self._text_font()).height() + GAP_PX
        return QSize(round(self.fontMetrics().height() * 9), high)

    def minimumSizeHint(self) -> QSize:
        """Returns the smallest size at which the main text still fits."""
        if not self._with_words:
            return self.sizeHint()
        words = QFontMetrics(self._text_font()).horizontalAdvance(self.text())
        return QSize(max(words, CIRCLE_PX + 2 * RING_PX), self.sizeHint().height())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Ignores the move, so that the button stays pressed if the pointer slips off it while the user is speaking."""
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Releases the button, even if the pointer is outside it."""
        down = self.isDown()
        super().mouseReleaseEvent(event)
        if down and not self.isDown() and not self.hitButton(event.position().toPoint()):
            self.released.emit()  # Qt doesn't emit this if the pointer is outside the button

    def _text_font(self) -> QFont:
        return sized(self.font(), "body", QFont.Weight.DemiBold)

    def _circle_room(self) -> QRect:
        wide = CIRCLE_PX + 2 * RING_PX
        return QRectF((self.width() - wide) / 2, 0, wide, wide).toAlignedRect()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the ring, the circle with its icon, and the text below."""
        shown = tokens()
        with painter_on(self) as painter:
            colour = self.colour()
            if self.isDown():
                colour = colour.darker(118)
            elif self.underMouse() and self.isEnabled():
                colour = blend(colour, QColor("white"), 0.1)
            centre = QPointF(self.width() / 2, RING_PX + CIRCLE_PX / 2)
            radius = CIRCLE_PX / 2
            painter.setPen(Qt.PenStyle.NoPen)
            if self.level > 0.02 and self.word not in ("stopped", "loading", "muted"):
                halo = QColor(self.colour())
                halo.setAlphaF(0.28)
                painter.setBrush(halo)
                painter.drawEllipse(centre, radius + RING_PX * self.level, radius + RING_PX * self.level)
            painter.setBrush(colour)
            painter.drawEllipse(centre, radius, radius)
            if self.hasFocus():
                set_ink(painter, edge=QPen(QColor(shown.text), 2))
                painter.drawEllipse(centre, radius + 4, radius + 4)
            icon = QRectF(centre.x() - ICON_PX / 2, centre.y() - ICON_PX / 2, ICON_PX, ICON_PX)
            paint_icon(painter, _ICONS[self.word], QColor("white"), icon)
            if self._with_words:
                room = QRectF(self.rect()).adjusted(0, CIRCLE_PX + 2 * RING_PX, 0, 0)
                ink, font = QColor(shown.text), self._text_font()
                draw_words(painter, room, self.text(), ink, font, Qt.AlignmentFlag.AlignCenter)
