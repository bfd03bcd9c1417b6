"""Shows the parts of the app with their licences as text to read."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QFont, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextEdit, QWidget

from app.gui.design.fonts import Size, sized
from app.gui.design.theme import tokens
from app.gui.window.licence_text import Block, Kind

_SHAPES: dict[Kind, tuple[Size, QFont.Weight, int, bool]] = {
    "heading": ("body", QFont.Weight.DemiBold, 20, False),
    "paragraph": ("small", QFont.Weight.Normal, 8, False),
    "entry": ("small", QFont.Weight.Medium, 10, False),
    "licence": ("small", QFont.Weight.Normal, 0, False),
    "details": ("caption", QFont.Weight.Normal, 0, True),
}
"""The size and weight of the text of each kind, the space above it in pixels, and whether it is dimmed."""


class LicencePage(QTextEdit):
    """Only plain text is shown, which can be selected."""

    def __init__(self, blocks: Sequence[Block], parent: QWidget) -> None:
        super().__init__(parent)
        self._blocks = blocks
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setCursorWidth(0)  # nothing is written here
        self.document().setDocumentMargin(16)
        self._write()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.PaletteChange):
            self._write()

    def _write(self) -> None:
        place = self.verticalScrollBar().value()
        self.clear()
        cursor = QTextCursor(self.document())
        t = tokens()
        for number, block in enumerate(self._blocks):
            size, weight, above, dim = _SHAPES[block.kind]
            letters, room = QTextCharFormat(), QTextBlockFormat()
            letters.setFont(sized(self.font(), size, weight))
            letters.setForeground(QColor(t.dim if dim else t.text))
            room.setTopMargin(above if number else 0)
            if number:
                cursor.insertBlock(room, letters)
            else:
                cursor.setBlockFormat(room)
            cursor.insertText(block.text, letters)
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self.verticalScrollBar().setValue(place)
