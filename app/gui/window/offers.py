"""Notifications with an action button: about downloads that have finished, and about what could be lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.history.base import ConversationView
from app.session.control import BackendChoice

if TYPE_CHECKING:
    from app.gui.window.main_window import MainWindow


class Offers(QObject):
    """Shows each in the window's message bar."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def frontend(self, key: str, label: str) -> None:
        """A front-end's weights were downloaded, perhaps during a session."""
        words = self.tr("{0} is downloaded, and can hear and speak from now on.").format(label)
        self._offer("frontend", words, self.tr("Use it"), lambda: self._window.live.pick_frontend(key))

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

    def open_conversation(self, view: ConversationView) -> None:
        """Opening another conversation would lose what was said."""
        words = self.tr("What was said here is not kept: when you open another conversation, it is gone.")
        offer = (self.tr("Open it"), lambda: self._window.talks.open_after_all(view))
        self._window.messages.say(words, offer=offer, topic="unkept", level="warning")

    def missing_backend(self, missing: BackendChoice, instead: BackendChoice) -> None:
        """The model that a conversation was held with is not known here."""
        words = self.tr("The model of this conversation, {0}, is not known here; {1} goes on in its place.")
        unknown = missing.model or missing.provider
        self._window.messages.say(words.format(unknown, self._window.setup.favourites.words(instead)), level="warning")

    def _offer(self, topic: str, words: str, button: str, use: Callable[[], object]) -> None:
        """Shows a notice with a button, which goes once it was pressed."""

        def take() -> None:
            self._window.messages.clear_topic(topic)
            use()

        self._window.messages.say(words, offer=(button, take), topic=topic, level="notice")
