"""The pickers above the talk: brain, manner and voice; and those of the devices, which the talk bar has beside its
meters. Says what the user picked; does nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QWidget

from app.gui.brain_picker import BrainPicker
from app.gui.choice import WindowChoices, backend_choice, is_router, may_have_key
from app.gui.device_picker import DevicePicker
from app.gui.favourites import FavouritesButton
from app.gui.model_lists import ModelLists
from app.gui.pick_list import PickList
from app.gui.slim_button import SlimButton
from app.gui.translation import said
from app.session.control import BackendChoice
from app.settings import Settings


class SetupBar(QWidget):
    """A row of pickers, filled from `settings`, which it reads and never writes."""

    brain_picked = Signal(object)
    desk_wanted = Signal(object)
    """The user wants to see about the key, the connection or the models of this `BackendChoice`."""
    routes_wanted = Signal()
    manner_picked = Signal(str)
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
        with_desk: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._lists = lists
        self._with_desk = with_desk
        self.choice = backend_choice(settings)
        """The brain in force, or on its way there."""
        recall = partial(backend_choice, settings)
        self.picker = BrainPicker(self, lists, recall, router=True, labelled=False)
        self.brain, self.model, self.url = self.picker.brain, self.picker.model, self.picker.url
        for field, widest in ((self.brain, 210), (self.model, 300), (self.url, 300)):
            field.setMaximumWidth(widest)
        self.desk_button = SlimButton(parent=self)
        self.favourites = FavouritesButton(self)
        self.manner = self._picker(self.tr("Manner"), self.tr("When the answer begins."))
        for text, help, key in (
            (self.tr("Thinking"), self.tr("It works on the answer while you still talk, and speaks while it thinks."),
             "thinking"),
            (self.tr("After"), self.tr("It waits for the end of what you say."), "after"),
        ):  # fmt: skip
            self.manner.addItem(text, key)
            self.manner.setItemData(self.manner.count() - 1, help, Qt.ItemDataRole.ToolTipRole)
        self.frontend = self._picker(self.tr("Voice"), self.tr("What hears and speaks."))
        for key, label in choices.frontends:
            self.frontend.addItem(said(label), key)
        self.frontend.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.frontend.setMinimumContentsLength(9)
        self.frontend.setMaximumWidth(280)
        self.microphone = self._device_picker(self.tr("Microphone"), lambda: settings.microphone)
        self.loudspeaker = self._device_picker(self.tr("Loudspeaker"), lambda: settings.loudspeaker)
        self.new_button = SlimButton(self.tr("New talk"), self)
        self.new_button.setAccessibleName(self.tr("New talk"))
        self.new_button.setToolTip(self.tr("Ends this talk and begins a new one (Ctrl+N)."))
        self.stop_button = SlimButton(self.tr("Stop"), self)
        self.stop_button.setAccessibleName(self.tr("Stop the talk"))
        self.stop_button.setToolTip(self.tr("Ends this talk and closes the microphone."))
        self._lay_out(len(choices.frontends) > 1)
        self._select(self.manner, settings.manner)
        self._select(self.frontend, settings.frontend)
        self._connect()
        self.show_brain(self.choice)
        self._show_manner()

    def show_brain(self, choice: BackendChoice) -> None:
        """Shows the brain in force, without saying that it was picked."""
        self.choice = choice
        self.favourites.show_brain(choice)
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

    def show_manner(self, manner: str) -> None:
        """Shows the manner in force, without saying that it was picked."""
        self._select(self.manner, manner)
        self._show_manner()

    def show_frontend(self, key: str) -> None:
        """Shows the front-end in force, likewise."""
        self._select(self.frontend, key)

    def set_running(self, phase: str) -> None:
        """Only what isn't stopped can be stopped."""
        self.stop_button.setEnabled(phase != "stopped")

    # -- inner parts

    def _connect(self) -> None:
        self.picker.picked.connect(self._pick_brain)
        self.picker.reshaped.connect(self._shape)
        self.picker.typed.connect(self.typed)
        self.desk_button.clicked.connect(self._want_desk)
        self.manner.currentIndexChanged.connect(self._show_manner)
        self.manner.activated.connect(lambda: self.manner_picked.emit(self.manner.currentData()))
        self.frontend.activated.connect(lambda: self.frontend_picked.emit(self.frontend.currentData()))
        for picker in (self.microphone, self.loudspeaker):
            picker.activated.connect(
                lambda: self.devices_picked.emit(self.microphone.currentData(), self.loudspeaker.currentData())
            )
        self.new_button.clicked.connect(self.new_talk)
        self.stop_button.clicked.connect(self.stop_talk)

    def _pick_brain(self, choice: BackendChoice) -> None:
        if choice != self.choice:
            self.choice = choice
            self.brain_picked.emit(choice)

    def _want_desk(self) -> None:
        choice = self.picker.choice
        if is_router(choice):
            self.routes_wanted.emit()
        else:
            self.desk_wanted.emit(choice)

    def _shape(self) -> None:
        """The button beside the brain leads to what this brain needs most."""
        choice = self.picker.choice
        view = self._lists.views.get(choice.provider)
        if is_router(choice):
            text, name = self.tr("Table…"), self.tr("Table of brains by kind of question")
        elif view is None or not self._with_desk:
            text = name = ""
        elif may_have_key(view):
            text, name = self.tr("Key…"), self.tr("Key and connection of the brain")
        elif view.can_pull:
            text, name = self.tr("Models…"), self.tr("Models and connection of the brain")
        else:
            text = name = ""
        self.desk_button.setText(text)
        self.desk_button.setAccessibleName(name)
        self.desk_button.setToolTip(name)
        self.desk_button.setVisible(bool(text))

    def _show_manner(self) -> None:
        help = self.manner.currentData(Qt.ItemDataRole.ToolTipRole)
        self.manner.setToolTip(self.tr("When the answer begins.") + f"\n{help}")

    def _lay_out(self, many_voices: bool) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        picker = self.picker
        label = QLabel(self.tr("&Brain"), self)
        label.setBuddy(picker.brain)
        row.addWidget(label)
        for widget, stretch in (
            (picker.brain, 1), (picker.model, 3), (picker.refresh, 0), (picker.url, 4), (self.favourites, 0),
            (self.desk_button, 0),
        ):  # fmt: skip
            row.addWidget(widget, stretch)
        row.addStretch(1)
        self._add(row, self.tr("M&anner"), self.manner)
        if many_voices:
            self._add(row, self.tr("Vo&ice"), self.frontend, 2)
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
        picker.setToolTip(self.tr("Can be changed in mid-talk."))
        picker.setMinimumContentsLength(10)
        picker.setMaximumWidth(420)
        return picker

    @staticmethod
    def _select(picker: QComboBox, key: str) -> None:
        place = picker.findData(key, Qt.ItemDataRole.UserRole)
        if place >= 0:
            with QSignalBlocker(picker):
                picker.setCurrentIndex(place)
