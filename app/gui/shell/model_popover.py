"""The popover that the model pill opens: all models, and when and by which front-end the model's answers are spoken.

It emits what the user picks, and changes nothing itself.
"""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal, SignalInstance
from PySide6.QtWidgets import QComboBox, QFrame, QPushButton, QWidget

from app.gui.design.plain import set_tip, tip
from app.gui.models.favourites import Favourites
from app.gui.models.model_list import ModelRow
from app.gui.models.model_lists import ModelLists
from app.gui.models.model_search import Catalogue, ModelSearch
from app.gui.state.choice import WindowChoices, backend_choice, is_router
from app.gui.widgets.form import grid, label_of, push_button, row
from app.gui.widgets.pick_list import PickList
from app.gui.widgets.popover import Popover
from app.gui.widgets.translation import said
from app.session.control import BackendChoice
from app.settings.declarations import Settings

WIDTH_PX = 440


class ModelPopover(Popover):
    """Filled from `settings`, which it reads and never writes.

    `catalogue`: returns the models that can be downloaded.
    """

    backend_picked = Signal(object)
    models_wanted = Signal()
    """The user wants the dialog “Models and servers”."""
    routes_wanted = Signal()
    comparison_wanted = Signal()
    download_wanted = Signal(str)
    """The key of a model in the catalogue."""
    answer_mode_picked = Signal(str)
    frontend_picked = Signal(str)
    shown = Signal(str, str, str)
    """The model in use, for the pill: its provider's key, its name, and its provider's name."""

    def __init__(
        self,
        settings: Settings,
        choices: WindowChoices,
        lists: ModelLists,
        favourites: Favourites,
        catalogue: Catalogue,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._lists = lists
        self._catalogue = catalogue
        self._labels: dict[str, str] = {}
        self._loaded = ""
        """The name of the model that the session reports, if the choice names none."""
        self.choice = backend_choice(settings)
        """The back-end in use, or the one that is being switched to."""
        self.favourites = favourites
        self.models = ModelSearch(settings, lists, favourites, catalogue, self)
        self.search, self.list = self.models.field, self.models.list
        self.models_button = self._foot_button(self.tr("&Models and servers…"))
        self.compare_button = self._foot_button(self.tr("&Compare…"))
        self.routes_button = self._foot_button(self.tr("Rou&ter's table…"))
        self.answer_mode = self._answer_modes()
        self.frontend = self._frontends(choices)
        self._lay_out(len(choices.frontends) > 1)
        self._select(self.answer_mode, settings.answer_mode)
        self._select(self.frontend, settings.frontend)
        self._connect()
        self.show_backend(self.choice)
        self._show_answer_mode()

    # -- what is shown

    def show_backend(self, choice: BackendChoice) -> None:
        """Shows the back-end in use, without emitting that it was picked."""
        if choice != self.choice:
            self._loaded = ""
        self.choice = choice
        self.favourites.show_backend(choice)
        self._lists.ask(choice)
        self.routes_button.setVisible(is_router(choice))
        self.tell()
        if self.isVisible():
            self.models.show_current(choice)

    def show_loaded(self, model: str) -> None:
        """Shows the name of the model in use, as the session reports it."""
        self._loaded = model
        self.tell()

    def show_answer_mode(self, answer_mode: str) -> None:
        """Shows the answer mode in use, without emitting that it was picked."""
        self._select(self.answer_mode, answer_mode)
        self._show_answer_mode()

    def show_frontend(self, key: str) -> None:
        """Shows the front-end in use, without emitting that it was picked."""
        self._select(self.frontend, key)

    def show_progress(self, key: str, words: str) -> None:
        """Shows the progress of a model's download; an empty key for none."""
        self.list.busy_key, self.list.busy_words = key, words
        self.list.viewport().update()

    def add_controls(self, widget: QWidget) -> None:
        """Adds a widget at the foot, for the front-end in use."""
        self.column.addWidget(widget)

    def open_at(self, anchor: QWidget) -> None:
        """Opens with all models and the focus in the search field."""
        self.models.open_with(self.choice)
        self.set_width(WIDTH_PX)
        super().open_at(anchor)
        self.search.setFocus()

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

    def _want(self, signal: SignalInstance) -> None:
        self.shut()
        signal.emit()

    def _show_answer_mode(self) -> None:
        help = self.answer_mode.currentData(Qt.ItemDataRole.ToolTipRole)
        set_tip(self.answer_mode, self.tr("When the answer begins.") + f"\n{help}")

    # -- building

    def _connect(self) -> None:
        self.models.picked.connect(self._take)
        self.models.reshaped.connect(lambda: self.place() if self.isVisible() else None)
        self.models_button.clicked.connect(lambda: self._want(self.models_wanted))
        self.compare_button.clicked.connect(lambda: self._want(self.comparison_wanted))
        self.routes_button.clicked.connect(lambda: self._want(self.routes_wanted))
        self.answer_mode.currentIndexChanged.connect(self._show_answer_mode)
        self.answer_mode.activated.connect(lambda: self.answer_mode_picked.emit(self.answer_mode.currentData()))
        self.frontend.activated.connect(lambda: self.frontend_picked.emit(self.frontend.currentData()))

    def _lay_out(self, many_frontends: bool) -> None:
        column = self.column
        column.addWidget(self.models)
        column.addLayout(row(self.models_button, self.compare_button, None, self.routes_button, spacing=4))
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

    def _foot_button(self, text: str) -> QPushButton:
        button = push_button(text, text.replace("&", "").removesuffix("…"), self)
        button.setProperty("flat", True)
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
