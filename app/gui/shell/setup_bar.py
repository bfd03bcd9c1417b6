"""The pickers above the transcript: model, answer mode and front-end; and those of the audio devices, which the talk
bar shows beside its level meters. Emits what the user picks and changes nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QWidget

from app.gui.backends.favourites import FavouritesButton
from app.gui.backends.model_lists import ModelLists
from app.gui.backends.picker import BackendPicker
from app.gui.sound.device_picker import DevicePicker
from app.gui.state.choice import WindowChoices, backend_choice, is_router, may_have_key
from app.gui.widgets.pick_list import PickList
from app.gui.widgets.slim_button import SlimButton
from app.gui.widgets.translation import said
from app.session.control import BackendChoice
from app.settings.declarations import Settings


class SetupBar(QWidget):
    """A row of pickers, filled from `settings`, which it reads and never writes."""

    backend_picked = Signal(object)
    connection_wanted = Signal(object)
    """The user wants to see about the key, the connection or the models of this `BackendChoice`."""
    routes_wanted = Signal()
    answer_mode_picked = Signal(str)
    frontend_picked = Signal(str)
    devices_picked = Signal(str, str)
    """A microphone and a loudspeaker by name; empty for the system's defaults."""
    new_talk = Signal()
    stop_talk = Signal()
    typed = Signal()
    """Enter was pressed in a text field: the typing is over."""

    def __init__(
        self,
        settings: Settings,
        choices: WindowChoices,
        lists: ModelLists,
        *,
        with_service: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._lists = lists
        self._with_service = with_service
        self.choice = backend_choice(settings)
        """The back-end in use, or being switched to."""
        recall = partial(backend_choice, settings)
        self.picker = BackendPicker(self, lists, recall, router=True, labelled=False)
        self.backend, self.model, self.url = self.picker.backend, self.picker.model, self.picker.url
        for field, widest in ((self.backend, 210), (self.model, 300), (self.url, 300)):
            field.setMaximumWidth(widest)
        self.connection_button = SlimButton(parent=self)
        self.favourites = FavouritesButton(self)
        self.answer_mode = self._picker(self.tr("Answer"), self.tr("When the answer begins."))
        for text, help, key in (
            (
                self.tr("While I speak"),
                self.tr("It works on the answer while you still talk, and speaks while it thinks."),
                "thinking",
            ),
            (self.tr("When I finish"), self.tr("It waits for the end of what you say."), "after"),
        ):
            self.answer_mode.addItem(text, key)
            self.answer_mode.setItemData(self.answer_mode.count() - 1, help, Qt.ItemDataRole.ToolTipRole)
        self.frontend = self._picker(self.tr("Front-end"), self.tr("What hears and speaks."))
        for key, label in choices.frontends:
            self.frontend.addItem(said(label), key)
        self.frontend.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.frontend.setMinimumContentsLength(5)
        self.frontend.setMaximumWidth(280)
        self.microphone = self._device_picker(self.tr("Microphone"), lambda: settings.microphone)
        self.loudspeaker = self._device_picker(self.tr("Loudspeaker"), lambda: settings.loudspeaker)
        self.new_button = SlimButton(self.tr("New conversation"), self)
        self.new_button.setAccessibleName(self.tr("New conversation"))
        self.new_button.setToolTip(self.tr("Ends this conversation and begins a new one (Ctrl+N)."))
        self.stop_button = SlimButton(self.tr("Stop"), self)
        self.stop_button.setAccessibleName(self.tr("Stop the conversation"))
        self.stop_button.setToolTip(self.tr("Ends this conversation and closes the microphone."))
        self._lay_out(len(choices.frontends) > 1)
        self._select(self.answer_mode, settings.answer_mode)
        self._select(self.frontend, settings.frontend)
        self._connect()
        self.show_backend(self.choice)
        self._show_answer_mode()

    def show_backend(self, choice: BackendChoice) -> None:
        """Show the back-end in use, without emitting that it was picked."""
        self.choice = choice
        self.favourites.show_backend(choice)
        self.picker.show_choice(choice)
        self.picker.ask()

    def set_devices(self, microphones: list[str], loudspeakers: list[str]) -> None:
        """Offers these devices, once no list is open; one that is in the settings but not there stays offered, and
        marked.
        """
        self.microphone.offer(microphones)
        self.loudspeaker.offer(loudspeakers)

    def offer_again(self) -> None:
        """Shows the devices that are in the settings now."""
        self.microphone.refresh()
        self.loudspeaker.refresh()

    def show_answer_mode(self, answer_mode: str) -> None:
        """Show the answer mode in use, without emitting that it was picked."""
        self._select(self.answer_mode, answer_mode)
        self._show_answer_mode()

    def show_frontend(self, key: str) -> None:
        """Show the front-end in use, without emitting that it was picked."""
        self._select(self.frontend, key)

    def set_running(self, phase: str) -> None:
        """Only what isn't stopped can be stopped."""
        self.stop_button.setEnabled(phase != "stopped")

    # -- inner parts

    def _connect(self) -> None:
        self.picker.picked.connect(self._pick_backend)
        self.picker.reshaped.connect(self._shape)
        self.picker.typed.connect(self.typed)
        self.connection_button.clicked.connect(self._want_connection)
        self.answer_mode.currentIndexChanged.connect(self._show_answer_mode)
        self.answer_mode.activated.connect(lambda: self.answer_mode_picked.emit(self.answer_mode.currentData()))
        self.frontend.activated.connect(lambda: self.frontend_picked.emit(self.frontend.currentData()))
        for picker in (self.microphone, self.loudspeaker):
            picker.activated.connect(
                lambda: self.devices_picked.emit(self.microphone.currentData(), self.loudspeaker.currentData())
            )
        self.new_button.clicked.connect(self.new_talk)
        self.stop_button.clicked.connect(self.stop_talk)

    def _pick_backend(self, choice: BackendChoice) -> None:
        if choice != self.choice:
            self.choice = choice
            self.backend_picked.emit(choice)

    def _want_connection(self) -> None:
        choice = self.picker.choice
        if is_router(choice):
            self.routes_wanted.emit()
        else:
            self.connection_wanted.emit(choice)

    def _shape(self) -> None:
        """Give the button beside the model the dialog that this back-end needs most."""
        choice = self.picker.choice
        view = self._lists.views.get(choice.provider)
        if is_router(choice):
            text, name = self.tr("Router's table…"), self.tr("Table of models by kind of question")
        elif view is None or not self._with_service:
            text = name = ""
        elif may_have_key(view) or view.can_pull:
            text, name = self.tr("Set up…"), self.tr("Key, server and models of the provider")
        else:
            text = name = ""
        self.connection_button.setText(text)
        self.connection_button.setAccessibleName(name)
        self.connection_button.setToolTip(name)
        self.connection_button.setVisible(bool(text))

    def _show_answer_mode(self) -> None:
        help = self.answer_mode.currentData(Qt.ItemDataRole.ToolTipRole)
        self.answer_mode.setToolTip(self.tr("When the answer begins.") + f"\n{help}")

    def _lay_out(self, many_voices: bool) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        picker = self.picker
        label = QLabel(self.tr("P&rovider"), self)
        label.setBuddy(picker.backend)
        row.addWidget(label)
        for widget, stretch in (
            (picker.backend, 1),
            (picker.model, 3),
            (picker.refresh, 0),
            (picker.url, 4),
            (self.favourites, 0),
            (self.connection_button, 0),
        ):
            row.addWidget(widget, stretch)
        row.addStretch(1)
        self._add(row, self.tr("&Answer"), self.answer_mode)
        if many_voices:
            self._add(row, self.tr("Fron&t-end"), self.frontend, 2)
        else:
            self.frontend.setVisible(False)

    def _add(self, row: QHBoxLayout, text: str, control: QWidget, stretch: int = 0) -> QLabel:
        label = QLabel(text, self)
        label.setBuddy(control)
        row.addWidget(label)
        row.addWidget(control, stretch)
        return label

    def _picker(self, name: str, help: str) -> QComboBox:
        picker = PickList(self)
        picker.setAccessibleName(name)
        picker.setToolTip(help)
        return picker

    def _device_picker(self, name: str, kept: Callable[[], str]) -> DevicePicker:
        picker = DevicePicker(kept, self)
        picker.setAccessibleName(name)
        picker.setToolTip(self.tr("Can be changed during the conversation."))
        picker.setMinimumContentsLength(10)
        picker.setMaximumWidth(420)
        return picker

    @staticmethod
    def _select(picker: QComboBox, key: str) -> None:
        place = picker.findData(key, Qt.ItemDataRole.UserRole)
        if place >= 0:
            with QSignalBlocker(picker):
                picker.setCurrentIndex(place)
