"""The very first start: the welcome shows microphone and model until the user has said something or presses *Done*."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.conversation import events as e
from app.conversation.record.record import Change
from app.gui.controllers.backend_controller import BackendController
from app.gui.controllers.context import WindowContext
from app.gui.controllers.dialogs import Dialogs
from app.gui.controllers.model_offers import ModelOffers
from app.gui.controllers.sound_controller import SoundController
from app.gui.first_run.model_card import ModelOffer
from app.gui.first_run.welcome_cards import WelcomeCards
from app.gui.models.current_model import CurrentModel
from app.gui.models.downloads import ModelsController
from app.gui.models.model_lists import ModelLists
from app.gui.shell.model_popover import ModelPopover
from app.gui.transcript.welcome import Welcome
from app.services.machine_service import MachineService, MachineView
from app.services.model_service import SMALLEST, ModelView


class FirstStart(QObject):
    """Shows the cards when it is constructed; `finish` hides them for good.

    A better model that the user has not decided about by then is offered in the message bar.
    """

    def __init__(
        self,
        context: WindowContext,
        machine: MachineService,
        welcome: Welcome,
        lists: ModelLists,
        dialogs: Dialogs,
        popover: ModelPopover,
        current: CurrentModel,
        backends: BackendController,
        sound: SoundController,
        offers: ModelOffers,
        models: ModelsController | None,
    ) -> None:
        super().__init__(context.window)
        self._context = context
        self._welcome = welcome
        self._current = current
        self._offers = offers
        self._models = models
        self.cards: WelcomeCards | None = WelcomeCards(context.settings, lists, self._make_offer)
        welcome.show_cards(self.cards)
        self._connect(self.cards, dialogs, popover, backends, sound)
        current.changed.connect(self._show_model)
        sound.listed.connect(self._set_devices)
        offers.looked.connect(self._show_machine)
        offers.found.connect(self._show_better)
        context.model.follow(self._take)
        context.model.changed.connect(self._show_state)
        offers.look(machine)
        self._show_model()
        self._show_state()

    def finish(self, *, decided: bool = False) -> None:
        """Hides the cards for good. `decided`: the user has also decided about a better model."""
        if decided:
            self._offers.decide()
        if self.cards is not None:
            self.cards = None
            self._welcome.drop_cards()
            self._context.keep.remember(first_run_done=True)
            self._offers.offer_better()

    def _take(self, change: Change) -> None:
        match change.event:
            case e.LevelMeasured(at=at, user_dbfs=level, clipped=clipped):
                if self.cards is not None and self.cards.isVisible():
                    self.cards.microphone.show_level(level, at, clipped)
            case e.TranscriptFinal(text=text) if text.strip():
                self.finish()  # the first words that are said or typed

    def _make_offer(self, parent: QWidget) -> ModelOffer | None:
        return None if self._models is None else ModelOffer(self._models, parent)

    def _connect(
        self,
        cards: WelcomeCards,
        dialogs: Dialogs,
        popover: ModelPopover,
        backends: BackendController,
        sound: SoundController,
    ) -> None:
        context = self._context
        open_models: Callable[[], None] = context.commands["models"].trigger
        cards.done.connect(lambda: self.finish(decided=self._offers.better is not None))
        cards.microphone.picked.connect(lambda name: context.keep.change("microphone", name))
        cards.microphone.details_wanted.connect(sound.open_dialog)
        cards.microphone.details.setVisible(context.services.sound_service is not None)
        cards.model.details.setVisible(dialogs.has_models)
        cards.model.details_wanted.connect(open_models)
        cards.model.set_up_wanted.connect(dialogs.open_models)
        cards.model.choose_wanted.connect(popover.open_from_pill)
        cards.model.picked.connect(backends.choose)

    def _set_devices(self, microphones: list[str], _: list[str]) -> None:
        if self.cards is not None:
            self.cards.microphone.set_devices(microphones)

    def _show_model(self) -> None:
        choice = self._current.choice
        if self.cards is not None:
            answers = self._current.answers
            tiny = choice.provider == "embedded" and answers.id[1] == SMALLEST
            self.cards.model.show_model(choice, answers.name, tiny=tiny)
        if choice.provider != "embedded":
            self._offers.decide()

    def _show_state(self) -> None:
        if self.cards is not None:
            self.cards.microphone.show_state(self._context.model.talk)

    def _show_machine(self, view: MachineView) -> None:
        if self.cards is not None:
            self.cards.model.show_machine(view, self._context.settings.frontend)

    def _show_better(self) -> None:
        better = self._offers.better
        if self.cards is not None and self.cards.model.offer is not None and isinstance(better, ModelView):
            self.cards.model.offer.show_best(better)
