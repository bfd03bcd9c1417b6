"""A push button as wide as its words: a style's least width is meant for the row of buttons in a dialog."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QPushButton

SIDES_PX = 24


class SlimButton(QPushButton):
    """Looks and works like any other."""

    def sizeHint(self) -> QSize:
        """Its words, with a little room at their sides."""
        words = self.fontMetrics().horizontalAdvance(self.text().replace("&", ""))
        return QSize(words + SIDES_PX, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """It is shown whole."""
        return self.sizeHint()
