"""The mute button next to the talk button."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.gui.design.icon_button import IconButton
from app.gui.design.icons import paint_icon
from app.gui.design.look import STATE_COLOURS, draw_rounded, painter_on
from app.gui.design.plain import set_tip
from app.gui.design.theme import tokens

ICON_PX = 18


class MuteButton(IconButton):
    """A mute button. Checked at the user's request, and red once the session has muted the microphone (`confirmed`)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("mic", "", parent, size=ICON_PX)
        self.confirmed = False
        self.setCheckable(True)
        self.toggled.connect(lambda _: self._show_state())
        self._show_state()

    def confirm(self, muted: bool) -> None:
        """Sets whether the session has muted the microphone."""
        if self.confirmed != muted:
            self.confirmed = muted
            self._show_state()

    def sizeHint(self) -> QSize:
        side = tokens().control + 4
        return QSize(side, side)

    def _show_state(self) -> None:
        self.set_name("mic-off" if self.isChecked() else "mic")
        words = (
            self.tr("The microphone is muted: none of its sound is used.")
            if self.confirmed
            else self.tr("Silences the microphone (Ctrl+M).")
        )
        self.setAccessibleName(self.tr("Mute the microphone"))
        set_tip(self, words)
        self.setAccessibleDescription(words)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.confirmed:
            return
        painter = painter_on(self)
        box = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        draw_rounded(painter, box, tokens().radius, fill=STATE_COLOURS["muted"])
        place = QRectF(0, 0, ICON_PX, ICON_PX)
        place.moveCenter(box.center())
        paint_icon(painter, "mic-off", QColor("white"), place)
        painter.end()
