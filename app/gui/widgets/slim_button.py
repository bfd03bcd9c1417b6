"""A push button as wide as its text: a style's minimum width is meant for the row of buttons in a dialog."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QPushButton

SIDES_PX = 24


class SlimButton(QPushButton):
    """A push button without a minimum width."""

    def sizeHint(self) -> QSize:
        words = self.fontMetrics().horizontalAdvance(self.text().replace("&", ""))
        return QSize(words + SIDES_PX, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()
