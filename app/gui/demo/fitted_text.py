"""Text as large as its place allows, so that it is read from afar and never cut; and the demo's colours."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.demo.base import Side
from app.gui.design.theme import tokens


def ink(name: str) -> QColor:
    """The colour of a design token."""
    return QColor(getattr(tokens(), name))


def side_ink(side: Side) -> QColor:
    """The colour of a side: of its name, its voice and its stopped stopwatch."""
    return ink("warn" if side == "cascade" else "good")


def faded(colour: QColor, share: float) -> QColor:
    """`colour` with an opacity of `share`, 0 to 1."""
    copy = QColor(colour)
    copy.setAlphaF(max(0.0, min(1.0, share)))
    return copy


class Filling(QWidget):
    """Is at least so high, and at least so wide, in pixels; its layout's stretch factors decide the rest."""

    def __init__(self, parent: QWidget, height: int, width: int = 0) -> None:
        super().__init__(parent)
        self._least = QSize(width, height)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        """Asks for no more than the least."""
        return self._least

    def minimumSizeHint(self) -> QSize:
        """The least."""
        return self._least


LINE_HEIGHT = 1.25
"""The height of a line, of the size of its font."""
LINE_SHARE = 0.78
"""The size of a font, of the height of its line."""
SMALL_SHARE = 0.4
"""The same for small print."""

_WRAP = Qt.TextFlag.TextWordWrap


def font_px(font: QFont, px: float, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """`font` at a size in pixels."""
    copy = QFont(font)
    copy.setPixelSize(max(1, round(px)))
    copy.setWeight(weight)
    return copy


def fitting_px(text: str, font: QFont, room: QRectF, largest: float, least: float) -> float:
    """The largest size in pixels, between `least` and `largest`, at which wrapped `text` fits into `room`."""
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
    """Plain text, wrapped where it is larger so. `lines`: how many it has room for at the smallest size. `colour`: the
    name of a design token, or a colour. `share`: the size of the font at most, of the height.
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
        """Shows `text`, and reads it to who can't see it."""
        if text != self.text:
            self.text = text
            self.setAccessibleName(text)
            self.update()

    @property
    def px(self) -> float:
        """The size of the text, in pixels."""
        font = font_px(self.font(), 20, self._weight)
        return fitting_px(self.text, font, QRectF(self.rect()), self.height() * self._share, tokens().caption)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the text."""
        painter = QPainter(self)
        painter.setFont(font_px(self.font(), self.px, self._weight))
        painter.setPen(ink(self.colour) if isinstance(self.colour, str) else self.colour)
        painter.drawText(QRectF(self.rect()), Qt.AlignmentFlag.AlignCenter | _WRAP, self.text)
        painter.end()
