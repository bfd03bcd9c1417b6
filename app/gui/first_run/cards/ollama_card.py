"""The first run's card for Ollama: which of its models, or downloading the first one."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QWidget

from app.gui.backends.pull_box import PullBox
from app.gui.design.plain import PlainLabel
from app.gui.first_run.cards.choice_card import ChoiceCard
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.form import row
from app.gui.widgets.pick_list import PickList
from app.services.backend_service import BackendService
from app.session.control import BackendChoice
from app.settings.declarations import Settings


class OllamaCard(ChoiceCard):
    """`turned` when the user picks another model; `fetched` emits a `BackendChoice` that was downloaded."""

    turned = Signal()
    fetched = Signal(object)

    def __init__(
        self, settings: Settings, service: BackendService | None, background: BackgroundTasks, parent: QWidget
    ) -> None:
        super().__init__(self.tr("Ollama"), self.tr("A larger model on this machine, run by Ollama."), parent)
        self._settings = settings
        self.model = PickList(self)
        self.model.setAccessibleName(self.tr("Ollama's model"))
        self.model.setMinimumContentsLength(18)
        self._label = PlainLabel(self.tr("Model"), self)
        self.body.addLayout(row(self._label, self.model, None))
        self.model.activated.connect(lambda _: self.turned.emit())
        self.pull: PullBox | None = None
        if service is not None:
            self.pull = PullBox(service, background, self)
            self.body.addWidget(self.pull)
            self.pull.fetched.connect(self._fetched)

    @property
    def choice(self) -> BackendChoice:
        return BackendChoice("ollama", self.model.currentText(), self._settings.ollama_url)

    def show_choice(self, choice: BackendChoice) -> None:
        """Picks a model, also one that Ollama has not listed."""
        if choice.model and self.model.findText(choice.model) < 0:
            self.model.addItem(choice.model)
        self.model.setCurrentText(choice.model)

    def show_controls(self, shown: bool) -> None:
        """Shows the list of models while the card is chosen."""
        self._label.setVisible(shown)
        self.model.setVisible(shown)

    def show_unchecked(self) -> None:
        """The machine is still being checked."""
        self._offer((), self.tr("Still checking this machine …"))
        self._offer_download(False)

    def show_failed(self) -> None:
        """The machine could not be checked."""
        self.explain(self.tr("This machine could not be checked. Go back and check again."), False)

    def show_models(self, models: tuple[str, ...] | None) -> None:
        """Offers the models that Ollama has; None: it does not run."""
        if models is None:
            self._offer((), self.tr("Ollama does not run here. Start it, then go back and check again."))
        else:
            self._offer(models, "" if models else self.tr("Ollama runs, but has no model yet. Download one here:"))
        self._offer_download(models == ())

    def _offer_download(self, offered: bool) -> None:
        if self.pull is not None:
            self.pull.turn_to(BackendChoice("ollama", "", self._settings.ollama_url), offered)

    def _offer(self, models: tuple[str, ...], reason: str) -> None:
        before = self.model.currentText()
        with QSignalBlocker(self.model):
            self.model.clear()
            self.model.addItems(models)
            if self.model.findText(before) >= 0:
                self.model.setCurrentText(before)
        self.explain(reason, bool(models))

    def _fetched(self, fetched: BackendChoice) -> None:
        self.show_choice(fetched)
        self.explain("")
        self.button.setChecked(True)
        self.fetched.emit(fetched)
