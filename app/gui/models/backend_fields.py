"""Input fields for a provider's model and server."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QCompleter, QGridLayout, QLineEdit, QWidget

from app.gui.design.icons import IconButton
from app.gui.design.plain import set_tip
from app.gui.design.sentences import in_window_language
from app.gui.models.model_lists import ModelLists
from app.gui.state.choice import LOCATED, MODELLED
from app.gui.widgets.form import grid, label_of
from app.services.provider_keys import read_address
from app.session.control import BackendChoice

WIDEST_LIST_PX = 460


class ModelField(QComboBox):
    """An editable combo box that offers the models in `lists`.

    The caller must add `refresh`, the button that reloads the list, to a layout.
    """

    def __init__(self, lists: ModelLists, parent: QWidget) -> None:
        super().__init__(parent)
        self._lists = lists
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(9)
        self.setMaxVisibleItems(16)
        completer = self.completer()
        assert completer is not None
        completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.refresh = IconButton("refresh-cw", "", parent)

    @property
    def edit(self) -> QLineEdit:
        edit = self.lineEdit()
        assert edit is not None
        return edit

    def show_model(self, model: str) -> None:
        """Shows a model's name, whether or not it is in the list."""
        with QSignalBlocker(self), QSignalBlocker(self.edit):
            self.setCurrentIndex(self.findText(model, Qt.MatchFlag.MatchExactly) if model else -1)
            self.setEditText(model)
            self.edit.setCursorPosition(0)

    def offer(self, choice: BackendChoice) -> None:
        """Lists the known models of a choice's provider and server. Text that is being typed is left unchanged."""
        models = self._lists.offered(choice)
        if [self.itemText(place) for place in range(self.count())] != list(models):
            modified, cursor = self.edit.isModified(), self.edit.cursorPosition()
            with QSignalBlocker(self), QSignalBlocker(self.edit):
                self.clear()
                self.addItems(list(models))
            self.show_model(choice.model)
            self.edit.setModified(modified)
            self.edit.setCursorPosition(cursor if modified else 0)
            widest = max((self.fontMetrics().horizontalAdvance(model) for model in models), default=0)
            self.view().setMinimumWidth(min(WIDEST_LIST_PX, widest + 48))
        self.show_state(choice)

    def fetch(self, choice: BackendChoice, *, fresh: bool = False) -> None:
        """Fetches a choice's model list in the background. `fresh`: whether to bypass the cache."""
        self._lists.ask(choice, fresh=fresh)
        self.show_state(choice)

    def show_state(self, choice: BackendChoice) -> None:
        """Updates the tooltips with the number of models or the state of the fetch, including any error."""
        busy, trouble, number = self._lists.busy(choice), self._lists.trouble(choice), self.count()
        if trouble:
            state = self.tr("The list of models could not be fetched: {0}").format(in_window_language(trouble))
        elif busy:
            state = self.tr("The list of models is being fetched.")
        elif not number:
            state = self.tr("No models are known yet: type a name.")
        else:
            state = self.tr("1 model is offered.") if number == 1 else self.tr("{0} models are offered.").format(number)
        words = self.tr("The model's name; empty for the default one.")
        set_tip(self, f"{words}\n{state}")
        self.setAccessibleDescription(state)
        self.refresh.set_name("loader-circle" if busy else "triangle-alert" if trouble else "refresh-cw")
        refresh = self.tr("Fetches the list of models again.")
        set_tip(self.refresh, f"{state}\n{refresh}" if trouble else refresh)


