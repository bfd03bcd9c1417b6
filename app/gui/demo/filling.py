"""A widget that fills its place, whatever it shows."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QSizePolicy, QWidget


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
