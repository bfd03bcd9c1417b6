"""The editor for a choice of colours: a row of dots, of which the arrow keys choose one."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QRadioButton, QWidget

from app.gui.design.plain import set_tip
from app.gui.design.theme import tokens
from app.gui.design.tokens import ACCENTS
from app.gui.settings.editor import Editor
from app.gui.widgets.translation import said
from app.settings.setting import Setting

DOT_PX, ROOM_PX = 20, 32


class Dot(QRadioButton):
    """One accent as a dot; the chosen one has a ring."""

    def __init__(self, accent: str, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._accent = ACCENTS[accent]
        self.setAccessibleName(name)
        set_tip(self, name)

    def sizeHint(self) -> QSize:
        return QSize(ROOM_PX, ROOM_PX)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, point: QPoint) -> bool:
        return self.rect().contains(point)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        colour = QColor(self._accent.dark if t.dark else self._accent.light)
        centre = QRectF(self.rect()).center()
        dot = QRectF(0, 0, DOT_PX, DOT_PX)
        dot.moveCenter(centre)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawEllipse(dot)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.isChecked():
            painter.setPen(QPen(QColor(t.surface), 2))
            painter.drawEllipse(dot.adjusted(2, 2, -2, -2))
            painter.setPen(QPen(colour, 2))
            painter.drawEllipse(dot.adjusted(-1, -1, 1, 1))
        if self.hasFocus():
            painter.setPen(QPen(QColor(t.text), 2))
            painter.drawEllipse(dot.adjusted(-5, -5, 5, 5))
        painter.end()


class Swatches(Editor):
    """One dot for each choice of the setting."""

    letters = 0, 0

    def __init__(self, declared: Setting, parent: QWidget | None = None) -> None:
        super().__init__(declared, parent)
        self.dots: dict[str, Dot] = {}
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for key, word in declared.words.items():
            dot = self.dots[key] = Dot(key, said(word), self)
            dot.clicked.connect(lambda _=False, key=key: self._pick(key))
            row.addWidget(dot)
        self.setAccessibleName(said(declared.label))
        self.revert()

    def revert(self) -> None:
        self.dots[self.value].setChecked(True)
        self.setFocusProxy(self.dots[self.value])

    def describe(self, words: str) -> None:
        for dot in self.dots.values():
            dot.setAccessibleDescription(words)

    def in_words(self, value: Any) -> str:
        return said(self.declared.words[value])

    def _pick(self, key: str) -> None:
        self._submit(key)
        self.revert()
