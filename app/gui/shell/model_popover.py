"""The popover that the model pill opens: all models, their keys, and how the model answers and is heard.

It emits what the user picks, and changes nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QFrame, QLineEdit, QWidget

from app.gui.backends.favourites import Favourites
from app.gui.backends.model_list import ModelListView
from app.gui.backends.model_lists import ModelLists
from app.gui.backends.model_rows import ModelRow, model_rows
from app.gui.backends.picker import BackendPicker
from app.gui.design.plain import PlainLabel, set_tip, tip
from app.gui.state.choice import WindowChoices, backend_choice, is_router, may_have_key
from app.gui.widgets.form import grid, label_of, push_button, row
from app.gui.widgets.pick_list import PickList
from app.gui.widgets.popover import Popover
from app.gui.widgets.translation import said
from app.services.model_service import ModelView
from app.session.control import BackendChoice
from app.settings.declarations import Settings

WIDTH_PX, LEAST_LIST_PX, MOST_LIST_PX = 440, 120, 320
SEARCH_AFTER_MS = 60


class ModelPopover(Popover):
    """Filled from `settings`, which it reads and never writes. `catalogue`: the models that can be downloaded."""

    backend_picked = Signal(object)
    connection_wanted = Signal(object)
    """The user wants to see about the key, the connection or the models of this `BackendChoice`."""
    routes_wanted = Signal()
    comparison_wanted = Signal()
    download_wanted = Signal(str)
    """The key of a model of the catalogue."""
    answer_mode_picked = Signal(str)
    frontend_picked = Signal(str)
    shown = Signal(str, str, str)
    """The model in use, for the pill: its provider's key, its name, and who runs it."""

    def __init__(
        self,
        settings: Settings,
        choices: WindowChoices,
        lists: ModelLists,
        window: QWidget,
        *,
        with_service: bool = False,
        catalogue: Callable[[], Sequence[ModelView]] = tuple,
    ) -> None:
        super().__init__(window)
        self._lists = lists
        self._with_service = with_service
        self._catalogue = catalogue
        self._recall = partial(backend_choice, settings)
        self._labels: dict[str, str] = {}
        self._loaded = ""
        """The name of the model that a session says it uses, where the choice leaves that open."""
        self.choice = backend_choice(settings)
        """The back-end in use, or being switched to."""
        self.favourites = Favourites(window)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText(self.tr("Search models"))
        self.search.setAccessibleName(self.tr("Search models"))
        self.search.setClearButtonEnabled(True)
        self.list = ModelListView(self)
        self.empty = PlainLabel(self.tr("No model is called that. Below you can name any model and server."), self)
        self.empty.setWordWrap(True)
        self.picker = BackendPicker(self, lists, self._recall, router=True)
        self.backend, self.model, self.url = self.picker.backend, self.picker.model, self.picker.url
        self.other_button = self._foot_button(self.tr("Other &model or server"), checkable=True)
        self.compare_button = self._foot_button(self.tr("&Compare…"))
        self.connection_button = self._foot_button("")
        self.answer_mode = self._answer_modes()
        self.frontend = self._frontends(choices)
        self._lay_out(len(choices.frontends) > 1)
        self._select(self.answer_mode, settings.answer_mode)
        self._select(self.frontend, settings.frontend)
        self._later = QTimer(self, singleShot=True, interval=SEARCH_AFTER_MS)
        self._connect()
        self.show_backend(self.choice)
        self._show_answer_mode()

    # -- what is shown

    def show_backend(self, choice: BackendChoice) -> None:
        """Show the back-end in use, without emitting that it was picked."""
        if choice != self.choice:
            self._loaded = ""
        self.choice = choice
        self.favourites.show_backend(choice)
        self.picker.show_choice(choice)
        self.picker.ask()
        self.tell()
        if self.isVisible():
            self._fill()

    def show_loaded(self, model: str) -> None:
        """The session says that the model in use is called so."""
        self._loaded = model
        self.tell()

    def show_answer_mode(self, answer_mode: str) -> None:
        """Show the answer mode in use, without emitting that it was picked."""
        self._select(self.answer_mode, answer_mode)
        self._show_answer_mode()

    def show_frontend(self, key: str) -> None:
        """Show the front-end in use, without emitting that it was picked."""
        self._select(self.frontend, key)

    def show_progress(self, key: str, words: str) -> None:
        """How far the download of a model has come; an empty key for none."""
        self.list.busy_key, self.list.busy_words = key, words
        self.list.viewport().update()

    def add_controls(self, widget: QWidget) -> None:
        """Adds a widget at the foot: what the front-end in use can be told."""
        self.column.addWidget(widget)

    def open_at(self, anchor: QWidget) -> None:
        """Opens with all models, and the search field ready to be typed into."""
        with QSignalBlocker(self.search):
            self.search.clear()
        for provider in self._lists.views:
            self._lists.ask(self._recall(provider))
        self._fill()
        self.set_width(WIDTH_PX)
        super().open_at(anchor)
        self.search.setFocus()

    def _fill(self) -> None:
        view = self.list
        view.current, view.favourites = self.choice, self.favourites.backends
        rows = model_rows(
            self._lists, self._catalogue(), self.favourites.backends, self.choice, self._recall, self.search.text()
        )
        at = view.verticalScrollBar().value()
        view.rows.show(rows)
        view.highlight_first()
        view.verticalScrollBar().setValue(at)
        view.setVisible(bool(rows))
        self.empty.setVisible(not rows)
        view.setFixedHeight(max(LEAST_LIST_PX, min(MOST_LIST_PX, view.wanted_height())))
        if self.isVisible():
            self.place()

    def tell(self) -> None:
        """Emits `shown`."""
        label = self._lists.label(self.choice.provider)
        name = self.choice.model or self._loaded
        if name and self.choice.provider == "embedded":
            if not self._labels:  # they never change, and listing all models takes a moment
                self._labels = {model.key: model.label for model in self._catalogue()}
            name = self._labels.get(name, name)
        self.shown.emit(self.choice.provider, name or label, label if name and not is_router(self.choice) else "")

    # -- what the user does

    def _take(self, chosen: ModelRow) -> None:
        if chosen.download:
            self.download_wanted.emit(chosen.download)
            return
        self.shut()
        if chosen.choice != self.choice:
            self.show_backend(chosen.choice)
            self.backend_picked.emit(chosen.choice)

    def _star(self, choice: BackendChoice) -> None:
        self.favourites.toggle(choice)
        self._fill()

    def _pick_backend(self, choice: BackendChoice) -> None:
        if choice != self.choice:
            self.choice = choice
            self.tell()
            self.backend_picked.emit(choice)

    def _want_connection(self) -> None:
        choice = self.picker.choice
        self.shut()
        if is_router(choice):
            self.routes_wanted.emit()
        else:
            self.connection_wanted.emit(choice)

    def _want_comparison(self) -> None:
        self.shut()
        self.comparison_wanted.emit()

    def _show_other(self, shown: bool) -> None:
        self.other.setVisible(shown)
        self.place()
        if shown:
            self.backend.setFocus()

    def _shape(self) -> None:
        """Names the button for the dialog that this back-end needs most."""
        choice = self.picker.choice
        view = self._lists.views.get(choice.provider)
        if is_router(choice):
            text, name = self.tr("Rou&ter's table…"), self.tr("Table of models by kind of question")
        elif view is not None and self._with_service and (may_have_key(view) or view.can_pull):
            text, name = self.tr("&Key and connection…"), self.tr("Key, server and models of the provider")
        else:
            text = name = ""
        self.connection_button.setText(text)
        self.connection_button.setAccessibleName(name)
        set_tip(self.connection_button, name)
        self.connection_button.setVisible(bool(text))
        if self.isVisible():
            self.place()

    def _show_answer_mode(self) -> None:
        help = self.answer_mode.currentData(Qt.ItemDataRole.ToolTipRole)
        set_tip(self.answer_mode, self.tr("When the answer begins.") + f"\n{help}")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """In the search field, Down goes to the list, Enter picks its highlighted model."""
        if watched is self.search and event.type() == QEvent.Type.KeyPress:
            assert isinstance(event, QKeyEvent)
            if event.key() == Qt.Key.Key_Down:
                self.list.setFocus()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if self._later.isActive():
                    self._later.stop()
                    self._fill()
                if (chosen := self.list.rows.row(self.list.currentIndex())) is not None:
                    self._take(chosen)
                return True
        return super().eventFilter(watched, event)

    # -- building

    def _connect(self) -> None:
        self.search.installEventFilter(self)
        self.search.textChanged.connect(lambda _: self._later.start())
        self._later.timeout.connect(self._fill)
        self.list.picked.connect(self._take)
        self.list.starred.connect(self._star)
        self.list.left_above.connect(self.search.setFocus)
        self._lists.changed.connect(lambda *_: self._fill() if self.isVisible() else None)
        self.picker.picked.connect(self._pick_backend)
        self.picker.reshaped.connect(self._shape)
        self.picker.typed.connect(self.shut)
        self.other_button.toggled.connect(self._show_other)
        self.compare_button.clicked.connect(self._want_comparison)
        self.connection_button.clicked.connect(self._want_connection)
        self.answer_mode.currentIndexChanged.connect(self._show_answer_mode)
        self.answer_mode.activated.connect(lambda: self.answer_mode_picked.emit(self.answer_mode.currentData()))
        self.frontend.activated.connect(lambda: self.frontend_picked.emit(self.frontend.currentData()))

    def _lay_out(self, many_frontends: bool) -> None:
        self.other = QWidget(self)
        self.other.setLayout(self.picker.grid())
        self.other.hide()
        column = self.column
        for widget in (self.search, self.list, self.empty, self.other):
            column.addWidget(widget)
        column.addLayout(row(self.other_button, self.compare_button, None, self.connection_button, spacing=4))
        line = QFrame(self)
        line.setFrameShape(QFrame.Shape.HLine)
        column.addWidget(line)
        form = grid(12, 8, stretch=1)
        form.addWidget(label_of(self.answer_mode, self.tr("&Answer"), self), 0, 0)
        form.addWidget(self.answer_mode, 0, 1)
        if many_frontends:
            form.addWidget(label_of(self.frontend, self.tr("F&ront-end"), self), 1, 0)
            form.addWidget(self.frontend, 1, 1)
        self.frontend.setVisible(many_frontends)
        column.addLayout(form)

    def _foot_button(self, text: str, *, checkable: bool = False):
        button = push_button(text, text.replace("&", "").removesuffix("…"), self)
        button.setProperty("flat", True)
        button.setCheckable(checkable)
        return button

    def _answer_modes(self) -> QComboBox:
        picker = self._picker(self.tr("Answer"), self.tr("When the answer begins."))
        for text, help, key in (
            (
                self.tr("While I speak"),
                self.tr("It works on the answer while you still talk, and speaks while it thinks."),
                "thinking",
            ),
            (self.tr("When I finish"), self.tr("It waits for the end of what you say."), "after"),
        ):
            picker.addItem(text, key)
            picker.setItemData(picker.count() - 1, tip(help), Qt.ItemDataRole.ToolTipRole)
        return picker

    def _frontends(self, choices: WindowChoices) -> QComboBox:
        picker = self._picker(self.tr("Front-end"), self.tr("What hears and speaks."))
        for key, label in choices.frontends:
            picker.addItem(said(label), key)
        picker.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        picker.setMinimumContentsLength(5)
        return picker

    def _picker(self, name: str, help: str) -> QComboBox:
        picker = PickList(self)
        picker.setAccessibleName(name)
        set_tip(picker, help)
        return picker

    @staticmethod
    def _select(picker: QComboBox, key: str) -> None:
        place = picker.findData(key, Qt.ItemDataRole.UserRole)
        if place >= 0:
            with QSignalBlocker(picker):
                picker.setCurrentIndex(place)
