"""A dialog for picking a model."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.models.model_list import ModelRow
from app.gui.models.model_search import ModelSearch
from app.gui.widgets.form import add_items
from app.gui.widgets.panel import Panel, Quiet
from app.session.control import BackendChoice

Then = Callable[[BackendChoice], object]


class ModelQuestion(Panel):
    """A reusable dialog for picking a model. Each call of `ask` sets its title and text."""

    models_wanted = Signal()
    """Emitted when the user asks for the "Models and servers" dialog."""

    def __init__(self, make_search: Callable[[QWidget], ModelSearch], parent: QWidget) -> None:
        super().__init__(parent)
        self._then: Then = lambda choice: None
        self.words = Quiet(parent=self)
        self.models = make_search(self)
        add_items(self.column, self.words, self.models, None)
        self.models_button = self.button(self.tr("&Models and servers…"), does=self._want_models)
        self.close_button = self.button(self.tr("Cancel"), does=self.close)
        self.foot(self.close_button, self.models_button)
        self.close_button.setDefault(False)  # Enter must pick a model instead
        self.models.picked.connect(self._pick)
        self.models.reshaped.connect(self.fit)

    def ask(self, title: str, words: str, proposed: BackendChoice, then: Then) -> None:
        """Opens the dialog with `proposed` marked as current.

        Calls `then` with the model that the user picks, unless they cancel.
        """
        self._then = then
        self.set_panel_title(title)
        self.words.setText(words)
        self.models.open_with(proposed)
        self.appear()
        self.models.field.setFocus()

    def _pick(self, chosen: ModelRow) -> None:
        self.close()
        self._then(chosen.choice)

    def _want_models(self) -> None:
        self.close()
        self.models_wanted.emit()
