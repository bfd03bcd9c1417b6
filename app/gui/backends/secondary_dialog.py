"""Asks for a brain: the one that answers at the side, or that of a conversation's double. Says which; does nothing."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.backends.picker import BackendPicker
from app.gui.state.choice import backend_choice
from app.gui.widgets.panel import Panel, Quiet
from app.session.control import BackendChoice
from app.settings.declarations import Settings


class _BackendQuestion(Panel):
    """`chosen` tells a `BackendChoice`."""

    chosen = Signal(object)

    def __init__(self, lists: ModelLists, settings: Settings, parent: QWidget) -> None:
        super().__init__(parent)
        self.picker = BackendPicker(self, lists, lambda provider: backend_choice(settings, provider))
        self.words = Quiet(parent=self)
        self.show_button = self.button("")
        self.close_button = self.button(self.tr("Cancel"))
        self.column.addWidget(self.words)
        picker = self.picker
        self.column.addLayout(picker.grid())
        self.answer = Quiet(self.tr("Say first where the server is."), self)
        self.answer.setVisible(False)
        self.column.addWidget(self.answer)
        self.column.addStretch(1)
        self.foot(self.show_button, self.close_button)
        picker.reshaped.connect(self.fit)
        self.show_button.clicked.connect(self._choose)
        self.close_button.clicked.connect(self.close)

    def ask(self, title: str, words: str, action: str) -> None:
        """What it asks; `action`: what its button does."""
        self.entitle(title)
        self.words.setText(words)
        self.show_button.setText(action)
        self.show_button.setAccessibleName(action.replace("&", ""))

    def open_with(self, choice: BackendChoice) -> None:
        """Appears with a brain proposed."""
        self.picker.show_choice(choice)
        self.picker.ask()
        self.answer.setVisible(False)
        self.appear()
        self.fit()
        self.picker.backend.setFocus()

    def _choose(self) -> None:
        whole = self.picker.whole
        self.answer.setVisible(not whole)
        self.fit()
        if not whole:
            self.picker.url.setFocus()
            return
        self.close()
        self.chosen.emit(self.picker.choice)


class SecondaryDialog(_BackendQuestion):
    """Which brain is to answer, too."""

    def __init__(self, lists: ModelLists, settings: Settings, parent: QWidget) -> None:
        super().__init__(lists, settings, parent)
        words = self.tr(
            "A second brain answers everything, too. What it says is shown, and not spoken, until you hand the voice "
            "over to it. Both are paid for."
        )
        self.ask(self.tr("Side by side"), words, self.tr("&Show it at the side"))


class DuplicateDialog(_BackendQuestion):
    """Which brain is to go on in the double of a conversation."""

    def __init__(self, lists: ModelLists, settings: Settings, parent: QWidget) -> None:
        super().__init__(lists, settings, parent)
        words = self.tr(
            "The conversation is there twice then, with the same words so far. In the new one this brain goes on; the "
            "other stays as it is."
        )
        self.ask(self.tr("Duplicate with another brain"), words, self.tr("&Duplicate it"))
