"""The pickers above the talk: brain, manner, voice and devices. Says what the user picked; does nothing."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.gui.choice import NAMED_BRAINS, WindowChoices, backend_choice
from app.session.control import BackendChoice
from app.settings import Settings


class SetupBar(QWidget):
    """Two rows of pickers, filled from `settings`, which it reads and never writes."""

    brain_picked = Signal(object)
    manner_picked = Signal(str)
    frontend_picked = Signal(str)
    microphone_picked = Signal(str)
    loudspeaker_picked = Signal(str)
    new_talk = Signal()
    stop_talk = Signal()
    typed = Signal()
    """Enter was pressed in a text field: the typing is over."""

    def __init__(self, settings: Settings, choices: WindowChoices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self.choice = backend_choice(settings)
        """The brain that is shown."""
        self.brain = self._picker(self.tr("Brain"), self.tr("The language model that thinks."))
        for key, label in choices.brains:
            self.brain.addItem(label, key)
        self.model = self._field(self.tr("Model"), self.tr("default"), 90)
        self.url = self._field(self.tr("Server"), self.tr("address of the server"), 130)
        self.manner = self._picker(self.tr("Manner"), self.tr("When the answer begins."))
        self.manner.addItem(self.tr("Thinking: speaks while it thinks"), "thinking")
        self.manner.addItem(self.tr("After: waits for the end"), "after")
        self.frontend = self._picker(self.tr("Voice"), self.tr("What hears and speaks."))
        for key, label in choices.frontends:
            self.frontend.addItem(label, key)
        self.microphone = self._device_picker(self.tr("Microphone"))
        self.loudspeaker = self._device_picker(self.tr("Loudspeaker"))
        self.new_button = QPushButton(self.tr("New talk"))
        self.new_button.setAccessibleName(self.tr("New talk"))
        self.new_button.setToolTip(self.tr("Ends this talk and begins a new one (Ctrl+N)."))
        self.stop_button = QPushButton(self.tr("Stop"))
        self.stop_button.setAccessibleName(self.tr("Stop the talk"))
        self.stop_button.setToolTip(self.tr("Ends this talk and closes the microphone."))
        self._lay_out(len(choices.frontends) > 1)
        self.set_devices([], [])
        self._select(self.manner, settings.manner)
        self._select(self.frontend, settings.frontend)
        self.show_brain(self.choice)
        self._connect()

    def show_brain(self, choice: BackendChoice) -> None:
        """Shows the brain in force, without saying that it was picked."""
        self.choice = choice
        self._select(self.brain, choice.provider)
        self._show_fields(choice)

    def set_devices(self, microphones: list[str], loudspeakers: list[str]) -> None:
        """Offers these devices; one that is in the settings but not there stays offered, and marked."""
        pairs = (
            (self.microphone, microphones, self._settings.microphone),
            (self.loudspeaker, loudspeakers, self._settings.loudspeaker),
        )
        for picker, names, current in pairs:
            with QSignalBlocker(picker):
                picker.clear()
                picker.addItem(self.tr("System default"), "")
                for name in names:
                    picker.addItem(name, name)
                if current and current not in names:
                    picker.addItem(self.tr("Not found: {0}").format(current), current)
                self._select(picker, current)

    def set_running(self, phase: str) -> None:
        """Only what isn't stopped can be stopped."""
        self.stop_button.setEnabled(phase != "stopped")

    # -- inner parts

    def _connect(self) -> None:
        self.brain.activated.connect(self._pick_brain)
        for field in (self.model, self.url):
            field.editingFinished.connect(self._pick_fields)
            field.returnPressed.connect(self.typed)
        self.manner.activated.connect(lambda: self.manner_picked.emit(self.manner.currentData()))
        self.frontend.activated.connect(lambda: self.frontend_picked.emit(self.frontend.currentData()))
        self.microphone.activated.connect(lambda: self.microphone_picked.emit(self.microphone.currentData()))
        self.loudspeaker.activated.connect(
            lambda: self.loudspeaker_picked.emit(self.loudspeaker.currentData())
        )
        self.new_button.clicked.connect(self.new_talk)
        self.stop_button.clicked.connect(self.stop_talk)

    def _pick_brain(self) -> None:
        provider = self.brain.currentData()
        if provider != self.choice.provider:
            self._say(backend_choice(self._settings, provider))

    def _pick_fields(self) -> None:
        provider = self.choice.provider
        if provider in NAMED_BRAINS:
            self._say(BackendChoice(provider, self.model.text().strip(), self.url.text().strip()))

    def _say(self, choice: BackendChoice) -> None:
        if choice != self.choice:
            self.choice = choice
            self._show_fields(choice)
            self.brain_picked.emit(choice)

    def _show_fields(self, choice: BackendChoice) -> None:
        named = choice.provider in NAMED_BRAINS
        for widget in (self._model_label, self.model, self._url_label, self.url):
            widget.setVisible(named)
        for field, text in ((self.model, choice.model), (self.url, choice.base_url)):
            if field.text() != text:
                field.setText(text)
                field.setCursorPosition(0)

    def _lay_out(self, many_voices: bool) -> None:
        upper, lower = QHBoxLayout(), QHBoxLayout()
        self._add(upper, self.tr("&Brain"), self.brain)
        self._model_label = self._add(upper, self.tr("M&odel"), self.model, 2)
        self._url_label = self._add(upper, self.tr("Ser&ver"), self.url, 3)
        self._add(upper, self.tr("M&anner"), self.manner)
        upper.addStretch(1)
        if many_voices:
            self._add(lower, self.tr("Vo&ice"), self.frontend)
        else:
            self.frontend.setVisible(False)
        self._add(lower, self.tr("M&icrophone"), self.microphone, 3)
        self._add(lower, self.tr("&Loudspeaker"), self.loudspeaker, 3)
        lower.addStretch(1)
        lower.addWidget(self.stop_button)
        lower.addWidget(self.new_button)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(6)
        rows.addLayout(upper)
        rows.addLayout(lower)

    def _add(self, row: QHBoxLayout, text: str, control: QWidget, stretch: int = 0) -> QLabel:
        label = QLabel(text, self)
        label.setBuddy(control)
        row.addWidget(label)
        row.addWidget(control, stretch)
        return label

    def _picker(self, name: str, help: str) -> QComboBox:
        picker = QComboBox(self)
        picker.setAccessibleName(name)
        picker.setToolTip(help)
        return picker

    def _device_picker(self, name: str) -> QComboBox:
        picker = self._picker(name, self.tr("Changing it begins a new talk."))
        # Long device names must not push the window wider than the screen.
        picker.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        picker.setMinimumContentsLength(12)
        picker.setMaximumWidth(420)
        return picker

    def _field(self, name: str, placeholder: str, width: int) -> QLineEdit:
        field = QLineEdit(self)
        field.setAccessibleName(name)
        field.setPlaceholderText(placeholder)
        field.setMinimumWidth(width)
        field.setMaximumWidth(340)
        return field

    @staticmethod
    def _select(picker: QComboBox, key: str) -> None:
        place = picker.findData(key, Qt.ItemDataRole.UserRole)
        if place >= 0:
            with QSignalBlocker(picker):
                picker.setCurrentIndex(place)
