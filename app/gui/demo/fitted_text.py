"""Text scaled to fill the available space without being clipped, and the demo's colours."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.demo.base import Side
from app.gui.design.theme import tokens


def ink(name: str) -> QColor:
    """Returns the colour of the design token `name`."""
    return QColor(getattr(tokens(), name))


def side_ink(side: Side) -> QColor:
    """Returns the colour of a side's name, waveform and stopped stopwatch."""
    return ink("warn" if side == "cascade" else "good")


def faded(colour: QColor, share: float) -> QColor:
    """Returns `colour` with an opacity of `share`, 0 to 1."""
    copy = QColor(colour)
    copy.setAlphaF(max(0.0, min(1.0, share)))
    return copy


class Filling(QWidget):
    """A widget with a minimum size in pixels that expands to fill the space provided by its layout."""

    def __init__(self, parent: QWidget, height: int, width: int = 0) -> None:
        super().__init__(parent)
        self._least = QSize(width, height)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        """Returns the minimum size."""
        return self._least

    def minimumSizeHint(self) -> QSize:
        """Returns the minimum size."""
        return self._least


LINE_HEIGHT = 1.25
"""Line height relative to the font size."""
LINE_SHARE = 0.78
"""Default maximum font size, relative to the widget's height."""
SMALL_SHARE = 0.4
"""Maximum font size relative to the widget's height, for small print."""

_WRAP = Qt.TextFlag.TextWordWrap


def font_px(font: QFont, px: float, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Returns a copy of `font` with this size in pixels and this weight."""
    copy = QFont(font)
    copy.setPixelSize(max(1, round(px)))
    copy.setWeight(weight)
    return copy


def fitting_px(text: str, font: QFont, room: QRectF, largest: float, least: float) -> float:
    """Returns the largest pixel size, between `least` and `largest`, at which wrapped `text` fits into `room`."""
    low, high = least, max(least, largest)

    def fits(px: float) -> bool:
        metrics = QFontMetricsF(font_px(font, px, QFont.Weight(font.weight())))
        needed = metrics.boundingRect(QRectF(0, 0, room.width(), 1e5), _WRAP, text)
        return needed.height() <= room.height() and needed.width() <= room.width() + 0.5

    if fits(high):
        return high
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


class FittedText(Filling):
    """Plain text in the largest font that fits, wrapped if that allows a larger one.

    - `colour`: the name of a design token
    - `lines`: number of lines that must fit at the smallest font size, which determines the minimum height
    - `share`: the maximum font size relative to the widget's height
    """

    def __init__(
        self,
        parent: QWidget,
        *,
        colour: str = "text",
        lines: int = 1,
        weight: QFont.Weight = QFont.Weight.Normal,
        share: float = LINE_SHARE,
    ) -> None:
        super().__init__(parent, round(tokens().caption * LINE_HEIGHT) * lines)
        self.text = ""
        self.colour: str | QColor = colour
        self._weight = weight
        self._share = share

    def show_text(self, text: str) -> None:
        """Shows `text` and sets it as the accessible name."""
        if text != self.text:
            self.text = text
            self.setAccessibleName(text)
            self.update()

    @property
    def px(self) -> float:
        """The font size in pixels."""
        font = font_px(self.font(), 20, self._weight)
        return fitting_px(self.text, font, QRectF(self.rect()), self.height() * self._share, tokens().caption)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the text."""
        with QPainter(self) as painter:
            painter.setFont(font_px(self.font(), self.px, self._weight))
            painter.setPen(ink(self.colour) if isinstance(self.colour, str) else self.colour)
            painter.drawText(QRectF(self.rect()), Qt.AlignmentFlag.AlignCenter | _WRAP, self.text)
