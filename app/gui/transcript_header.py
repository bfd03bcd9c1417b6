"""The conversation's heading: how it is held, in a few words, and the way to change that."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from app.gui.elided import Elided
from app.gui.tools_box import MCP
from app.session.control import Style, ToolChoice


class TranscriptHeader(QWidget):
    """Says only what is out of the ordinary."""

    style_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        heading = QLabel(self.tr("Conversation"), self)
        font = heading.font()
        font.setBold(True)
        heading.setFont(font)
        self.words = Elided(parent=self, dim=True)
        self.words.setAccessibleName(self.tr("How it is held"))
        self.button = QPushButton(self.tr("St&yle and tools…"), self)
        self.button.setAccessibleName(self.tr("Style and tools of the conversation"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(heading)
        row.addSpacing(8)
        row.addWidget(self.words, 1)
        row.addWidget(self.button)
        self.button.clicked.connect(self.style_wanted)
        self.show_choice(Style(), ToolChoice(), 0.0)

    def show_choice(self, style: Style, tools: ToolChoice, cap: float) -> None:
        """Shows how the conversation is held."""
        parts = []
        if style.persona:
            parts.append(self.tr("own persona"))
        if style.length != "medium":
            parts.append(self.tr("short answers") if style.length == "short" else self.tr("long answers"))
        if style.temperature is not None:
            parts.append(self.tr("temperature {0}").format(f"{style.temperature:.2g}"))
        parts += [name.removeprefix(MCP) for name in tools.names]
        if cap > 0:
            parts.append(self.tr("at most {0}").format(f"${cap:.2f}"))
        self.words.setText(" · ".join(parts))
        help = self.tr("Who answers, how long, with which tools, and for how much at most.")
        self.button.setToolTip("\n".join((help, *parts)))
        self.words.setToolTip("\n".join((*parts, style.persona)).strip())
