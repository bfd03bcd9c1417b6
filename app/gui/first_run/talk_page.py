"""The first run's last page: a summary, how to talk, and questions to begin with."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.gui.design.plain import PlainLabel
from app.gui.first_run.cards.choice_card import Boxed
from app.gui.first_run.page import Page
from app.gui.widgets.form import bold, grid, wrapped
from app.gui.widgets.panel import Quiet


class TalkPage(Page):
    """Has nothing to choose. `has_microphone`: whether one can talk, or only type so far."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("", "", parent)
        self.has_microphone = True
        self._say_ready()
        summary = grid(16, 6, stretch=1)
        self.values: list[PlainLabel] = []
        for row, text in enumerate((self.tr("Voice"), self.tr("Model"), self.tr("Microphone"))):
            value = wrapped(self, text)
            summary.addWidget(bold(text, self), row, 0, Qt.AlignmentFlag.AlignTop)
            summary.addWidget(value, row, 1)
            self.values.append(value)
        self.column.addLayout(summary)
        self.column.addSpacing(8)
        self.how = wrapped(self, self.tr("How to talk"))
        self.keys = Quiet(parent=self)
        self.keys.setAccessibleName(self.tr("Keys"))
        box = Boxed(self, live=True)
        box.column.addWidget(self.how)
        box.column.addWidget(self.keys)
        self.column.addWidget(box)
        self.column.addSpacing(8)
        self.column.addWidget(bold(self.tr("You could ask"), self))
        self.questions = (
            self.tr("Why is the sky blue?"),
            self.tr("What can I cook with eggs and rice?"),
            self.tr("Tell me something about the moon."),
        )
        for question in self.questions:
            label = PlainLabel(self.tr("“{0}”").format(question), self)
            label.setContentsMargins(12, 0, 0, 0)
            self.column.addWidget(label)
        self.column.addStretch(1)

    def show_choice(self, voice: str, backend: str, microphone: str) -> None:
        """Shows what was chosen; an empty `microphone`: there is none."""
        self.has_microphone = bool(microphone)
        self._say_ready()
        microphone = microphone or self.tr("None so far")
        for label, words in zip(self.values, (voice, backend, microphone), strict=True):
            label.setText(words)

    def show_keys(self, mode: str, hotkey: str, duplex: bool) -> None:
        """Shows how to talk: with the button held or pressed once (`mode`), or hands-free (`duplex`)."""
        if not self.has_microphone:
            self.how.setText(self.tr("Type a question below the conversation, and press Enter."))
        elif duplex:
            self.how.setText(self.tr("Just talk: your turn starts and ends with your voice."))
        elif mode == "toggle":
            self.how.setText(self.tr("Press the talk button or the space bar, talk, and press it again."))
        else:
            self.how.setText(self.tr("Hold the talk button or the space bar while you talk, and let go."))
        words = self.tr("While another window has the keyboard, {0} does the same.").format(hotkey)
        self.keys.setText(words)
        self.keys.setVisible(bool(hotkey) and not duplex and self.has_microphone)

    def _say_ready(self) -> None:
        if self.has_microphone:
            self.title = self.tr("Ready to talk")
            self.words = self.tr("All of this can be changed later, above the conversation and in the settings.")
        else:
            self.title = self.tr("Ready to type")
            self.words = self.tr(
                "No microphone was found. KAME notices one that you plug in, and then you can talk as well."
            )
