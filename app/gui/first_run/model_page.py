"""The first run's page for the brain: the one built in, Ollama's, or one in the cloud with its key; and trying it.

Talks to the desk alone, and needs no talk.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.backends.pull_box import PullBox
from app.gui.first_run.cloud_card import CloudCard
from app.gui.first_run.model_offer import ModelOffer
from app.gui.first_run.parts import ChoiceCard, Page
from app.gui.models.models_controller import ModelsController
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.panel import Quiet
from app.gui.widgets.pick_list import PickList
from app.services.backend_service import BackendService
from app.services.machine_service import MachineView
from app.session.control import BackendChoice
from app.settings.declarations import Settings

TEST = "first run: try the brain"


class ModelPage(Page):
    """Says nothing by itself: whoever goes on from it asks for `choice`."""

    def __init__(
        self,
        settings: Settings,
        lists: ModelLists,
        service: BackendService | None,
        background: BackgroundTasks,
        parent: QWidget,
        *,
        models: ModelsController | None = None,
    ) -> None:
        self.title = self.tr("The brain")
        self.words = self.tr("The language model that thinks. You can swap it at any time, even while it answers.")
        super().__init__(parent)
        self._settings = settings
        self._lists = lists
        self._service = service
        self._errands = background
        self.touched = self._keeps = False
        self._kept = BackendChoice()
        self.embedded = ChoiceCard(
            self.tr("Built in"),
            self.tr(
                "A model on this machine, which keeps all to itself. The small one that is here answers quickly, "
                "and knows little."
            ),
            self,
        )
        self.offer = ModelOffer(models, settings, background, self.embedded) if models is not None else None
        if self.offer is not None:
            self.embedded.body.addWidget(self.offer)
        self.ollama = ChoiceCard(self.tr("Ollama"), self.tr("A larger model on this machine, by Ollama."), self)
        self.cloud = CloudCard(settings, lists, service, background, self)
        self.other = ChoiceCard("", self.tr("The brain that you have now."), self)
        self._group = QButtonGroup(self)
        for card in self._cards:
            self._group.addButton(card.button)
            self.column.addWidget(card)
            card.button.clicked.connect(self._touch)
            card.button.clicked.connect(partial(self._choose_card, card))
            card.button.toggled.connect(lambda _: self._shape())
        self._make_ollama()
        self.cloud.setVisible(self.cloud.possible)
        self.test_button = QPushButton(self.tr("T&est it"), self)
        self.test_button.setAccessibleName(self.tr("Test the brain"))
        self.answer = Quiet(parent=self, selectable=True)
        self.answer.setAccessibleName(self.tr("What the test found"))
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self.test_button)
        row.addWidget(self.answer, 1)
        self.column.addLayout(row)
        self.column.addStretch(1)
        self.test_button.setAutoDefault(False)
        self.test_button.setVisible(service is not None)
        self.test_button.clicked.connect(self._test)
        for field in (self.cloud.key, *([self.pull.name] if self.pull is not None else [])):
            field.installEventFilter(self)
        self.cloud.turned.connect(self._touch)
        self.cloud.said.connect(self._say)
        self.cloud.key.returnPressed.connect(lambda: self._test() if self.cloud.typed else None)
        self.begin(BackendChoice())

    @property
    def choice(self) -> BackendChoice:
        """The brain that is chosen."""
        if self.ollama.button.isChecked():
            return BackendChoice("ollama", self.ollama_model.currentText(), self._settings.ollama_url)
        if self.cloud.button.isChecked():
            return self.cloud.choice
        return self._kept if self.other.button.isChecked() else BackendChoice()

    @property
    def name(self) -> str:
        """The same for people."""
        choice = self.choice
        label = self.tr("Built in") if choice.provider == "embedded" else self._lists.label(choice.provider)
        return self.tr("{0}, {1}").format(label, choice.model) if choice.model else label

    def begin(self, choice: BackendChoice, *, keep: bool = False) -> None:
        """Has the brain in force chosen, to be kept if `keep`; forgets what the user did here before."""
        self.touched, self._keeps = False, keep
        self._say("")
        for card in self._cards:
            card.recommend(False)
        self._offer_ollama(None, looked=False)
        self.choose(choice)

    def choose(self, choice: BackendChoice) -> None:
        """Chooses a brain; one that has no card of its own gets one."""
        known = choice.provider in ("embedded", "ollama") or self.cloud.offers(choice.provider)
        self.other.setVisible(not known)
        if choice.provider == "embedded":
            card = self.embedded
        elif choice.provider == "ollama":
            card = self.ollama
            if choice.model and self.ollama_model.findText(choice.model) < 0:
                self.ollama_model.addItem(choice.model)
            self.ollama_model.setCurrentText(choice.model)
        elif known:
            card = self.cloud
            self.cloud.show_choice(choice)
        else:
            card, self._kept = self.other, choice
            card.button.setText(self._lists.label(choice.provider))
            card.button.setAccessibleName(card.button.text())
        card.button.setChecked(True)
        self._shape()

    def show_no_machine(self) -> None:
        """The machine could not be looked at."""
        self.ollama.explain(self.tr("This machine could not be looked at. Go back and look again."), False)

    def show_machine(self, view: MachineView) -> None:
        """Shows what there is; chooses what fits best, unless something else was chosen or is to be kept."""
        before = self.choice
        self._offer_ollama(view.ollama_models, looked=True)
        for card, provider in ((self.embedded, "embedded"), (self.ollama, "ollama")):
            card.recommend(view.backend.provider == provider)
        wanted = before if self.touched or self._keeps else view.backend
        if wanted.provider == "ollama" and not (self.ollama.button.isEnabled() or self._keeps):
            wanted = BackendChoice()
        self.choose(wanted)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter in a text field is that field's own, and does not go on to the next page."""
        enter = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if isinstance(watched, QLineEdit) and isinstance(event, QKeyEvent) and event.key() in enter:
            if event.type() == QEvent.Type.KeyPress:
                watched.returnPressed.emit()
            return event.type() != QEvent.Type.ShortcutOverride
        return super().eventFilter(watched, event)

    # -- a page

    def arrive(self) -> QWidget | None:
        """See `Page.arrive`."""
        self.cloud.key_at = None  # one may have been given elsewhere
        if self.offer is not None:
            self.offer.look()
        self._shape()
        return next((card.button for card in self._cards if card.button.isChecked() and card.button.isEnabled()), None)

    def may_leave(self) -> bool:
        """A key that was typed is kept first; without one, a brain that wants one is of no use."""
        if not self.cloud.button.isChecked() or self._service is None:
            return True
        if self.cloud.typed:
            self.cloud.keep(self.ready.emit)
            return False
        if self.cloud.keeping:
            return False  # it is gone on from here once that is done
        if self.cloud.key_at == "none":
            self._say(self.tr("Paste a key first, or choose another brain."))
            self.cloud.key.setFocus()
            return False
        return True

    def depart(self) -> None:
        """Nothing of a key stays behind."""
        self.cloud.key.setText("")
        self._errands.cancel(TEST)
        self.test_button.setEnabled(True)
        self._say("")

    # -- the test

    def _test(self) -> None:
        service = self._service
        if service is None:
            return
        if self.cloud.button.isChecked() and self.cloud.typed:
            self.cloud.keep(self._test)
            return
        choice = self.choice
        focused = self.test_button.hasFocus()
        self.test_button.setEnabled(False)
        self._say(self.tr("Asking {0} for a word …").format(self.name))
        self._errands.run(
            TEST,
            lambda: service.test(choice),
            lambda words: self._tested(words, focused),
            lambda words: self._tested(words, focused),
        )

    def _tested(self, sentence: str, focus: bool) -> None:
        self.test_button.setEnabled(True)
        if focus and self.isVisible():
            self.test_button.setFocus()
        self._say(sentence)

    def _say(self, sentence: str) -> None:
        self.answer.setText(sentence)

    # -- inner parts

    @property
    def _cards(self) -> tuple[ChoiceCard, ...]:
        return self.embedded, self.ollama, self.cloud, self.other

    def _touch(self) -> None:
        """The user has chosen: what was said was about another one."""
        self.touched = True
        self._errands.cancel(TEST)
        self.test_button.setEnabled(True)
        self._say("")

    def _choose_card(self, card: ChoiceCard) -> None:
        self.chosen.emit(card)

    def _shape(self) -> None:
        """Only the chosen card shows its controls."""
        self.cloud.show_controls(self.cloud.button.isChecked())
        for widget in (self.ollama_label, self.ollama_model):
            widget.setVisible(self.ollama.button.isChecked())

    def _offer_ollama(self, models: tuple[str, ...] | None, *, looked: bool) -> None:
        before = self.ollama_model.currentText()
        with QSignalBlocker(self.ollama_model):
            self.ollama_model.clear()
            self.ollama_model.addItems(models or ())
            if before and self.ollama_model.findText(before) >= 0:
                self.ollama_model.setCurrentText(before)
        if not looked:
            words = self.tr("Still looking at this machine …")
        elif models is None:
            words = self.tr("Ollama does not run here. Start it, then go back and look again.")
        else:
            words = "" if models else self.tr("Ollama runs, and has no model yet. Fetch one here:")
        self.ollama.explain(words, bool(models))
        if self.pull is not None:
            self.pull.turn_to(BackendChoice("ollama", "", self._settings.ollama_url), models == ())

    def _fetched(self, fetched: BackendChoice) -> None:
        self.touched = True
        if self.ollama_model.findText(fetched.model) < 0:
            self.ollama_model.addItem(fetched.model)
        self.ollama_model.setCurrentText(fetched.model)
        self.ollama.explain("")
        self.ollama.button.setChecked(True)
        self._lists.ask(fetched, fresh=True)

    def _make_ollama(self) -> None:
        self.ollama_model = PickList(self.ollama)
        self.ollama_model.setAccessibleName(self.tr("Ollama's model"))
        self.ollama_model.setMinimumContentsLength(18)
        self.ollama_label = QLabel(self.tr("Model"), self.ollama)
        row = QHBoxLayout()
        row.addWidget(self.ollama_label)
        row.addWidget(self.ollama_model)
        row.addStretch(1)
        self.ollama.body.addLayout(row)
        self.ollama_model.activated.connect(self._touch)
        self.pull: PullBox | None = None
        if self._service is not None:
            self.pull = PullBox(self._service, self._errands, self.ollama)
            self.ollama.body.addWidget(self.pull)
            self.pull.fetched.connect(self._fetched)
