"""The fields that name a brain: provider, model, server. Says what the user picked; does nothing.

The widgets stand in no layout: the setup bar puts them in a row, the dialogs below each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QCompleter, QGridLayout, QLabel, QLineEdit, QToolButton, QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.state.choice import LOCATED, MODELLED, is_router
from app.gui.widgets.pick_list import PickList
from app.session.control import BackendChoice

WIDEST_LIST_PX = 460


class BackendPicker(QObject):
    """`recall` tells the brain that was last used of a provider; `about` tells pickers in one window apart;
    without `labelled`, whoever lays them out says what is what.
    """

    picked = Signal(object)
    """A `BackendChoice` that is whole."""
    reshaped = Signal()
    """Other fields are shown now."""
    typed = Signal()
    """Enter was pressed in a text field: the typing is over."""

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
        self.backend.view().setMinimumWidth(_widest([view.label for view in lists.views.values()], self.backend))
        self.model = QComboBox(parent)
        self.model.setEditable(True)
        self.model.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.model.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.model.setMinimumContentsLength(9)
        self.model.setMaxVisibleItems(16)
        completer = self.model.completer()
        completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.refresh = QToolButton(parent)
        self.refresh.setText("↻")
        self.refresh.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.url = QLineEdit(parent)
        self.url.setMinimumWidth(84)
        for widget, name, help in (
            (self.backend, self.tr("Brain"), self.tr("The language model that thinks.")),
            (self.model, self.tr("Model"), ""),
            (self.refresh, self.tr("Refresh the list of models"), ""),
            (self.url, self.tr("Server"), ""),
        ):
            widget.setAccessibleName(f"{name}, {about}" if about else name)
            widget.setToolTip(help)
        self.backend_label, self.model_label, self.url_label = QLabel(parent), QLabel(parent), QLabel(parent)
        for label, text, widget in (
            (self.backend_label, self.tr("&Brain"), self.backend),
            (self.model_label, self.tr("M&odel"), self.model),
            (self.url_label, self.tr("Ser&ver"), self.url),
        ):
            label.setText(text if labelled else "")
            label.setBuddy(widget)
            label.setVisible(labelled)
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
        """Whether what the fields say is a brain: a server of the user's own needs an address."""
        return self._whole(self.choice)

    def grid(self) -> QGridLayout:
        """The parts with their labels, one below the other, for a dialog."""
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self.backend_label, 0, 0)
        grid.addWidget(self.backend, 0, 1, 1, 2)
        grid.addWidget(self.model_label, 1, 0)
        grid.addWidget(self.model, 1, 1)
        grid.addWidget(self.refresh, 1, 2)
        grid.addWidget(self.url_label, 2, 0)
        grid.addWidget(self.url, 2, 1, 1, 2)
        return grid

    def refuse(self, provider: str) -> None:
        """A brain of this provider was refused: picked again, it first waits for an address, or for Enter."""
        if provider != self.backend.currentData():
            self._refused.add(provider)

    def forgive(self, provider: str) -> None:
        """A brain of this provider was taken."""
        self._refused.discard(provider)

    def show_choice(self, choice: BackendChoice) -> None:
        """Shows a brain, without saying that it was picked; leaves alone what is being typed for the same one."""
        place = self.backend.findData(choice.provider)
        if place < 0:
            return
        same = self.backend.currentIndex() == place
        if self._tried.get(choice.provider) == choice:
            del self._tried[choice.provider]
        with QSignalBlocker(self.backend):
            self.backend.setCurrentIndex(place)
        if not (same and _being_typed(self.url)):
            self.url.setText(choice.base_url)
            self.url.setCursorPosition(0)
        if not (same and _being_typed(self.model)):
            self._show_model(choice.model)
        self._shape()
        self._fill()

    def ask(self) -> None:
        """Looks the models up in the background."""
        self._lists.ask(self.choice)
        self._tell_trouble()

    # -- inner parts

    def _connect(self) -> None:
        self.backend.activated.connect(self._pick_backend)
        self.model.activated.connect(lambda: self._say(self.choice))
        self.refresh.clicked.connect(self._refresh)
        edit = self.model.lineEdit()
        assert edit is not None
        for field in (edit, self.url):
            field.editingFinished.connect(self._pick_fields)
            field.returnPressed.connect(self._enter)
        self.url.textChanged.connect(self._show_whole_url)
        self._lists.changed.connect(self._listed)

    def _show_whole_url(self) -> None:
        help = self.tr("The address of the server; press Enter to use it.")
        self.url.setToolTip("\n".join(filter(None, (self.url.text().strip(), help))))

    def _located(self, provider: str) -> bool:
        view = self._lists.views.get(provider)
        return view is not None and view.url is not None and provider in LOCATED

    def _whole(self, choice: BackendChoice) -> bool:
        view = self._lists.views.get(choice.provider)
        return view is not None and (view.url != "" or bool(choice.base_url))

    def _pick_backend(self) -> None:
        provider = self.backend.currentData()
        known = self._recall(provider)
        waits = provider in self._refused and self._located(provider)
        self._refused.discard(provider)
        if not known.base_url and self._located(provider):
            known = BackendChoice(provider, known.model, self._lists.views[provider].url or "")
        choice = self._tried.get(provider, known)
        self.url.setModified(False)
        self._edit().setModified(False)
        self.show_choice(choice)
        self._tried[provider] = choice
        self.ask()
        if choice.base_url == known.base_url and self._whole(choice) and not waits:
            self.picked.emit(choice)
        else:
            self.url.setFocus()
            self.url.selectAll()  # there is no address yet, or one that was refused: it is asked for

    def _pick_fields(self) -> None:
        choice = self.choice
        if choice.place != self._place:
            self._fill()
            self.ask()
        if choice == self._tried.get(choice.provider, self._recall(choice.provider)):
            return
        self._say(choice)

    def _enter(self) -> None:
        self._say(self.choice)
        self.typed.emit()

    def _say(self, choice: BackendChoice) -> None:
        self._tried[choice.provider] = choice
        self.url.setModified(False)
        self._edit().setModified(False)
        if self._whole(choice):
            self.picked.emit(choice)

    def _edit(self) -> QLineEdit:
        edit = self.model.lineEdit()
        assert edit is not None
        return edit

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
        self._edit().setPlaceholderText(first or self.tr("default"))
        self.url.setPlaceholderText((view.url if view is not None else "") or "http://host:8080/v1")
        self.reshaped.emit()

    def _fill(self) -> None:
        choice = self.choice
        self._place = choice.place
        models = self._lists.offered(choice)
        if [self.model.itemText(place) for place in range(self.model.count())] != list(models):
            modified, cursor = self._edit().isModified(), self._edit().cursorPosition()
            with QSignalBlocker(self.model), QSignalBlocker(self._edit()):
                self.model.clear()
                self.model.addItems(list(models))
            self._show_model(choice.model)
            self._edit().setModified(modified)
            self._edit().setCursorPosition(cursor if modified else 0)
            self.model.view().setMinimumWidth(_widest(models, self.model))
        self._tell_trouble()

    def _show_model(self, model: str) -> None:
        with QSignalBlocker(self.model), QSignalBlocker(self._edit()):
            self.model.setCurrentIndex(self.model.findText(model, Qt.MatchFlag.MatchExactly) if model else -1)
            self.model.setEditText(model)
            self._edit().setCursorPosition(0)

    def _refresh(self) -> None:
        self._lists.ask(self.choice, fresh=True)
        self._tell_trouble()

    def _listed(self, provider: str, url: str) -> None:
        if (provider, url) == (self.choice.provider, self.choice.base_url):
            self._fill()

    def _tell_trouble(self) -> None:
        choice = self.choice
        busy, trouble = self._lists.busy(choice), self._lists.trouble(choice)
        number = self.model.count()
        words = self.tr("The model's name; empty for the default one.")
        if trouble:
            state = self.tr("The list of models could not be fetched: {0}").format(trouble)
        elif busy:
            state = self.tr("The list of models is being fetched.")
        elif not number:
            state = self.tr("No models are known yet: type a name.")
        else:
            state = self.tr("1 model is offered.") if number == 1 else self.tr("{0} models are offered.").format(number)
        self.model.setToolTip(f"{words}\n{state}")
        self.model.setAccessibleDescription(state)
        self.refresh.setText("…" if busy else "⚠" if trouble else "↻")
        refresh = self.tr("Fetches the list of models anew.")
        self.refresh.setToolTip(f"{state}\n{refresh}" if trouble else refresh)


def _widest(texts: Sequence[str], combo: QComboBox) -> int:
    """How wide a list must be for these texts, within reason."""
    widest = max((combo.fontMetrics().horizontalAdvance(text) for text in texts), default=0)
    return min(WIDEST_LIST_PX, widest + 48)


def _being_typed(field: QComboBox | QLineEdit) -> bool:
    edit = field.lineEdit() if isinstance(field, QComboBox) else field
    return edit is not None and edit.isModified() and (field.hasFocus() or edit.hasFocus())
