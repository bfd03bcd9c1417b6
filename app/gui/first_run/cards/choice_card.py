"""Boxes and cards of the first run's pages."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QColor, QEnterEvent, QFont, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QRadioButton, QVBoxLayout, QWidget

from app.gui.design.look import Look, blend
from app.gui.design.plain import PlainLabel, set_tip
from app.gui.design.theme import tokens
from app.gui.widgets.form import wrapped
from app.gui.widgets.panel import Quiet


class Boxed(QFrame):
    """A column of widgets on a rounded background; `live` for what matters most."""

    def __init__(self, parent: QWidget, *, live: bool = False) -> None:
        super().__init__(parent)
        self.live = live
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(14, 10, 14, 10)
        self.column.setSpacing(4)

    def paintEvent(self, event: QPaintEvent) -> None:
        look = Look.of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = look.line if tokens().scheme == "contrast" else look.plain_card
        self._paint(painter, look.live_card if self.live else look.plain_card, look.accent if self.live else edge)
        painter.end()

    def _paint(self, painter: QPainter, ground: QColor, edge: QColor, width: float = 1.0) -> None:
        painter.setPen(QPen(edge, width))
        painter.setBrush(ground)
        inset = width / 2 + 0.5
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), 8, 8)


class ChoiceCard(Boxed):
    """A radio button with an explanation below it. A click anywhere on the card chooses it. `body`: a layout for more
    controls, below the words.
    """

    def __init__(self, title: str, words: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.button = QRadioButton(title, self)
        self.button.setAccessibleDescription(words)
        font = self.button.font()
        font.setWeight(QFont.Weight.DemiBold)
        self.button.setFont(font)
        self.badge = PlainLabel(self.tr("Fits best"), self)
        self.badge.setVisible(False)
        self.words = Quiet(words, self)
        self.reason = wrapped(self)
        self.reason.setVisible(False)
        self._hovered = False
        top = QHBoxLayout()
        top.addWidget(self.button)
        top.addStretch(1)
        top.addWidget(self.badge)
        self.column.addLayout(top)
        below = QVBoxLayout()
        below.setContentsMargins(self._indent(), 0, 0, 0)
        below.setSpacing(4)
        below.addWidget(self.words)
        below.addWidget(self.reason)
        self.body = QVBoxLayout()
        self.body.setSpacing(6)
        below.addLayout(self.body)
        self.column.addLayout(below)
        self.button.toggled.connect(lambda _: self.update())
        self._colour()

    def recommend(self, best: bool) -> None:
        """Shows or hides the badge “Fits best”."""
        self.badge.setVisible(best)
        self.button.setAccessibleName(
            self.tr("{0}, fits best").format(self.button.text()) if best else self.button.text()
        )

    def explain(self, reason: str, possible: bool = True) -> None:
        """Sets whether it can be chosen, and why."""
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))
        self.button.setEnabled(possible)
        set_tip(self.button, "" if possible else reason)
        self.button.setAccessibleDescription(f"{self.words.text()} {reason}".strip())
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.button.isEnabled():
            self.button.setFocus(Qt.FocusReason.MouseFocusReason)
            self.button.click()

    def enterEvent(self, event: QEnterEvent) -> None:
        self._hovered = True
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = False
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.ApplicationPaletteChange):
            self._colour()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the edge in colour when the card is chosen."""
        look = Look.of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.button.isChecked():
            self._paint(painter, look.live_card, look.accent, 2.0)
        elif self._hovered and self.button.isEnabled():
            self._paint(painter, look.plain_card, blend(look.line, look.accent, 0.5))
        else:
            self._paint(painter, look.plain_card, look.line)
        painter.end()

    def _indent(self) -> int:
        style = self.style()
        return style.pixelMetric(style.PixelMetric.PM_ExclusiveIndicatorWidth) + style.pixelMetric(
            style.PixelMetric.PM_RadioButtonLabelSpacing
        )

    def _colour(self) -> None:
        if not hasattr(self, "badge"):
            return
        look = Look.of(self.palette())
        palette = self.badge.palette()
        if palette.color(QPalette.ColorRole.WindowText) != look.accent:
            palette.setColor(QPalette.ColorRole.WindowText, look.accent)
            self.badge.setPalette(palette)
        # Some styles draw the ring in a darker shade of the window, which is invisible in a dark theme.
        palette = QPalette(self.palette())
        ring = palette.color(QPalette.ColorRole.Window)
        if look.dark:
            ring = blend(ring, palette.color(QPalette.ColorRole.WindowText), 0.8)
        if self.button.palette().color(QPalette.ColorRole.Window) != ring:
            palette.setColor(QPalette.ColorRole.Window, ring)
            self.button.setPalette(palette)
