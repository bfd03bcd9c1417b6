"""The router's table: which back-end answers which kind of question."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.backends.picker import BackendPicker
from app.gui.design.plain import set_tip
from app.gui.state.choice import backend_choice
from app.gui.widgets.form import StatusLine, grid, label_of
from app.gui.widgets.panel import Panel, Quiet
from app.services.backends import KINDS
from app.session.control import ROUTER, BackendChoice
from app.settings.declarations import Settings

LONGEST_ADDRESS = "http://192.168.100.100:41773/v1"
"""What can be read in full in the table."""


class RoutesDialog(Panel):
    """`changed` emits a dict from kinds to `BackendChoice`s, one for each kind."""

    changed = Signal(object)

    def __init__(self, lists: ModelLists, settings: Settings, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("Router's table"))
        self.setMinimumWidth(790)
        words = {
            "everyday": (self.tr("Everyday talk"), self.tr("small talk, plans, the household")),
            "reasoning": (self.tr("Reasoning"), self.tr("puzzles, decisions, step by step")),
            "stem": (self.tr("Science and maths"), self.tr("physics, code, engineering")),
            "humanities": (self.tr("Humanities"), self.tr("history, law, languages")),
            "creative": (self.tr("Creative"), self.tr("stories, rhymes, ideas")),
        }
        lead = self.tr("While “{0}” is chosen, each question goes to the model for its kind.")
        self.column.addWidget(Quiet(lead.format(lists.label(ROUTER)), self))
        self.pickers: dict[str, BackendPicker] = {}
        table = grid(10, 8, stretch=2)
        table.setColumnStretch(2, 3)
        table.setColumnStretch(4, 2)
        for row, kind in enumerate(KINDS):
            name, help = words[kind]
            picker = BackendPicker(
                self, lists, lambda provider: backend_choice(settings, provider), about=name, labelled=False
            )
            picker.backend.setMinimumContentsLength(17)
            picker.url.setMinimumWidth(picker.url.fontMetrics().horizontalAdvance(LONGEST_ADDRESS) + 36)
            self.pickers[kind] = picker
            label = label_of(picker.backend, name, self)
            set_tip(label, help)
            for place, widget in enumerate((label, picker.backend, picker.model, picker.refresh, picker.url)):
                table.addWidget(widget, row, place)
        self.column.addLayout(table)
        self.answer = StatusLine("", self)
        self.column.addWidget(self.answer)
        self.column.addStretch(1)
        self.use_button = self.button(self.tr("&Use this table"))
        self.close_button = self.button(self.tr("Cancel"))
        self.foot(self.use_button, self.close_button)
        self.use_button.clicked.connect(self._use)
        self.close_button.clicked.connect(self.close)

    def open_with(self, table: Mapping[str, BackendChoice], otherwise: BackendChoice) -> None:
        """Opens with the present table; `otherwise` is shown for kinds that it lacks."""
        for kind, picker in self.pickers.items():
            picker.show_choice(table.get(kind, otherwise))
            picker.ask()
        self.answer.say("")
        self.appear()
        self.pickers[KINDS[0]].backend.setFocus()

    def _use(self) -> None:
        lacking = next((picker for picker in self.pickers.values() if picker.fault), None)
        if lacking is not None:
            self.answer.say(lacking.fault)
            lacking.url.setFocus()
            return
        self.changed.emit({kind: picker.choice for kind, picker in self.pickers.items()})
        self.close()
