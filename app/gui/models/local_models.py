"""The page of the models that run on this machine: a card for each, with the recommended ones first."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence

import numpy as np
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QScrollArea, QVBoxLayout, QWidget

from app.gui.design.plain import PlainLabel, named
from app.gui.models.downloads import ModelsController
from app.gui.models.local_card import CardState, LocalCard
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.form import StatusLine, bold, column, fill_area
from app.services.machine_service import MachineView
from app.services.model_service import ModelKind, ModelView

USABLE_KINDS: tuple[ModelKind, ...] = ("llm", "stt", "tts", "frontend")
"""The kinds of models among which the user can choose."""
LIST, WORK, PLAY = "models: list", "models: check or remove", "models: play a sample"


class LocalModels(QWidget):
    """A card for each model, in a section for each kind.

    `play`: plays mono float32 audio at 24 kHz; None if samples of the voices can't be played.
    """

    use_wanted = Signal(str, str)
    """Emits a kind and the key of the model or voice to use for it, or an empty key to let the app choose."""

    def __init__(
        self,
        controller: ModelsController,
        background: BackgroundTasks,
        parent: QWidget,
        *,
        play: Callable[[np.ndarray], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__(parent)
        self._controller = controller
        self._background = background
        self._play = play
        self._used: dict[str, str] = {}
        self._language = "auto"
        self._machine: MachineView | None = None
        self._views: Sequence[ModelView] = ()
        self._recommended = ""
        self._chosen = ""
        self.cards: dict[str, LocalCard] = {}
        """The cards by their models' keys, in the order on the page."""
        self._inside = QWidget(self)
        self._column = QVBoxLayout(self._inside)
        self._column.setContentsMargins(0, 0, 8, 0)
        self._parts: list[QWidget] = []
        self._headings: dict[ModelKind, PlainLabel] = {}
        self.area = named(QScrollArea(self), self.tr("Models"))
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        fill_area(self.area, self._inside)
        self.said = StatusLine(self.tr("What happened"), self)
        column((self.area, 1), self.said, within=self)
        controller.started.connect(lambda _: self._show())
        controller.progressed.connect(self._progressed)
        controller.arrived.connect(self._arrived)
        controller.failed.connect(self._refresh_and_say)

    def open_with(self, used: Mapping[str, str], language: str = "auto", chosen: str = "") -> None:
        """Loads the models and their states.

        - `used`: the models in the settings, keyed by kind
        - `language`: the conversation language as a two-letter code, or "auto"
        - `chosen`: the key of the model whose card is shown and gets the focus, if any
        """
        self._used, self._language, self._chosen = dict(used), language, chosen
        self.said.say("")
        self.refresh(go_to=chosen)

    def show_machine(self, view: MachineView) -> None:
        """Applies the result of a machine check, which determines the front-ends that can be used."""
        self._machine = view
        self._show()

    def refresh(self, go_to: str = "") -> None:
        """Loads the models again in the background. `go_to`: the key of the model whose card gets the focus, if any."""
        service, language = self._controller.service, self._language

        def show(found: tuple[Sequence[ModelView], str]) -> None:
            self._views, self._recommended = found
            self._show()
            if go_to in self.cards:
                QTimer.singleShot(0, self, lambda: self._go_to(self.cards[go_to]))  # once the cards have their places

        def find() -> tuple[Sequence[ModelView], str]:
            return service.models(), service.recommended(language)

        self._background.run(self, LIST, lambda: asyncio.to_thread(find), show, self.said.say)

    # -- the cards

    def _show(self) -> None:
        """Shows each model's state on its card, and the cards in their order."""
        focus = QApplication.focusWidget()
        states = [self._state(view) for view in self._views]
        titles: dict[ModelKind, str] = {
            "llm": self.tr("Language models"),
            "stt": self.tr("Speech recognition"),
            "tts": self.tr("Voices"),
            "frontend": self.tr("Voice engines for a graphics card"),
            "endpointing": self.tr("End of turn"),
        }
        order: list[str] = []
        parts: list[QWidget] = []
        for kind, title in titles.items():
            of_kind = sorted((state for state in states if state.view.kind == kind), key=_rank)
            if of_kind:
                parts.append(self._headings.setdefault(kind, bold(title, self._inside)))
            for state in of_kind:
                card = self._card(state.view)
                card.show_state(state)
                card.mark(state.view.key == self._chosen)
                order.append(state.view.key)
                parts.append(card)
        self.cards = {key: self.cards[key] for key in order}
        if parts != self._parts:
            self._parts = parts
            self._lay_out()
        if isinstance(focus, QWidget) and self.isAncestorOf(focus) and not focus.isVisible():
            self._focus_card_of(focus)

    def _lay_out(self) -> None:
        while self._column.count():
            self._column.takeAt(0)
        for place, part in enumerate(self._parts):
            if place and not isinstance(part, LocalCard):
                self._column.addSpacing(10)
            self._column.addWidget(part)
        self._column.addStretch(1)
        controls = [control for card in self.cards.values() for control in card.controls]
        for before, control in itertools.pairwise(controls):
            self.setTabOrder(before, control)

    def _card(self, view: ModelView) -> LocalCard:
        card = self.cards.get(view.key)
        if card is None:
            card = self.cards[view.key] = LocalCard(view, self._inside, plays=self._play is not None)
            card.wanted.connect(self._do)
        return card

    def _state(self, view: ModelView) -> CardState:
        fits = self._machine.fits_of(view.key) if self._machine is not None else ()
        best = next((fit for fit in fits if fit.fits), fits[0] if fits else None)
        fitting: bool | None = not view.fits
        if view.kind == "frontend":
            fitting = best.fits if best is not None else None
        advised = self._machine.frontend if self._machine is not None else ""
        used = self._used.get(view.kind, "")
        is_used = used.partition("/")[0] == view.key
        is_default = not used and view.default and view.kind in USABLE_KINDS
        return CardState(
            view,
            fitting,
            best.sentence if best is not None else view.fits,
            recommended=view.key in (self._recommended, advised),
            used=used if is_used else "",
            in_use=view.usable and (is_used or is_default),
            able=frozenset(self._able(view)) if fitting is not False or view.kind != "frontend" else frozenset(),
            fetching=self._controller.fetching == view.key,
            free=not self._controller.busy,
            working=self._background.busy(WORK),
            playing=self._background.busy(PLAY),
        )

    def _able(self, view: ModelView) -> Sequence[str]:
        """Returns the keys of the model and its voices that can be used with the language of conversations."""
        if view.kind not in USABLE_KINDS or not view.usable:
            return ()
        if view.kind == "llm" or self._language == "auto":
            return (view.key, *(voice.key for voice in view.voices))
        voices = [voice.key for voice in view.voices if voice.language == self._language]
        return ([view.key] if {"*", self._language}.intersection(view.languages) else []) + voices

    # -- user actions

    def _do(self, act: str, key: str, voice: str) -> None:
        card, service = self.cards[key], self._controller.service
        view = card.state.view
        self.said.say("")
        match act:
            case "get":
                self._controller.get(key)
            case "stop":
                self._controller.stop()
            case "use":
                self._use(view.kind, voice, self.tr("{0} is used from now on.").format(card.voice_name))
            case "auto":
                self._use(view.kind, "", self.tr("The app chooses from now on."))
            case "play":
                self._play_sample(voice, card.voice_name)
            case "check":
                self.said.say(self.tr("Reading all of {0} …").format(view.label))
                self._work(service.check, view, self._refresh_and_say)
            case "remove":
                self._work(service.remove, view, lambda sentence: self._removed(view, sentence))

    def _use(self, kind: ModelKind, key: str, sentence: str) -> None:
        self._used[kind] = key
        self.use_wanted.emit(kind, key)
        self._refresh_and_say(sentence)

    def _removed(self, view: ModelView, sentence: str) -> None:
        if self._used.get(view.kind, "").partition("/")[0] == view.key:
            self._use(view.kind, "", sentence)  # so that no conversation tries to load the removed model
        else:
            self._refresh_and_say(sentence)

    def _play_sample(self, voice: str, name: str) -> None:
        play, service = self._play, self._controller.service
        if play is None:
            return
        self.said.say(self.tr("Loading {0} …").format(name))

        async def sample() -> None:
            sound = await asyncio.to_thread(service.sample, voice)
            self.said.say("")
            await play(sound)

        self._background.run(self, PLAY, sample, lambda _: self._finish(""), self._finish)
        self._show()

    def _work(self, action: Callable[[str], str], view: ModelView, done: Callable[[str], None]) -> None:
        """Runs `action` on a model in a thread and passes the resulting message to `done`."""
        self._background.run(self, WORK, lambda: asyncio.to_thread(action, view.key), done, self._refresh_and_say)
        self._show()

    # -- results

    def _progressed(self, words: str, share: float) -> None:
        if (card := self.cards.get(self._controller.fetching)) is not None:
            card.show_progress(words, share)

    def _arrived(self, key: str) -> None:
        label = self.cards[key].state.view.label if key in self.cards else key
        self._refresh_and_say(self.tr("{0} is on this machine.").format(label))

    def _refresh_and_say(self, sentence: str) -> None:
        self.refresh()
        self._finish(sentence)

    def _finish(self, sentence: str) -> None:
        self.said.say(sentence)
        self._show()

    # -- the focus

    def _focus_card_of(self, control: QWidget) -> None:
        """Gives the focus to the card of a control that has just been hidden."""
        card = next((card for card in self.cards.values() if card.isAncestorOf(control)), None)
        if card is not None:
            self._go_to(card)

    def _go_to(self, card: LocalCard) -> None:
        card.take_focus()
        self.area.ensureWidgetVisible(card)


def _rank(state: CardState) -> int:
    """Returns a card's place in its section: what is recommended, then what is used, is here, fits, or does not."""
    view = state.view
    marks = state.recommended, state.in_use, view.usable, state.fits is not False
    return marks.index(True) if True in marks else len(marks)
