"""The first run's card for models in the cloud: the provider, its model, and the key for it.

A typed key goes from its field to the service, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QLabel, QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.first_run.cards import ChoiceCard
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import MODELLED, backend_choice
from app.gui.widgets.form import grid, key_field, push_button, row
from app.gui.widgets.panel import Quiet
from app.gui.widgets.pick_list import PickList
from app.services.protocols import BackendService, KeyPlace
from app.session.control import BackendChoice
from app.settings.declarations import Settings

SAVE = "first run: save the key"
FIND = "first run: find the key"


class CloudCard(ChoiceCard):
    """`turned` when the user picks another provider or model; `said` emits a sentence about what became of a key."""

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
        super().__init__(
            self.tr("In the cloud"),
            self.tr("Knows most. What you say is sent there as text, and paid for with your key."),
            parent,
        )
        self._settings = settings
        self._lists = lists
        self._service = service
        self._background = background
        self.key_place: KeyPlace | None = None
        """Where the key is, once that is known."""
        self.provider, self.model = PickList(self), PickList(self)
        self.key = key_field(self.tr("API key"), self.tr("paste a key"), self)
        for view in lists.views.values():
            if view.wants_key and view.key in MODELLED:
                self.provider.addItem(view.label, view.key)
        self.save_button = push_button(self.tr("Save &key"), self.tr("Save the key"), self)
        self.key_words = Quiet(parent=self)
        self._parts = self._lay_out()
        self._offer_models("")
        self.provider.activated.connect(self._turn)
        self.model.activated.connect(lambda _: self.turned.emit())
        self.save_button.clicked.connect(lambda: self.save_key(lambda: None))
        lists.changed.connect(self._listed)
        self.show_controls(False)

    @property
    def possible(self) -> bool:
        """Whether there is a provider to choose, and a service that saves its key."""
        return self._service is not None and self.provider.count() > 0

    @property
    def choice(self) -> BackendChoice:
        """What the fields say."""
        return BackendChoice(self.provider.currentData() or "", self.model.currentText())

    @property
    def typed(self) -> bool:
        """Whether a key is being typed."""
        return bool(self.key.text().strip())

    def offers(self, provider: str) -> bool:
        """Whether a provider can be chosen here."""
        return self.provider.findData(provider) >= 0

    def show_choice(self, choice: BackendChoice) -> None:
        """Shows a choice of one of these providers."""
        moved = self.provider.currentData() != choice.provider
        self.provider.setCurrentIndex(self.provider.findData(choice.provider))
        if moved:
            self._forget()
        self._offer_models(choice.model)

    def show_controls(self, shown: bool) -> None:
        """Shows or hides the fields; once shown, finds out where the key is and which models there are."""
        for widget in self._parts:
            widget.setVisible(shown)
        if shown and self.isVisible() and self.key_place is None and not self._background.busy(FIND):
            self.find_key()
            self._lists.ask(self.choice)

    def find_key(self) -> None:
        """Finds out where the key is, and says so."""
        service, choice = self._service, BackendChoice(self.provider.currentData() or "")
        if service is not None:
            self._background.run(FIND, lambda: service.key_place(choice), self._show_place, self.key_words.setText)

    @property
    def saving(self) -> bool:
        """Whether a key is being saved."""
        return self._background.busy(SAVE)

    def save_key(self, then: Callable[[], None]) -> None:
        """Saves the typed key, if there is one, then calls `then`."""
        service, key, choice = self._service, self.key.text().strip(), BackendChoice(self.provider.currentData() or "")
        self.key.setText("")
        if service is None or not key:
            return

        def kept(sentence: str) -> None:
            self.key_place = None
            self.said.emit(sentence)
            self.find_key()
            self._lists.ask(choice, fresh=True)  # some providers list their models only with a key
            then()

        def refused(sentence: str) -> None:
            self.said.emit(sentence)
            self.key.setFocus()

        self._background.run(SAVE, lambda: service.keep_key(choice, key), kept, refused)

    # -- inner parts

    def _turn(self) -> None:
        self._forget()
        self._offer_models("")
        self.show_controls(True)
        self.turned.emit()

    def _forget(self) -> None:
        self.key_place = None
        self.key.setText("")
        self.key_words.setText("")
        self._background.cancel(FIND)

    def _show_place(self, place: KeyPlace) -> None:
        self.key_place = place
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
        """Adds the fields to the card, and returns them with their labels."""
        self.model.setMinimumContentsLength(18)
        self.key_words.setAccessibleName(self.tr("Where the key is"))
        self.provider.setAccessibleName(self.tr("Provider"))
        self.model.setAccessibleName(self.tr("Model in the cloud"))
        labels = [QLabel(text, self) for text in (self.tr("Provider"), self.tr("Model"), self.tr("Key"))]
        fields = grid(10, 6, stretch=3)
        for column, widget in enumerate((labels[0], self.provider, labels[1], self.model)):
            fields.addWidget(widget, 0, column)
        fields.addWidget(labels[2], 1, 0)
        fields.addLayout(row(self.key, self.save_button, spacing=8), 1, 1, 1, 3)
        fields.addWidget(self.key_words, 2, 1, 1, 3)
        self.body.addLayout(fields)
        return (*labels, self.provider, self.model, self.key, self.save_button, self.key_words)
