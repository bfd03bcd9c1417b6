"""The fields that name a back-end: provider, model, server.

The widgets stand in no layout: the setup bar puts them in a row, the dialogs below each other.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QLineEdit, QWidget

from app.gui.backends.model_field import ModelField, list_width
from app.gui.backends.model_lists import ModelLists
from app.gui.design.plain import PlainLabel, set_tip
from app.gui.state.choice import LOCATED, MODELLED, is_router
from app.gui.widgets.form import grid, label_of
from app.gui.widgets.pick_list import PickList
from app.session.control import BackendChoice


class BackendPicker(QObject):
    """`recall` returns the choice last used for a provider. `about` tells the pickers of one window apart for screen
    readers; without `labelled`, the labels stay hidden.
    """

    picked = Signal(object)
    """The user picked a `BackendChoice`, with an address where one is needed."""
    reshaped = Signal()
    """Other fields are shown now."""
    typed = Signal()
    """Enter was pressed in a text field."""

    def __init__(
        self,
        parent: QWidget,
        lists: ModelLists,
        recall: Callable[[str], BackendChoice],
        *,
        router: bool = False,
        about: str = "",
        labelled: bool = True,
    ) -> None:
        super().__init__(parent)
        self._lists = lists
        self._recall = recall
        self._labelled = labelled
        self._tried: dict[str, BackendChoice] = {}
        self._refused: set[str] = set()
        self._place = ("", "")
        self.backend = PickList(parent)
        for view in lists.views.values():
            if router or not is_router(BackendChoice(view.key)):
                self.backend.addItem(view.label, view.key)
        self.backend.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.backend.setMinimumContentsLength(9)
        self.backend.view().setMinimumWidth(list_width((view.label for view in lists.views.values()), self.backend))
        self.model = ModelField(lists, parent)
        self.refresh = self.model.refresh
        self.url = QLineEdit(parent)
        self.url.setMinimumWidth(84)
        self._name_fields(about)
        self.backend_label = self._label(self.tr("&Provider"), self.backend, parent)
        self.model_label = self._label(self.tr("M&odel"), self.model, parent)
        self.url_label = self._label(self.tr("Ser&ver"), self.url, parent)
        self._connect()
        self._show_whole_url()

    @property
    def choice(self) -> BackendChoice:
        """What the fields say now."""
        provider = self.backend.currentData() or ""
        if provider not in MODELLED:
            return BackendChoice(provider)
        url = self.url.text().strip() if self._located(provider) else ""
        return BackendChoice(provider, self.model.currentText().strip(), url)

    @property
    def whole(self) -> bool:
        """Whether nothing is missing: a server of the user's own needs an address."""
        return self._whole(self.choice)

    @property
    def fault(self) -> str:
        """What is missing, as a sentence; empty when the choice is whole."""
        return "" if self.whole else self.tr("Enter the server's address first.")

    def grid(self) -> QGridLayout:
        """The fields with their labels, one below the other, for a dialog."""
        layout = grid(8, 6, stretch=1)
        layout.addWidget(self.backend_label, 0, 0)
        layout.addWidget(self.backend, 0, 1, 1, 2)
        layout.addWidget(self.model_label, 1, 0)
        layout.addWidget(self.model, 1, 1)
        layout.addWidget(self.refresh, 1, 2)
        layout.addWidget(self.url_label, 2, 0)
        layout.addWidget(self.url, 2, 1, 1, 2)
        return layout

    def refuse(self, provider: str) -> None:
        """A choice of this provider was refused: picked again, it first waits for an address, or for Enter."""
        if provider != self.backend.currentData():
            self._refused.add(provider)

    def forgive(self, provider: str) -> None:
        """A choice of this provider was accepted."""
        self._refused.discard(provider)

    def show_choice(self, choice: BackendChoice) -> None:
        """Shows a choice without emitting `picked`; leaves alone what is being typed for the same provider."""
        place = self.backend.findData(choice.provider)
        if place < 0:
            return
        same = self.backend.currentIndex() == place
        if self._tried.get(choice.provider) == choice:
            del self._tried[choice.provider]
        with QSignalBlocker(self.backend):
            self.backend.setCurrentIndex(place)
        if not (same and _being_typed(self.url, self.url)):
            self.url.setText(choice.base_url)
            self.url.setCursorPosition(0)
        if not (same and _being_typed(self.model, self.model.edit)):
            self.model.show_model(choice.model)
        self._shape()
        self._offer_models()

    def ask(self) -> None:
        """Fetches the list of models in the background, unless it is known."""
        self.model.fetch(self.choice)

    # -- what the user does

    def _pick_backend(self) -> None:
        provider = self.backend.currentData()
        known = self._recall(provider)
        waits = provider in self._refused and self._located(provider)
        self._refused.discard(provider)
        if not known.base_url and self._located(provider):
            known = BackendChoice(provider, known.model, self._lists.views[provider].url or "")
        choice = self._tried.get(provider, known)
        self._end_typing()
        self.show_choice(choice)
        self._tried[provider] = choice
        self.ask()
        if choice.base_url == known.base_url and self._whole(choice) and not waits:
            self.picked.emit(choice)
        else:
            self.url.setFocus()
            self.url.selectAll()  # there is no address yet, or one that was refused

    def _pick_fields(self) -> None:
        choice = self.choice
        if choice.place != self._place:
            self._offer_models()
            self.ask()
        if choice != self._tried.get(choice.provider, self._recall(choice.provider)):
            self._emit(choice)

    def _enter(self) -> None:
        self._emit(self.choice)
        self.typed.emit()

    def _emit(self, choice: BackendChoice) -> None:
        self._tried[choice.provider] = choice
        self._end_typing()
        if self._whole(choice):
            self.picked.emit(choice)

    def _end_typing(self) -> None:
        self.url.setModified(False)
        self.model.edit.setModified(False)

    # -- what is shown

    def _located(self, provider: str) -> bool:
        view = self._lists.views.get(provider)
        return view is not None and view.url is not None and provider in LOCATED

    def _whole(self, choice: BackendChoice) -> bool:
        view = self._lists.views.get(choice.provider)
        return view is not None and (view.url != "" or bool(choice.base_url))

    def _shape(self) -> None:
        provider = self.backend.currentData() or ""
        modelled, located = provider in MODELLED, self._located(provider)
        self.model.setVisible(modelled)
        self.url.setVisible(located)
        self.model_label.setVisible(modelled and self._labelled)
        self.url_label.setVisible(located and self._labelled)
        self.refresh.setVisible(modelled and self._lists.can_ask(self.choice))
        view = self._lists.views.get(provider)
        first = view.suggestions[0] if view is not None and view.suggestions else ""
        self.model.edit.setPlaceholderText(first or self.tr("default"))
        self.url.setPlaceholderText((view.url if view is not None else "") or "http://host:8080/v1")
        self.reshaped.emit()

    def _offer_models(self) -> None:
        self._place = self.choice.place
        self.model.offer(self.choice)

    def _listed(self, provider: str, url: str) -> None:
        if (provider, url) == (self.choice.provider, self.choice.base_url):
            self._offer_models()

    def _show_whole_url(self) -> None:
        help = self.tr("The address of the server; press Enter to use it.")
        set_tip(self.url, "\n".join(filter(None, (self.url.text().strip(), help))))

    # -- building

    def _name_fields(self, about: str) -> None:
        self.backend.setToolTip(self.tr("Who runs the language model that works out the answers."))
        for widget, name in (
            (self.backend, self.tr("Provider")),
            (self.model, self.tr("Model")),
            (self.refresh, self.tr("Refresh the list of models")),
            (self.url, self.tr("Server")),
        ):
            widget.setAccessibleName(f"{name}, {about}" if about else name)

    def _label(self, text: str, widget: QWidget, parent: QWidget) -> PlainLabel:
        label = label_of(widget, text if self._labelled else "", parent)
        label.setVisible(self._labelled)
        return label

    def _connect(self) -> None:
        self.backend.activated.connect(self._pick_backend)
        self.model.activated.connect(lambda: self._emit(self.choice))
        self.refresh.clicked.connect(lambda: self.model.fetch(self.choice, fresh=True))
        for field in (self.model.edit, self.url):
            field.editingFinished.connect(self._pick_fields)
            field.returnPressed.connect(self._enter)
        self.url.textChanged.connect(self._show_whole_url)
        self._lists.changed.connect(self._listed)


def _being_typed(field: QWidget, edit: QLineEdit) -> bool:
    return edit.isModified() and (field.hasFocus() or edit.hasFocus())
