"""The very first start: the welcome shows microphone and model until the user has said something or presses *Done*."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.conversation import events as e
from app.gui.first_run.model_card import BEST, ModelOffer
from app.gui.first_run.welcome_cards import WelcomeCards
from app.gui.state.talk_state import Phase
from app.services.machine_service import MachineService, MachineView

if TYPE_CHECKING:
    from app.gui.window.main_window import MainWindow

LOOK = "first start: check the machine"


class FirstStart(QObject):
    """Shows the cards when it is constructed; `finish` hides them for good."""

    def __init__(self, window: MainWindow, machine: MachineService) -> None:
        super().__init__(window)
        self._window = window
        self._machine = machine
        self._looked = False
        self.cards: WelcomeCards | None = WelcomeCards(window.settings, window.lists, self._make_offer)
        window.transcript.welcome.show_cards(self.cards)
        self._order_tabs(self.cards)
        self._connect(self.cards)
        window.setup.tell()
        self._show_state()

    def finish(self) -> None:
        """Hides the cards for good."""
        if self.cards is not None:
            self.cards = None
            self._window.transcript.welcome.drop_cards()
            for task in (LOOK, BEST):
                self._window.background.cancel(task)
            self._window.keep.remember(first_run_done=True)

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
        return ModelOffer(window.models_controller, window.settings, window.background, parent)

    def _connect(self, cards: WelcomeCards) -> None:
        window, dialogs = self._window, self._window.dialogs
        cards.done.connect(self.finish)
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
        if self.cards is not None:
            self.cards.model.show_model(self._window.setup.choice, name)

    def _show_state(self) -> None:
        if self.cards is not None:
            self.cards.microphone.show_state(self._window.state.talk)

    def _look(self, phase: Phase) -> None:
        """Checks the machine once the session has loaded: both need the processor."""
        if self.cards is None or self._looked or phase == "loading":
            return
        self._looked = True
        self._window.background.run(
            LOOK, lambda: self._machine.look(lambda words, share: None), self._found, lambda sentence: None
        )

    def _found(self, view: MachineView) -> None:
        if self.cards is not None:
            self.cards.model.show_machine(view, self._window.settings.frontend)
