"""Offers models in the message bar: those that have been downloaded, and one that would answer better."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.gui.controllers.backend_controller import BackendController
from app.gui.controllers.context import WindowContext
from app.gui.controllers.dialogs import Dialogs
from app.gui.models.downloads import GraphicsController, ModelsController
from app.gui.shell.message_row import Offer
from app.services.machine_service import MachineService, MachineView
from app.services.model_service import ModelView
from app.session.control import BackendChoice

_LOOK, _BEST = "check the machine", "find the best model"
_BETTER = "better model"


class ModelOffers(QObject):
    """`better`: a better model than the one in use, which the user has not decided about yet. It is offered once
    `offer_better` is called, and at each further start, until the user has taken one or wants none: see `decide`.
    """

    looked = Signal(object)
    """The `MachineView` that `look` has found."""
    found = Signal()
    """`better` is known from now on."""

    def __init__(
        self,
        context: WindowContext,
        dialogs: Dialogs,
        backends: BackendController,
        models: ModelsController | None,
        graphics: GraphicsController | None,
    ) -> None:
        super().__init__(context.window)
        self.better: ModelView | BackendChoice | None = None
        self._context = context
        self._settings = context.settings
        self._messages = messages = context.messages
        self._dialogs = dialogs
        self._backends = backends
        self._models = models
        self._graphics = graphics
        self._machine: MachineService | None = None
        self._decided, self._offers = context.keep.state.better_model_decided, False
        if models is not None:
            models.started.connect(lambda _: self.decide())
            models.arrived.connect(self._offer_arrived)
            models.failed.connect(self._say_failed)
        if graphics is not None:
            graphics.restarting.connect(context.window.close)
            graphics.arrived_unseen.connect(self._offer_restart)
            graphics.failed_unseen.connect(lambda sentence: messages.say(sentence, topic="graphics"))

    # -- downloads

    def _offer_arrived(self, key: str) -> None:
        """Offers a front-end, or a language model that the conversation could use, after its download."""
        assert self._models is not None
        view = next((view for view in self._models.service.models() if view.key == key), None)
        if view is None:
            return
        if view.kind == "frontend" and key != self._settings.frontend:  # that one starts by itself
            words = self.tr("{0} is downloaded, and can hear and speak from now on.").format(view.label)
            self._offer("frontend", words, self.tr("Use it"), lambda: self._context.keep.change("frontend", key))
        elif view.kind == "llm" and self._settings.provider == "embedded":
            words = self.tr("{0} is here. New conversations with the built-in model use it.").format(view.label)
            choice = BackendChoice("embedded", key)
            self._offer("model", words, self.tr("Use it now"), lambda: self._backends.choose(choice))

    def _say_failed(self, sentence: str) -> None:
        """Says why a model could not be downloaded, unless “Models and servers” does."""
        dialog = self._dialogs.models
        if dialog is None or not dialog.isVisible():
            self._messages.say(sentence, topic="download")

    def _offer_restart(self) -> None:
        assert self._graphics is not None
        words = self.tr("What the graphics card needs is installed, and is used after a restart of KAME.")
        offer = Offer(self.tr("Restart KAME"), self._graphics.restart)
        self._messages.say(words, offer, topic="graphics", level="notice")

    def _offer(self, topic: str, words: str, button: str, use: Callable[[], object]) -> None:
        """Shows a notice with a button, which goes once it was pressed."""

        def take() -> None:
            self._messages.clear_topic(topic)
            use()

        self._messages.say(words, Offer(button, take), topic=topic, level="notice")

    # -- a better model than the smallest one

    def look(self, machine: MachineService) -> None:
        """Checks in the background what this machine has, and which model would be better, once the session has loaded:
        both need the processor.
        """
        self._machine = machine
        self._context.model.phase_changed.connect(self._look_once)

    def _look_once(self, phase: str) -> None:
        machine = self._machine
        if phase == "loading" or machine is None:
            return
        self._machine = None
        self._context.background.run(
            self, _LOOK, lambda: machine.look(lambda words, share: None), self._looked, lambda sentence: None
        )

    def _looked(self, view: MachineView) -> None:
        self.looked.emit(view)
        if view.backend.provider != "embedded":
            self._have_better(view.backend)
        elif (models := self._models) is not None and not models.busy:
            best, language = models.service.best, self._settings.language  # may time the smallest one first
            self._context.background.run(
                self, _BEST, lambda: asyncio.to_thread(best, language), self._have_better, lambda sentence: None
            )

    def _have_better(self, better: ModelView | BackendChoice | None) -> None:
        if better is not None and not self._decided:
            self.better = better
            self.found.emit()
            if self._offers:
                self.offer_better()

    def decide(self) -> None:
        """Ends the offer: the user has taken a better model, or wants none."""
        self.better = None
        if not self._decided:
            self._decided = True
            self._context.keep.remember(better_model_decided=True)
        self._messages.clear_topic(_BETTER)

    def offer_better(self) -> None:
        """Offers the better model in the message bar from now on, if the user has not decided about it."""
        self._offers = True
        better = self.better
        if isinstance(better, ModelView):
            words = self.tr("This machine is fast enough for {0} ({1} GB to download), which knows far more.")
            words = words.format(better.label, f"{better.bytes / 1e9:.1f}")
            if not better.usable:
                self._say_better(words, self.tr("Download"), lambda: self._get(better))
        elif better is not None:
            words = self.tr("{0} (Ollama) is here, too, and knows far more.").format(better.model)
            self._say_better(words, self.tr("Use it"), lambda: self._backends.choose(better))

    def _say_better(self, words: str, button: str, use: Callable[[], None]) -> None:
        declined = Offer(self.tr("No, thanks"), self.decide)
        self._messages.say(words, Offer(button, use), declined, topic=_BETTER, level="notice")

    def _get(self, view: ModelView) -> None:
        assert self._models is not None
        self._models.get(view.key)
        words = self.tr("{0} is being downloaded. Until then the small model answers.").format(view.label)
        self._messages.say(words, level="notice", topic="download")
