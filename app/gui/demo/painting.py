"""Text scaled to fill the available space without being clipped, and the demo's colours."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.demo.base import Side
from app.gui.design.theme import tokens

LINE_SHARE = 0.7
"""The default of the largest font size, relative to the height of the space."""


def ink(name: str) -> QColor:
    """Returns the colour of the design token `name`."""
    return QColor(getattr(tokens(), name))


def side_ink(side: Side) -> QColor:
    """Returns the colour of a side's name, waveform and stopped stopwatch."""
    return ink("warn" if side == "cascade" else "good")


def fitted(painter: QPainter, room: QRectF, px: float, *, bold: bool = False, struck: bool = False) -> QFont:
    """Returns the painter's font in this size in pixels, but not higher than `room` and not smaller than captions."""
    font = QFont(painter.font())
    font.setPixelSize(max(tokens().caption, min(round(px), round(room.height()))))
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    font.setStrikeOut(struck)
    return font


def draw_fitted(
    painter: QPainter,
    room: QRectF,
    text: str,
    colour: QColor,
    *,
    bold: bool = False,
    most: float = LINE_SHARE,
    said: tuple[int, QColor] = (0, QColor()),
) -> None:
    """Draws `text` centred in `room`, wrapped, in the largest font that fits.

    Args:
        bold: whether the font is semi-bold.
        most: the largest font size, relative to the height of `room`.
        said: the number of characters at the beginning that have been spoken, and the colour that they get.
    """
    spoken = QTextLayout.FormatRange()
    spoken.length, spoken.format = said[0], QTextCharFormat()
    spoken.format.setForeground(said[1])
    px, fits = room.height() * most, False
    while not fits:
        layout = QTextLayout(text, fitted(painter, room, px, bold=bold))
        layout.setTextOption(QTextOption(Qt.AlignmentFlag.AlignHCenter))
        layout.setFormats([spoken])
        layout.beginLayout()
        height = 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(room.width())
            line.setPosition(QPointF(0, height))
            height += line.height()
        layout.endLayout()
        fits = (height <= room.height() + 1 and layout.minimumWidth() <= room.width()) or px <= tokens().caption
        px *= 0.94
    painter.setPen(colour)
    layout.draw(painter, QPointF(room.left(), room.top() + max(0.0, (room.height() - height) / 2)))


class FittedText(QWidget):
    """Plain text in the largest font that fits. `colour`: the name of a design token."""

    def __init__(self, parent: QWidget, *, colour: str = "text", bold: bool = False, most: float = LINE_SHARE) -> None:
        super().__init__(parent)
        self.text = ""
        self._colour, self._bold, self._most = colour, bold, most
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(round(tokens().caption * 1.3))

    def show_text(self, text: str) -> None:
        """Shows `text` and sets it as the accessible name."""
        if text != self.text:
            self.text = text
            self.setAccessibleName(text)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the text."""
        with QPainter(self) as painter:
            draw_fitted(painter, QRectF(self.rect()), self.text, ink(self._colour), bold=self._bold, most=self._most)
