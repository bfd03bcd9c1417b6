"""The first run's card for models in the cloud: the provider, its model, and the key for it."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QWidget

from app.gui.backends.key_box import KeyBox
from app.gui.backends.model_lists import ModelLists
from app.gui.design.plain import PlainLabel
from app.gui.first_run.cards.choice_card import ChoiceCard
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import MODELLED, backend_choice
from app.gui.widgets.form import grid, row
from app.gui.widgets.pick_list import PickList
from app.services.backend_service import BackendService
from app.session.control import BackendChoice
from app.settings.declarations import Settings


class CloudCard(ChoiceCard):
    """`turned` when the user picks another provider or model."""

    turned = Signal()

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
        self.provider, self.model = PickList(self), PickList(self)
        self.key_box = KeyBox(service, background, lambda: BackendChoice(self.choice.provider), set(), self)
        self.key, self.key_words = self.key_box.field, self.key_box.words
        for view in lists.views.values():
            if view.wants_key and view.key in MODELLED:
                self.provider.addItem(view.label, view.key)
        self._parts = self._lay_out()
        self._offer_models("")
        self._turn_key()
        self.provider.activated.connect(self._turn)
        self.model.activated.connect(lambda _: self.turned.emit())
        self.key_box.changed.connect(lambda: lists.ask(self.choice, fresh=True))
        lists.changed.connect(self._listed)
        self.show_controls(False)

    @property
    def possible(self) -> bool:
        """Whether there is a provider to choose, and a service that saves its key."""
        return self._service is not None and self.provider.count() > 0

    @property
    def choice(self) -> BackendChoice:
        return BackendChoice(self.provider.currentData() or "", self.model.currentText())

    def offers(self, provider: str) -> bool:
        return self.provider.findData(provider) >= 0

    def show_choice(self, choice: BackendChoice) -> None:
        """Shows a choice of one of these providers."""
        moved = self.provider.currentData() != choice.provider
        self.provider.setCurrentIndex(self.provider.findData(choice.provider))
        if moved:
            self._turn_key()
        self._offer_models(choice.model)

    def show_controls(self, shown: bool) -> None:
        """Shows or hides the fields; once shown, finds out where the key is and which models there are."""
        for widget in self._parts:
            widget.setVisible(shown)
        if shown and self.isVisible() and self.key_box.place is None and not self.key_box.finding:
            self.key_box.find()
            self._lists.ask(self.choice)

    # -- inner parts

    def _turn(self) -> None:
        self._turn_key()
        self._offer_models("")
        self.show_controls(True)
        self.turned.emit()

    def _turn_key(self) -> None:
        """Switches the key's field to the chosen provider."""
        provider = self.provider.currentData() or ""
        self.key_box.turn_to(self._lists.views.get(provider))

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
        self.provider.setAccessibleName(self.tr("Provider"))
        self.model.setAccessibleName(self.tr("Model in the cloud"))
        labels = [PlainLabel(text, self) for text in (self.tr("Provider"), self.tr("Model"), self.tr("Key"))]
        box = self.key_box
        box.forget_button.hide()
        fields = grid(10, 6, stretch=3)
        for column, widget in enumerate((labels[0], self.provider, labels[1], self.model)):
            fields.addWidget(widget, 0, column)
        fields.addWidget(labels[2], 1, 0)
        fields.addLayout(row(self.key, box.save_button, spacing=8), 1, 1, 1, 3)
        fields.addWidget(self.key_words, 2, 1, 1, 3)
        self.body.addLayout(fields)
        return (*labels, self.provider, self.model, box.field, box.save_button, box.words)
