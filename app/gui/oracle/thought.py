"""The large card of the oracle: the answer that counts now, whose words cross-fade when they are revised."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.gui.cards.card import Card
from app.gui.cards.view import CardView
from app.gui.design.motion import Glide
from app.gui.design.theme import tokens

SCALE = 20 / 15
"""The size of its words, of those of the transcript."""


class _Before(QWidget):
    """A picture of what was shown, which fades out over what is shown now."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._picture = QPixmap()
        self._glide = Glide(self._show, self, milliseconds=tokens().slow_ms)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def fade(self, picture: QPixmap) -> None:
        """Shows a picture, and lets it fade."""
        self._picture = picture
        self._glide.jump(1.0)
        self._glide.go(0.0)

    def _show(self, share: float) -> None:
        self.setVisible(share > 0.01)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setOpacity(self._glide.value)
        painter.drawPixmap(0, 0, self._picture)
        painter.end()


class ThoughtCard(QWidget):
    """Shows one card. Another thought's card fades in, one that only grows is changed in its place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = CardView(scale=SCALE, parent=self)
        self.view.setAccessibleName(self.tr("The answer that counts now"))
        self.view.empty_text = self.tr(
            "What the model thinks appears here while you still speak, and is revised with every few words."
        )
        self._before = _Before(self)
        self._thought: object = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.view)

    def show_card(self, card: Card, thought: object) -> None:
        """Shows the card of `thought`, which tells one thought from the next."""
        if not self.view.cards:
            self.view.insert_card(0, card)
        elif self.view.cards[0] != card.clean():
            if thought is not self._thought and self.isVisible():
                self._before.fade(self.view.grab())
            self.view.set_card(0, card)
        self._thought = thought

    def clear(self) -> None:
        """Shows that there is no thought yet."""
        self._thought = None
        self.view.clear_cards()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._before.setGeometry(self.rect())
