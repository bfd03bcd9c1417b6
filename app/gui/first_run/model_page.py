"""The first run's page “The model”: the built-in one, Ollama's, or one in the cloud with its key; and a test."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.first_run.cards.choice_card import ChoiceCard
from app.gui.first_run.cards.cloud_card import CloudCard
from app.gui.first_run.cards.ollama_card import OllamaCard
from app.gui.first_run.model_offer import ModelOffer, find_best
from app.gui.first_run.page import ChoicePage
from app.gui.models.models_controller import ModelsController
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.form import push_button, row
from app.gui.widgets.panel import Quiet
from app.services.backend_service import BackendService
from app.services.machine_service import MachineView
from app.services.model_service import ModelView
from app.session.control import BackendChoice
from app.settings.declarations import Settings

TEST = "first run: test the model"


class ModelPage(ChoicePage):
    """The wizard reads `choice` when the user goes on."""

    def __init__(
        self,
        settings: Settings,
        lists: ModelLists,
        service: BackendService | None,
        models: ModelsController | None,
        background: BackgroundTasks,
        parent: QWidget,
    ) -> None:
        super().__init__(
            self.tr("The model"),
            self.tr("The language model that works out the answers. You can change it at any time."),
            parent,
        )
        self._settings = settings
        self._lists = lists
        self._service = service
        self._background = background
        self._models = models
        self._best_known = False
        self._kept = BackendChoice()
        self.embedded = ChoiceCard(
            self.tr("Built in"),
            self.tr("A model on this machine: nothing leaves it. The small one included is quick, and knows little."),
            self,
        )
        self.offer = ModelOffer(models, self.embedded) if models is not None else None
        if self.offer is not None:
            self.embedded.body.addWidget(self.offer)
        self.ollama = OllamaCard(settings, service, background, self)
        self.cloud = CloudCard(settings, lists, service, background, self)
        self.other = ChoiceCard("", self.tr("The model that you use now."), self)
        self._cards: tuple[ChoiceCard, ...] = (self.embedded, self.ollama, self.cloud, self.other)
        for card in self._cards:
            self.add_card(card)
            card.button.toggled.connect(lambda _: self._shape())
        self.cloud.setVisible(self.cloud.possible)
        self._make_test()
        self._connect()
        self.begin(BackendChoice())

    @property
    def choice(self) -> BackendChoice:
        """The back-end that is chosen."""
        if self.ollama.button.isChecked():
            return self.ollama.choice
        if self.cloud.button.isChecked():
            return self.cloud.choice
        return self._kept if self.other.button.isChecked() else BackendChoice()

    @property
    def name(self) -> str:
        """Its name for people."""
        choice = self.choice
        label = self.tr("Built in") if choice.provider == "embedded" else self._lists.label(choice.provider)
        return self.tr("{0}, {1}").format(label, choice.model) if choice.model else label

    def begin(self, choice: BackendChoice, *, keep: bool = False) -> None:
        """Chooses the back-end in force, to be kept if `keep`; forgets what the user did here before."""
        self.touched, self.keeps = False, keep
        self._say("")
        for card in self._cards:
            card.recommend(False)
        self.ollama.show_unchecked()
        self.choose(choice)

    def choose(self, choice: BackendChoice) -> None:
        """Chooses a back-end; one that has no card of its own gets one."""
        card: ChoiceCard
        if choice.provider == "embedded":
            card = self.embedded
        elif choice.provider == "ollama":
            card = self.ollama
            self.ollama.show_choice(choice)
        elif self.cloud.offers(choice.provider):
            card = self.cloud
            self.cloud.show_choice(choice)
        else:
            card, self._kept = self.other, choice
            card.button.setText(self._lists.label(choice.provider))
            card.button.setAccessibleName(card.button.text())
        self.other.setVisible(card is self.other)
        card.button.setChecked(True)
        self._shape()

    def show_no_machine(self) -> None:
        self.ollama.show_failed()

    def show_machine(self, view: MachineView) -> None:
        """Shows what there is; chooses what fits best, unless the user has chosen or the present choice is kept."""
        before = self.choice
        self.ollama.show_models(view.ollama_models)
        for card, provider in ((self.embedded, "embedded"), (self.ollama, "ollama")):
            card.recommend(view.backend.provider == provider)
        best = before if self.touched or self.keeps else view.backend
        if best.provider == "ollama" and not (self.ollama.button.isEnabled() or self.keeps):
            best = BackendChoice()
        self.choose(best)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Lets Enter in a text field act there, instead of going on to the next page."""
        enter = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if isinstance(watched, QLineEdit) and isinstance(event, QKeyEvent) and event.key() in enter:
            if event.type() == QEvent.Type.KeyPress:
                watched.returnPressed.emit()
            return event.type() != QEvent.Type.ShortcutOverride
        return super().eventFilter(watched, event)

    # -- a page

    def arrive(self) -> QWidget | None:
        self.cloud.key_box.place = None  # one may have been saved elsewhere
        if self.offer is not None and self._models is not None and not self._best_known:
            find_best(self, self._background, self._models, self._settings.language, self._show_best)
        self._shape()
        return next((card.button for card in self._cards if card.button.isChecked() and card.button.isEnabled()), None)

    def may_leave(self) -> bool:
        """Saves a typed key first; refuses to go on where a key is needed and missing."""
        if not self.cloud.button.isChecked() or self._service is None:
            return True
        if self.cloud.key_box.typed:
            self.cloud.key_box.save(self.ready.emit)
            return False
        if self.cloud.key_box.saving:
            return False  # `ready` follows once the key is saved
        if self.cloud.key_box.place == "none":
            self._say(self.tr("Paste a key first, or choose another model."))
            self.cloud.key.setFocus()
            return False
        return True

    def depart(self) -> None:
        """Drops a typed key and the test."""
        self.cloud.key.setText("")
        self._cancel_test()

    def touch(self) -> None:
        """Also drops the test, which was of another model."""
        super().touch()
        self._cancel_test()

    # -- the test

    def _test(self) -> None:
        service = self._service
        if service is None:
            return
        if self.cloud.button.isChecked() and self.cloud.key_box.typed:
            self.cloud.key_box.save(self._test)
            return
        choice = self.choice
        focused = self.test_button.hasFocus()
        self.test_button.setEnabled(False)
        self._say(self.tr("Testing {0} …").format(self.name))

        def tested(sentence: str) -> None:
            self.test_button.setEnabled(True)
            if focused and self.isVisible():
                self.test_button.setFocus()
            self._say(sentence)

        self._background.run(self, TEST, lambda: service.test(choice), tested, tested)

    def _show_best(self, view: ModelView | None) -> None:
        if self.offer is not None:
            self._best_known = view is not None
            self.offer.show_best(view)

    def _cancel_test(self) -> None:
        self._background.cancel(TEST)
        self.test_button.setEnabled(True)
        self._say("")

    def _say(self, sentence: str) -> None:
        self.answer.setText(sentence)

    # -- inner parts

    def _shape(self) -> None:
        """Shows the controls of the chosen card alone."""
        self.cloud.show_controls(self.cloud.button.isChecked())
        self.ollama.show_controls(self.ollama.button.isChecked())

    def _fetched(self, fetched: BackendChoice) -> None:
        self.touched = True
        self._lists.ask(fetched, fresh=True)

    def _make_test(self) -> None:
        self.test_button = push_button(self.tr("T&est it"), self.tr("Test the model"), self)
        self.test_button.setVisible(self._service is not None)
        self.answer = Quiet(parent=self, selectable=True)
        self.answer.setAccessibleName(self.tr("Result of the test"))
        self.column.addLayout(row(self.test_button, self.answer, spacing=10, stretch=1))
        self.column.addStretch(1)

    def _connect(self) -> None:
        self.test_button.clicked.connect(self._test)
        for field in (self.cloud.key, *([self.ollama.pull.name] if self.ollama.pull is not None else [])):
            field.installEventFilter(self)
        self.ollama.turned.connect(self.touch)
        self.ollama.fetched.connect(self._fetched)
        self.cloud.turned.connect(self.touch)
        self.cloud.key_box.said.connect(self._say)
        self.cloud.key.returnPressed.connect(lambda: self._test() if self.cloud.key_box.typed else None)
