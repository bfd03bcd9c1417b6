"""What the pages of the first run are made of: a page itself, boxes, and cards to choose from.

Knows nothing of what is chosen.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QEnterEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QRadioButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.gui.widgets.palette import Look, blend
from app.gui.widgets.panel import Quiet


class Page(QWidget):
    """One step. `title` and `words` stand above it."""

    ready = Signal()
    """It said no to `may_leave`, and may be left now."""

    chosen = Signal(object)
    """This widget of it was chosen, and may show more now."""

    title = words = ""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(8)

    def arrive(self) -> QWidget | None:
        """It is shown now; tells what is to have the keyboard, None for the button that goes on."""
        return None

    def may_leave(self) -> bool:
        """Whether one may go on from here at once."""
        return True

    def depart(self) -> None:
        """Another page is shown, or none: ends what makes sense only here."""


class Scroller(QScrollArea):
    """Shows a page that may be higher than the room there is; takes the keyboard only where it is."""

    def __init__(self, page: Page, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWidget(page)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(page.title)
        self.viewport().setAutoFillBackground(False)
        page.setAutoFillBackground(False)
        self._take_keys(0, 0)
        self._chosen: QWidget | None = None
        self._reveal = QTimer(self, singleShot=True, interval=0)  # once it has been laid out
        self._reveal.timeout.connect(self._show_chosen)
        page.chosen.connect(self._remember)
        self.verticalScrollBar().rangeChanged.connect(self._take_keys)

    def _take_keys(self, least: int, most: int) -> None:
        policy = Qt.FocusPolicy.TabFocus if most > least else Qt.FocusPolicy.NoFocus
        self.setFocusPolicy(policy)

    def _remember(self, chosen: QWidget) -> None:
        self._chosen = chosen
        self._reveal.start()

    def _show_chosen(self) -> None:
        if self._chosen is not None and self.isVisible():
            self.widget().layout().activate()
            self.ensureWidgetVisible(self._chosen, 0, 2)


class Boxed(QFrame):
    """Words, or whatever, on a rounded ground; `live` for what matters most."""

    def __init__(self, parent: QWidget, *, live: bool = False) -> None:
        super().__init__(parent)
        self.live = live
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(14, 10, 14, 10)
        self.column.setSpacing(4)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the ground and its edge."""
        look = Look.of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint(painter, look.live_card if self.live else look.plain_card, look.accent if self.live else look.line)
        painter.end()

    def _paint(self, painter: QPainter, ground: QColor, edge: QColor, width: float = 1.0) -> None:
        painter.setPen(QPen(edge, width))
        painter.setBrush(ground)
        inset = width / 2 + 0.5
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), 8, 8)


class ChoiceCard(Boxed):
    """One of several to choose from: a radio button with what it means below it. A click anywhere on it chooses it.

    `body`: a layout for controls that belong to it, shown below the words.
    """

    def __init__(self, title: str, words: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.button = QRadioButton(title, self)
        self.button.setAccessibleDescription(words)
        font = self.button.font()
        font.setBold(True)
        self.button.setFont(font)
        self.badge = QLabel(self.tr("Fits best"), self)
        self.badge.setVisible(False)
        self.words = Quiet(words, self)
        self.reason = QLabel(self)
        self.reason.setWordWrap(True)
        self.reason.setTextFormat(Qt.TextFormat.PlainText)
        self.reason.setVisible(False)
        self._over = False
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

    def entitle(self, title: str, words: str) -> None:
        """Gives it another name, and other words."""
        self.button.setText(title)
        self.button.setAccessibleName(title)
        self.button.setAccessibleDescription(words)
        self.words.setText(words)

    def recommend(self, best: bool) -> None:
        """Says that this one fits best, or no longer."""
        self.badge.setVisible(best)
        self.button.setAccessibleName(
            self.tr("{0}, fits best").format(self.button.text()) if best else self.button.text()
        )

    def explain(self, reason: str, possible: bool = True) -> None:
        """Says why it can be chosen, or can't."""
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))
        self.button.setEnabled(possible)
        self.button.setToolTip("" if possible else reason)
        self.button.setAccessibleDescription(f"{self.words.text()} {reason}".strip())
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Chooses it."""
        if event.button() == Qt.MouseButton.LeftButton and self.button.isEnabled():
            self.button.setFocus(Qt.FocusReason.MouseFocusReason)
            self.button.click()

    def enterEvent(self, event: QEnterEvent) -> None:
        """The mouse is over it."""
        self._over = True
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """The mouse is elsewhere."""
        self._over = False
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        """Follows the system's colours."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.ApplicationPaletteChange):
            self._colour()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the ground, the edge in colour when it is chosen."""
        look = Look.of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.button.isChecked():
            self._paint(painter, look.live_card, look.accent, 2.0)
        elif self._over and self.button.isEnabled():
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
        # A style may draw the button's ring in a darker shade of the window, which in the dark is not to be seen.
        palette = QPalette(self.palette())
        ring = palette.color(QPalette.ColorRole.Window)
        if look.dark:
            ring = blend(ring, palette.color(QPalette.ColorRole.WindowText), 0.8)
        if self.button.palette().color(QPalette.ColorRole.Window) != ring:
            palette.setColor(QPalette.ColorRole.Window, ring)
            self.button.setPalette(palette)
