"""The very first start: the welcome shows microphone and model until the user has said something or presses *Done*."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.conversation import events as e
from app.gui.first_run.model_card import ModelOffer
from app.gui.first_run.welcome_cards import WelcomeCards
from app.gui.state.talk_state import Phase
from app.services.machine_service import MachineService, MachineView
from app.services.model_service import ModelView
from app.session.control import BackendChoice

if TYPE_CHECKING:
    from app.gui.window.main_window import MainWindow

LOOK, BEST = "first start: check the machine", "first start: find the best model"


class FirstStart(QObject):
    """Shows the cards when it is constructed; `finish` hides them for good.

    A better model that the user has not decided about by then is offered in the message bar.
    """

    def __init__(self, window: MainWindow, machine: MachineService) -> None:
        super().__init__(window)
        self._window = window
        self._machine = machine
        self._looked = False
        self._better: ModelView | BackendChoice | None = None
        """A better model than the one in use, which the user has not decided about yet."""
        self._declined = False
        self.cards: WelcomeCards | None = WelcomeCards(window.settings, window.lists, self._make_offer)
        window.transcript.welcome.show_cards(self.cards)
        self._order_tabs(self.cards)
        self._connect(self.cards)
        window.setup.tell()
        self._show_state()

    def finish(self, *, decided: bool = False) -> None:
        """Hides the cards for good. `decided`: the user has also decided about a better model."""
        if decided:
            self._decide()
        if self.cards is not None:
            self.cards = None
            self._window.transcript.welcome.drop_cards()
            self._window.keep.remember(first_run_done=True)
            self._offer()

    def show_level(self, event: e.LevelMeasured) -> None:
        """Shows the user's level."""
        if self.cards is not None and self.cards.isVisible():
            self.cards.microphone.show_level(event.user_dbfs, event.at, event.clipped)

    def apply(self, event: e.Event) -> None:
        """Applies an event of the session: the first words that are said or typed end the first start."""
        if isinstance(event, e.TranscriptFinal) and event.text.strip():
            self.finish()

    def set_devices(self, microphones: list[str]) -> None:
        """Offers these microphones."""
        if self.cards is not None:
            self.cards.microphone.set_devices(microphones)

    def _make_offer(self, parent: QWidget) -> ModelOffer | None:
        window = self._window
        if window.models_controller is None:
            return None
        window.models_controller.started.connect(self._decide)
        return ModelOffer(window.models_controller, parent)

    def _connect(self, cards: WelcomeCards) -> None:
        window, dialogs = self._window, self._window.dialogs
        cards.done.connect(lambda: self.finish(decided=self._better is not None))
        cards.microphone.picked.connect(lambda name: window.live.change("microphone", name))
        cards.microphone.details_wanted.connect(window.sound.open_dialog)
        cards.microphone.details.setVisible(window.menu.sound_action.isVisible())
        cards.model.details.setVisible(dialogs.has_models)
        cards.model.details_wanted.connect(window.menu.models)
        cards.model.set_up_wanted.connect(dialogs.open_models)
        cards.model.choose_wanted.connect(lambda: window.setup.open_at(window.top_bar.pill))
        cards.model.picked.connect(window.live.pick_backend)
        window.setup.shown.connect(self._show_model)
        window.state.changed.connect(self._show_state)
        window.manager.phase_changed.connect(self._look)

    def _order_tabs(self, cards: WelcomeCards) -> None:
        """Puts the cards before the questions in the Tab order."""
        before: QWidget = self._window.conversations.rows
        for control in cards.controls:
            QWidget.setTabOrder(before, control)
            before = control

    def _show_model(self, provider: str, name: str, by: str) -> None:
        choice = self._window.setup.choice
        if self.cards is not None:
            self.cards.model.show_model(choice, name)
        if choice.provider != "embedded":
            self._decide()

    def _show_state(self) -> None:
        if self.cards is not None:
            self.cards.microphone.show_state(self._window.state.talk)

    def _look(self, phase: Phase) -> None:
        """Checks the machine once the session has loaded: both need the processor."""
        if self.cards is None or self._looked or phase == "loading":
            return
        self._looked = True
        self._window.background.run(
            self, LOOK, lambda: self._machine.look(lambda words, share: None), self._found, lambda sentence: None
        )

    def _found(self, view: MachineView) -> None:
        window = self._window
        if self.cards is not None:
            self.cards.model.show_machine(view, window.settings.frontend)
        if view.backend.provider != "embedded":
            self._have_better(view.backend)
        elif (models := window.models_controller) is not None and not models.busy:
            best, language = models.service.best, window.settings.language  # may time the smallest one first
            window.background.run(
                self, BEST, lambda: asyncio.to_thread(best, language), self._have_better, lambda sentence: None
            )

    # -- the offer of a better model

    def _have_better(self, better: ModelView | BackendChoice | None) -> None:
        if better is None or self._declined:
            return
        self._better = better
        if self.cards is None:
            self._offer()
        elif isinstance(better, ModelView) and self.cards.model.offer is not None:
            self.cards.model.offer.show_best(better)

    def _decide(self) -> None:
        """Ends the offer: the user has taken a better model, or wants none."""
        self._better, self._declined = None, True
        self._window.offers.withdraw_better()

    def _offer(self) -> None:
        """Offers the better model in the message bar, if the user has not decided about it."""
        if isinstance(self._better, ModelView):
            self._window.offers.better_model(self._better)
        elif self._better is not None:
            self._window.offers.better_backend(self._better)
