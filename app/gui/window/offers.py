"""Notifications with an action button: about downloads that have finished, and about what could be lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.history.base import ConversationView, Setup
from app.services.model_service import ModelView
from app.session.control import BackendChoice

if TYPE_CHECKING:
    from app.gui.window.main_window import MainWindow


_BETTER = "better model"


class Offers(QObject):
    """Shows each in the window's message bar."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def frontend(self, key: str, label: str) -> None:
        """A front-end's weights were downloaded, perhaps during a session."""
        words = self.tr("{0} is downloaded, and can hear and speak from now on.").format(label)
        self._offer("frontend", words, self.tr("Use it"), lambda: self._window.live.change("frontend", key))

    def restart(self) -> None:
        """What the graphics card needs is installed."""
        graphics = self._window.graphics
        assert graphics is not None
        words = self.tr("What the graphics card needs is installed, and is used after a restart of KAME.")
        offer = (self.tr("Restart KAME"), graphics.restart)
        self._window.messages.say(words, offer=offer, topic="graphics", level="notice")

    def model(self, key: str, label: str) -> None:
        """A language model was downloaded while another one was in use."""
        words = self.tr("{0} is here. New conversations with the built-in model use it.").format(label)
        choice = BackendChoice("embedded", key)
        self._offer("model", words, self.tr("Use it now"), lambda: self._window.live.pick_backend(choice))

    def better_model(self, view: ModelView) -> None:
        """This machine runs a better language model than the smallest one, which answers now."""
        if not view.usable:
            words = self.tr("This machine is fast enough for {0} ({1} GB to download), which knows far more.")
            offer = (self.tr("Download"), lambda: self._get(view))
            self._say_better(words.format(view.label, f"{view.bytes / 1e9:.1f}"), offer)

    def better_backend(self, choice: BackendChoice) -> None:
        """A server on this machine has a better language model than the smallest one, which answers now."""
        words = self.tr("{0} (Ollama) is here, too, and knows far more.").format(choice.model)
        self._say_better(words, (self.tr("Use it"), lambda: self._window.live.pick_backend(choice)))

    def withdraw_better(self) -> None:
        """The user has decided about a better model."""
        self._window.messages.clear_topic(_BETTER)

    def download_failed(self, sentence: str) -> None:
        """A model could not be downloaded: says why, unless “Models and servers” does."""
        dialog = self._window.dialogs.models
        if dialog is None or not dialog.isVisible():
            self._window.messages.say(sentence, topic="download")

    def _say_better(self, words: str, offer: tuple[str, Callable[[], None]]) -> None:
        self._window.messages.say(words, offer=offer, topic=_BETTER, level="notice")

    def _get(self, view: ModelView) -> None:
        controller = self._window.models_controller
        assert controller is not None
        controller.get(view.key)
        words = self.tr("{0} is being downloaded. Until then the small model answers.").format(view.label)
        self._window.messages.say(words, level="notice", topic="download")

    def open_conversation(self, view: ConversationView) -> None:
        """Opening another conversation would lose what was said."""
        words = self.tr("What was said here is not kept: when you open another conversation, it is gone.")
        offer = (self.tr("Open it"), lambda: self._window.talks.open_after_all(view))
        self._window.messages.say(words, offer=offer, topic="unkept", level="warning")

    def came_with_file(self, setup: Setup) -> None:
        """The conversation that was opened came with a file, which has a persona or documents."""
        key, names = self._window.talks.key, ", ".join(f"“{one.name}”" for one in setup.documents)
        parts = []
        if setup.style.persona:
            parts.append(
                self.tr("It has instructions for the model: “{0}”").format(" ".join(setup.style.persona.split()))
            )
        if names:
            parts.append(self.tr("It brings documents: {0}.").format(names))
        words = self.tr("This conversation came with a file. {0} That is used only if you want it.")

        def use() -> None:
            if self._window.talks.key == key:
                self._window.starter.use_offered(setup)

        self._offer("came with file", words.format(" ".join(parts)), self.tr("Use it"), use, private=True)

    def missing_backend(self, missing: BackendChoice, instead: BackendChoice) -> None:
        """The model that a conversation was held with is not known here."""
        words = self.tr("The model of this conversation, {0}, is not known here; {1} answers instead.")
        unknown = missing.model or missing.provider
        self._window.messages.say(words.format(unknown, self._window.setup.favourites.words(instead)), level="warning")

    def _offer(self, topic: str, words: str, button: str, use: Callable[[], object], *, private: bool = False) -> None:
        """Shows a notice with a button, which goes once it was pressed."""

        def take() -> None:
            self._window.messages.clear_topic(topic)
            use()

        self._window.messages.say(words, offer=(button, take), topic=topic, level="notice", private=private)
