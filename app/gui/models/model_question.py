"""A dialog for picking a model, and a dialog for editing the router's table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from app.gui.design.plain import set_tip, verbatim
from app.gui.models.favourites import Favourites
from app.gui.models.model_list import ModelRow
from app.gui.models.model_search import ModelSearch
from app.gui.widgets.form import add_items, grid, label_of, push_button
from app.gui.widgets.panel import Panel, Quiet
from app.services.backends import KINDS
from app.session.control import BackendChoice

Then = Callable[[BackendChoice], object]
Ask = Callable[[str, str, BackendChoice, Then], None]
"""A function that opens a `ModelQuestion`. Takes a title, an explanation, a proposed model and a result callback."""


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


class RoutesDialog(Panel):
    """A dialog for editing the router's table.

    `changed` emits a dict that maps each kind of question to a `BackendChoice`.
    """

    changed = Signal(object)

    def __init__(self, favourites: Favourites, ask: Ask, router: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("Routing"))
        self._words = favourites.words
        self._ask = ask
        self._table: dict[str, BackendChoice] = {}
        self._kinds = {
            "everyday": (self.tr("Everyday talk"), self.tr("small talk, plans, the household")),
            "reasoning": (self.tr("Reasoning"), self.tr("puzzles, decisions, step by step")),
            "stem": (self.tr("Science and maths"), self.tr("physics, code, engineering")),
            "humanities": (self.tr("Humanities"), self.tr("history, law, languages")),
            "creative": (self.tr("Creative"), self.tr("stories, rhymes, ideas")),
        }
        lead = self.tr("While “{0}” is chosen, each question goes to the model for its kind.")
        self.column.addWidget(Quiet(lead.format(router), self))
        self.models: dict[str, QPushButton] = {}
        table = grid(10, 8, stretch=1)
        for line, kind in enumerate(KINDS):
            button = self.models[kind] = push_button("", "", self)
            button.clicked.connect(partial(self._choose, kind))
            name, help = self._kinds[kind]
            label = label_of(button, name, self)
            set_tip(label, help)
            table.addWidget(label, line, 0)
            table.addWidget(button, line, 1)
        self.column.addLayout(table)
        self.column.addStretch(1)
        self.use_button = self.button(self.tr("&Use this table"), does=self._use)
        self.close_button = self.button(self.tr("Cancel"), does=self.close)
        self.foot(self.use_button, self.close_button)

    def open_with(self, table: Mapping[str, BackendChoice], otherwise: BackendChoice) -> None:
        """Opens the dialog with the current table. Kinds missing from `table` default to `otherwise`."""
        for kind in KINDS:
            self._show(kind, table.get(kind, otherwise))
        self.appear()
        self.models[KINDS[0]].setFocus()

    def _show(self, kind: str, choice: BackendChoice) -> None:
        self._table[kind] = choice
        words, button = self._words(choice), self.models[kind]
        button.setText(verbatim(words))
        button.setAccessibleName(f"{self._kinds[kind][0]}: {words}")
        set_tip(button, choice.base_url)

    def _choose(self, kind: str) -> None:
        def take(choice: BackendChoice) -> None:
            self._show(kind, choice)
            self.activateWindow()

        name, help = self._kinds[kind]
        self._ask(name, self.tr("The model for questions of this kind: {0}.").format(help), self._table[kind], take)

    def _use(self) -> None:
        self.changed.emit(dict(self._table))
        self.close()