class BackendFields(QObject):
    """The fields for the model and server of one provider at a time.

    `recall`: returns the choice last used for a provider.
    """

    changed = Signal()
    """Emitted when the choice has changed, and possibly also the set of visible fields."""

    def __init__(self, parent: QWidget, lists: ModelLists, recall: Callable[[str], BackendChoice]) -> None:
        super().__init__(parent)
        self._lists = lists
        self._recall = recall
        self._before = BackendChoice("")
        self.provider = ""
        self.url = QLineEdit(parent)
        self.url.setMinimumWidth(84)
        self.model = ModelField(lists, parent)
        self.refresh = self.model.refresh
        self.model_label = label_of(self.model, self.tr("M&odel"), parent)
        self.url_label = label_of(self.url, self.tr("Ser&ver"), parent)
        self.model.setAccessibleName(self.tr("Model"))
        self.refresh.setAccessibleName(self.tr("Refresh the list of models"))
        self.url.setAccessibleName(self.tr("Server"))
        self.model.activated.connect(self.settle)
        self.refresh.clicked.connect(lambda: self.model.fetch(self.choice, fresh=True))
        for field in (self.model.edit, self.url):
            field.editingFinished.connect(self.settle)
        self.url.textChanged.connect(self._show_whole_url)
        lists.changed.connect(self._listed)
        self._show_whole_url()

    @property
    def choice(self) -> BackendChoice:
        """The choice as currently entered."""
        if self.provider not in MODELLED:
            return BackendChoice(self.provider)
        typed = self.url.text().strip() if self.provider in LOCATED else ""
        url = read_address(typed) or typed
        return BackendChoice(self.provider, self.model.currentText().strip(), url)

    @property
    def fault(self) -> str:
        """A user-facing message if the server's address is missing or isn't one, else an empty string."""
        choice = self.choice
        view = self._lists.views.get(choice.provider)
        complete = view is not None and (view.url != "" or bool(read_address(choice.base_url)))
        return "" if complete else self.tr("Enter the server's address first.")

    def show_choice(self, choice: BackendChoice) -> None:
        """Fills in `choice`, overwriting any typed text."""
        self.provider = choice.provider
        self.url.setText(choice.base_url)
        self.url.setCursorPosition(0)
        self.model.show_model(choice.model)
        self.model.offer(self.choice)
        self._before = self.choice
        self._shape()

    def turn_to(self, provider: str) -> None:
        """Switches to a provider and restores the choice last used for it."""
        known = self._recall(provider)
        if not known.base_url and provider in LOCATED:
            known = BackendChoice(provider, known.model, self._lists.views[provider].url or "")
        self.show_choice(known)
        self.ask()

    def ask(self) -> None:
        """Fetches the model list in the background, unless it is cached."""
        self.model.fetch(self.choice)

    def grid(self) -> QGridLayout:
        """Returns a layout that contains the fields and their labels; its row 1 is free."""
        layout = grid(8, 6, stretch=1)
        layout.addWidget(self.url_label, 0, 0)
        layout.addWidget(self.url, 0, 1, 1, 2)
        layout.addWidget(self.model_label, 2, 0)
        layout.addWidget(self.model, 2, 1)
        layout.addWidget(self.refresh, 2, 2)
        return layout

    def settle(self) -> None:
        """Takes in what has been typed."""
        choice, before = self.choice, self._before
        if choice == before:
            return
        self._before = choice
        if choice.place != before.place:
            self.model.offer(choice)
            self.ask()
        self._shape()

    def _shape(self) -> None:
        modelled, located = self.provider in MODELLED, self.provider in LOCATED
        for widget in (self.model, self.model_label):
            widget.setVisible(modelled)
        for field in (self.url, self.url_label):
            field.setVisible(located)
        self.refresh.setVisible(modelled and self._lists.can_ask(self.choice))
        view = self._lists.views.get(self.provider)
        first = view.suggestions[0] if view is not None and view.suggestions else ""
        self.model.edit.setPlaceholderText(first or self.tr("default"))
        self.url.setPlaceholderText((view.url if view is not None else "") or "http://host:8080/v1")
        self.changed.emit()

    def _listed(self, provider: str, url: str) -> None:
        if (provider, url) == (self.provider, self.choice.base_url):
            self.model.offer(self.choice)

    def _show_whole_url(self) -> None:
        help = self.tr("The address of the server.")
        set_tip(self.url, "\n".join(filter(None, (self.url.text().strip(), help))))
