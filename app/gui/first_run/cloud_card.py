"""The first run's card for brains in the cloud: which one, which model, and the key for it.

Talks to the desk alone. A key that is typed goes from its field to the desk, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.first_run.parts import ChoiceCard
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import MODELLED, backend_choice
from app.gui.widgets.panel import Quiet
from app.gui.widgets.pick_list import PickList
from app.services.api_keys import KeyPlace
from app.services.backend_service import BackendService
from app.session.control import BackendChoice
from app.settings.declarations import Settings

KEEP = "first run: keep the key"
LOOK = "first run: look for the key"


class CloudCard(ChoiceCard):
    """`turned` when the user picks another provider or model; `said` tells what came of a key, in a sentence."""

    turned = Signal()
    said = Signal(str)

    def __init__(
        self,
        settings: Settings,
        lists: ModelLists,
        service: BackendService | None,
        background: BackgroundTasks,
        parent: QWidget,
    ) -> None:
        super().__init__("", "", parent)
        self.entitle(
            self.tr("In the cloud"),
            self.tr("Knows most. What you say goes there as text, and is paid for by your key."),
        )
        self._settings = settings
        self._lists = lists
        self._service = service
        self._errands = background
        self.key_at: KeyPlace | None = None
        """Where the key is, once that is known."""
        self.provider, self.model, self.key = PickList(self), PickList(self), QLineEdit(self)
        for view in lists.views.values():
            if view.wants_key and view.key in MODELLED:
                self.provider.addItem(view.label, view.key)
        self.save_button = QPushButton(self.tr("&Keep it"), self)
        self.key_words = Quiet(parent=self)
        self._parts = self._lay_out()
        self._offer_models("")
        self.provider.activated.connect(self._turn)
        self.model.activated.connect(lambda _: self.turned.emit())
        self.save_button.clicked.connect(lambda: self.keep(lambda: None))
        lists.changed.connect(self._listed)
        self.show_controls(False)

    @property
    def possible(self) -> bool:
        """Whether there is one to choose, and somebody to give its key to."""
        return self._service is not None and self.provider.count() > 0

    @property
    def choice(self) -> BackendChoice:
        """The brain that its fields say."""
        return BackendChoice(self.provider.currentData() or "", self.model.currentText())

    @property
    def typed(self) -> bool:
        """Whether there is something in the key's field."""
        return bool(self.key.text().strip())

    def offers(self, provider: str) -> bool:
        """Whether a provider is among those to choose from."""
        return self.provider.findData(provider) >= 0

    def show_choice(self, choice: BackendChoice) -> None:
        """Shows a brain of one of its providers."""
        moved = self.provider.currentData() != choice.provider
        self.provider.setCurrentIndex(self.provider.findData(choice.provider))
        if moved:
            self._forget()
        self._offer_models(choice.model)

    def show_controls(self, shown: bool) -> None:
        """Shows its fields; asks then where the key is, and which models there are."""
        for widget in self._parts:
            widget.setVisible(shown)
        if shown and self.isVisible() and self.key_at is None and not self._errands.busy(LOOK):
            self.look_for_key()
            self._lists.ask(self.choice)

    def look_for_key(self) -> None:
        """Asks where the key is, and says so."""
        service, choice = self._service, BackendChoice(self.provider.currentData() or "")
        if service is not None:
            self._errands.run(LOOK, lambda: service.key_place(choice), self._show_place, self.key_words.setText)

    @property
    def keeping(self) -> bool:
        """Whether a key is being kept."""
        return self._errands.busy(KEEP)

    def keep(self, then: Callable[[], None]) -> None:
        """Keeps the key that was typed, if there is one, and goes on with `then`."""
        service, key, choice = self._service, self.key.text().strip(), BackendChoice(self.provider.currentData() or "")
        self.key.setText("")
        if service is None or not key:
            return

        def kept(sentence: str) -> None:
            self.key_at = None
            self.said.emit(sentence)
            self.look_for_key()
            self._lists.ask(choice, fresh=True)  # with the key, it may tell its models
            then()

        def refused(sentence: str) -> None:
            self.said.emit(sentence)
            self.key.setFocus()

        self._errands.run(KEEP, lambda: service.keep_key(choice, key), kept, refused)

    # -- inner parts

    def _turn(self) -> None:
        self._forget()
        self._offer_models("")
        self.show_controls(True)
        self.turned.emit()

    def _forget(self) -> None:
        self.key_at = None
        self.key.setText("")
        self.key_words.setText("")
        self._errands.cancel(LOOK)

    def _show_place(self, place: KeyPlace) -> None:
        self.key_at = place
        words = {
            "none": self.tr("There is no key yet. Copy one from your account there, and paste it here."),
            "environment": self.tr("The key comes from the environment."),
            "keyring": self.tr("The key is in the system's keyring."),
            "memory": self.tr("The key is kept in memory until you close the window: there is no keyring here."),
        }
        self.key_words.setText(words[place])

    def _offer_models(self, wanted: str) -> None:
        provider = self.provider.currentData() or ""
        wanted = wanted or backend_choice(self._settings, provider).model
        view = self._lists.views.get(provider)
        offered = self._lists.offered(BackendChoice(provider)) or (view.suggestions if view is not None else ())
        with QSignalBlocker(self.model):
            self.model.clear()
            self.model.addItems([wanted, *offered] if wanted and wanted not in offered else offered)
            self.model.setCurrentIndex(max(0, self.model.findText(wanted)))

    def _listed(self, provider: str, url: str) -> None:
        if provider == self.provider.currentData() and not url and not self.model.view().isVisible():
            self._offer_models(self.model.currentText())

    def _lay_out(self) -> tuple[QWidget, ...]:
        """Puts the fields into the card; they are given back."""
        self.model.setMinimumContentsLength(18)
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setPlaceholderText(self.tr("paste a key"))
        hints = Qt.InputMethodHint
        self.key.setInputMethodHints(hints.ImhHiddenText | hints.ImhSensitiveData | hints.ImhNoPredictiveText)
        self.key.setAccessibleName(self.tr("API key"))
        self.save_button.setAccessibleName(self.tr("Keep the key"))
        self.save_button.setAutoDefault(False)
        self.key_words.setAccessibleName(self.tr("Where the key is"))
        self.provider.setAccessibleName(self.tr("Provider"))
        self.model.setAccessibleName(self.tr("Model in the cloud"))
        labels = [QLabel(text, self) for text in (self.tr("Provider"), self.tr("Model"), self.tr("Key"))]
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.key, 1)
        row.addWidget(self.save_button)
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(3, 1)
        for column, widget in enumerate((labels[0], self.provider, labels[1], self.model)):
            grid.addWidget(widget, 0, column)
        grid.addWidget(labels[2], 1, 0)
        grid.addLayout(row, 1, 1, 1, 3)
        grid.addWidget(self.key_words, 2, 1, 1, 3)
        self.body.addLayout(grid)
        return (*labels, self.provider, self.model, self.key, self.save_button, self.key_words)
