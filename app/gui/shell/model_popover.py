"""The popover for choosing the model, the answer mode and the front-end, which opens from the model pill.

The popover emits the user's choices but doesn't apply them.
"""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal, SignalInstance
from PySide6.QtWidgets import QComboBox, QFrame, QPushButton, QWidget

from app.gui.design.plain import named, set_tip, tip
from app.gui.models.current_model import CurrentModel
from app.gui.models.favourites import Favourites
from app.gui.models.model_list import ModelRow
from app.gui.models.model_search import ModelSearch
from app.gui.state.choice import WindowChoices
from app.gui.widgets.form import add_items, grid, label_of, push_button, row
from app.gui.widgets.lists import PickList
from app.gui.widgets.popover import Popover
from app.gui.widgets.translation import said
from app.session.control import BackendChoice
from app.settings.declarations import Settings

WIDTH_PX = 440


class ModelPopover(Popover):
    """The popover, which opens from `pill`. Initially shows the choices in `settings`, and never modifies them."""

    backend_picked = Signal(object)
    models_wanted = Signal()
    """Requests the "Models and servers" dialog."""
    comparison_wanted = Signal()
    download_wanted = Signal(str)
    """Emits the catalogue key of the model to download."""
    answer_mode_picked = Signal(str)
    frontend_picked = Signal(str)

    def __init__(
        self,
        settings: Settings,
        choices: WindowChoices,
        models: ModelSearch,
        favourites: Favourites,
        current: CurrentModel,
        pill: QWidget,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self.current = current
        self._pill = pill
        self.favourites = favourites
        self.models = models
        self.search, self.list = self.models.field, self.models.list
        self.models_button = self._foot_button(self.tr("&Models and servers…"))
        self.compare_button = self._foot_button(self.tr("&Compare…"))
        self.answer_mode = self._answer_modes()
        self.frontend = self._frontends(choices)
        self._lay_out(len(choices.frontends) > 1)
        self._select(self.answer_mode, settings.answer_mode)
        self._select(self.frontend, settings.frontend)
        self._connect()
        self._show()
        self._show_answer_mode()

    # -- display

    @property
    def choice(self) -> BackendChoice:
        """The current back-end, or the new one during a switch."""
        return self.current.choice

    def _show(self) -> None:
        """Marks the current model."""
        self.favourites.show_backend(self.choice)
        if self.isVisible():
            self.models.show_current(self.choice, self.current.answers.id, coming=self.current.coming is not None)

    def set_running(self, running: bool) -> None:
        """Sets whether a session runs, which another model may be compared in."""
        self.compare_button.setEnabled(running)

    def show_answer_mode(self, answer_mode: str) -> None:
        """Shows the current answer mode without emitting `answer_mode_picked`."""
        self._select(self.answer_mode, answer_mode)
        self._show_answer_mode()

    def show_frontend(self, key: str) -> None:
        """Shows the current front-end without emitting `frontend_picked`."""
        self._select(self.frontend, key)

    def show_progress(self, key: str, words: str) -> None:
        """Shows the progress of a download. `key`: the catalogue key of the model, or empty to clear the progress."""
        self.list.busy_key, self.list.busy_words = key, words
        self.list.viewport().update()

    def open_from_pill(self) -> None:
        """Opens the popover at the pill."""
        self.open_at(self._pill)

    def open_at(self, anchor: QWidget) -> None:
        """Opens the popover at `anchor` with an empty, focused search field."""
        self.models.open_with(self.choice, self.current.answers.id, coming=self.current.coming is not None)
        self.set_width(WIDTH_PX)
        super().open_at(anchor)
        self.search.setFocus()

    # -- user actions

    def _take(self, chosen: ModelRow) -> None:
        if chosen.download:
            self.download_wanted.emit(chosen.download)
            return
        self.shut()
        self.backend_picked.emit(chosen.choice)

    def _want(self, signal: SignalInstance) -> None:
        self.shut()
        signal.emit()

    def _show_answer_mode(self) -> None:
        help = self.answer_mode.currentData(Qt.ItemDataRole.ToolTipRole)
        set_tip(self.answer_mode, self.tr("When the answer begins.") + f"\n{help}")

    # -- construction

    def _connect(self) -> None:
        self.current.changed.connect(self._show)
        self.models.picked.connect(self._take)
        self.models.reshaped.connect(lambda: self.place() if self.isVisible() else None)
        self.models_button.clicked.connect(lambda: self._want(self.models_wanted))
        self.compare_button.clicked.connect(lambda: self._want(self.comparison_wanted))
        self.answer_mode.currentIndexChanged.connect(self._show_answer_mode)
        self.answer_mode.activated.connect(lambda: self.answer_mode_picked.emit(self.answer_mode.currentData()))
        self.frontend.activated.connect(lambda: self.frontend_picked.emit(self.frontend.currentData()))

    def _lay_out(self, many_frontends: bool) -> None:
        buttons = row(self.models_button, self.compare_button, None, spacing=4)
        line = QFrame(self)
        line.setFrameShape(QFrame.Shape.HLine)
        form = grid(12, 8, stretch=1)
        form.addWidget(label_of(self.answer_mode, self.tr("&Answer"), self), 0, 0)
        form.addWidget(self.answer_mode, 0, 1)
        if many_frontends:
            form.addWidget(label_of(self.frontend, self.tr("&Voice engine"), self), 1, 0)
            form.addWidget(self.frontend, 1, 1)
        self.frontend.setVisible(many_frontends)
        add_items(self.column, self.models, buttons, line, form)

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
        picker = self._picker(self.tr("Voice engine"), self.tr("What hears and speaks."))
        for key, label in choices.frontends:
            picker.addItem(said(label), key)
        picker.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        picker.setMinimumContentsLength(5)
        return picker

    def _picker(self, name: str, help: str) -> QComboBox:
        picker = named(PickList(self), name)
        set_tip(picker, help)
        return picker

    @staticmethod
    def _select(picker: QComboBox, key: str) -> None:
        place = picker.findData(key, Qt.ItemDataRole.UserRole)
        if place >= 0:
            with QSignalBlocker(picker):
                picker.setCurrentIndex(place)
