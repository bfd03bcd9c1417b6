"""Two dialogs that ask for one back-end: the comparison model, and the model of a conversation's duplicate."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.backends.picker import BackendPicker
from app.gui.state.choice import backend_choice
from app.gui.widgets.form import StatusLine
from app.gui.widgets.panel import Panel, Quiet
from app.session.control import BackendChoice
from app.settings.declarations import Settings


class _BackendQuestion(Panel):
    """Asks for a back-end; `chosen` emits a `BackendChoice`."""

    chosen = Signal(object)

    def __init__(self, lists: ModelLists, settings: Settings, parent: QWidget) -> None:
        super().__init__(parent)
        self.picker = BackendPicker(self, lists, lambda provider: backend_choice(settings, provider))
        self.words = Quiet(parent=self)
        self.answer = StatusLine("", self)
        self.choose_button = self.button("")
        self.close_button = self.button(self.tr("Cancel"))
        self.column.addWidget(self.words)
        self.column.addLayout(self.picker.grid())
        self.column.addWidget(self.answer)
        self.column.addStretch(1)
        self.foot(self.choose_button, self.close_button)
        self.picker.reshaped.connect(self.fit)
        self.choose_button.clicked.connect(self._choose)
        self.close_button.clicked.connect(self.close)

    def ask(self, title: str, words: str, action: str) -> None:
        """Sets the dialog's title, its explanation, and the text of its button."""
        self.set_panel_title(title)
        self.words.setText(words)
        self.choose_button.setText(action)
        self.choose_button.setAccessibleName(action.replace("&", ""))

    def open_with(self, choice: BackendChoice) -> None:
        """Opens with a back-end proposed."""
        self.picker.show_choice(choice)
        self.picker.ask()
        self.answer.say("")
        self.appear()
        self.fit()
        self.picker.backend.setFocus()

    def _choose(self) -> None:
        self.answer.say(self.picker.fault)
        self.fit()
        if not self.picker.whole:
            self.picker.url.setFocus()
            return
        self.close()
        self.chosen.emit(self.picker.choice)


class SecondaryDialog(_BackendQuestion):
    """Asks for the comparison model."""

    def __init__(self, lists: ModelLists, settings: Settings, parent: QWidget) -> None:
        super().__init__(lists, settings, parent)
        words = self.tr(
            "The comparison model answers every question, too. Its answers are shown, but not spoken until you "
            "switch to it. Both models are paid for."
        )
        self.ask(self.tr("Compare"), words, self.tr("&Compare"))


class DuplicateDialog(_BackendQuestion):
    """Asks for the model that continues a conversation's duplicate."""

    def __init__(self, lists: ModelLists, settings: Settings, parent: QWidget) -> None:
        super().__init__(lists, settings, parent)
        words = self.tr("Copies the conversation. The copy goes on with this model; the original stays as it is.")
        self.ask(self.tr("Duplicate with another model"), words, self.tr("&Duplicate"))
