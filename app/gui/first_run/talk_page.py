"""The first run's last page: what was chosen, how to talk, and what one might ask."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.gui.first_run.parts import Boxed, Page
from app.gui.widgets.panel import Quiet


class TalkPage(Page):
    """Shows words alone."""

    def __init__(self, parent: QWidget) -> None:
        self.title = self.tr("Ready to talk")
        self.words = self.tr("All of this can be changed later, above the talk and in the settings.")
        super().__init__(parent)
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        self.values: list[QLabel] = []
        for row, text in enumerate((self.tr("Voice"), self.tr("Brain"), self.tr("Microphone"))):
            label, value = QLabel(text, self), QLabel(self)
            font = label.font()
            font.setBold(True)
            label.setFont(font)
            value.setWordWrap(True)
            value.setTextFormat(Qt.TextFormat.PlainText)
            value.setAccessibleName(text)
            grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, row, 1)
            self.values.append(value)
        self.column.addLayout(grid)
        self.column.addSpacing(8)
        self.how = QLabel(self)
        self.how.setWordWrap(True)
        self.how.setAccessibleName(self.tr("How to talk"))
        self.keys = Quiet(parent=self)
        self.keys.setAccessibleName(self.tr("Keys"))
        box = Boxed(self, live=True)
        box.column.addWidget(self.how)
        box.column.addWidget(self.keys)
        self.column.addWidget(box)
        self.column.addSpacing(8)
        heading = QLabel(self.tr("You could ask"), self)
        font = heading.font()
        font.setBold(True)
        heading.setFont(font)
        self.column.addWidget(heading)
        self.questions = (
            self.tr("Why is the sky blue?"),
            self.tr("What can I cook with eggs and rice?"),
            self.tr("Tell me something about the moon."),
        )
        for question in self.questions:
            label = QLabel(self.tr("“{0}”").format(question), self)
            label.setContentsMargins(12, 0, 0, 0)
            self.column.addWidget(label)
        self.column.addStretch(1)

    def show_choice(self, voice: str, backend: str, microphone: str) -> None:
        """What was chosen, in words."""
        for label, words in zip(self.values, (voice, backend, microphone), strict=True):
            label.setText(words)

    def show_keys(self, mode: str, hotkey: str, duplex: bool) -> None:
        """How one talks: with the button held or pressed once (`mode`), or without it."""
        if duplex:
            self.how.setText(self.tr("Just talk: your voice alone begins your turn, and ends it."))
        elif mode == "toggle":
            self.how.setText(self.tr("Press the talk button or the space bar, talk, and press it once more."))
        else:
            self.how.setText(self.tr("Hold the talk button or the space bar while you talk, and let go."))
        words = self.tr("While another window has the keyboard, {0} does the same.").format(hotkey)
        self.keys.setText(words)
        self.keys.setVisible(bool(hotkey) and not duplex)
