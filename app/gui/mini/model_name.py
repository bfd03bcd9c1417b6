"""A model's name, with a dot of the model's colour before it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui.design.model_colours import model_colour
from app.gui.design.plain import PlainLabel, elided
from app.gui.design.theme import tokens

DOT_PX, GAP_PX = 8, 8


class ModelName(PlainLabel):
    """One line of plain text, which is cut off where it has no room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._provider = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def show_model(self, provider: str, name: str) -> None:
        """Shows the name of a model, which `provider` runs."""
        self._provider = provider
        self.setText(name)
        self.setAccessibleName(self.tr("Model: {0}").format(name))
        self.update()

    def colour(self) -> QColor:
        """The model's colour."""
        return model_colour(self._provider, self.text(), tokens().dark)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.colour())
        painter.drawEllipse(QRectF(0, (self.height() - DOT_PX) / 2, DOT_PX, DOT_PX))
        room = self.rect().adjusted(DOT_PX + GAP_PX, 0, 0, 0)
        painter.setPen(QColor(tokens().dim))
        words = elided(self.fontMetrics(), self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, words)
        painter.end()
