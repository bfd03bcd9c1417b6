"""The interface of the platform's key grabbers, and what they share."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Qt, Signal

from app.gui.hotkeys.hotkey import Hotkey

_log = logging.getLogger(__name__)


class Grabber(QObject):
    """Grabs keys from the system and emits their names when they are `pressed` and `released`.

    A key may be reported pressed or released more than once; `Hotkeys` drops the repeats. `bind` and `close` need not
    report keys that are down.
    """

    pressed = Signal(str)
    released = Signal(str)
    failed = Signal(str, str)
    """A key's name, and a sentence that says why it can't be grabbed. No name: none of the keys can."""
    granted = Signal(str, str)
    """A key's name, and which keys the desktop uses for it, in the desktop's words, where users choose them there."""
    rebinding = Signal()
    """The grabber is about to grab all keys again by itself: earlier failures no longer hold."""

    grabs_exclusively = True
    """Whether a grabbed key never reaches the app's own text fields, and keys can be given back for a moment."""

    def bind(self, keys: Mapping[str, Hotkey]) -> None:
        """Grabs these keys, by name, in place of the earlier ones. Never raises; failures are emitted."""
        raise NotImplementedError

    def close(self) -> None:
        """Gives all keys back for good; waits for two seconds at most."""
        raise NotImplementedError

    def fail_missing(self, name: str, key: Hotkey) -> None:
        """Reports a key that the keyboard's layout lacks."""
        sentence = self.tr("Your keyboard's layout has no “{0}”, so it can't be a hotkey. Choose another.")
        self.failed.emit(name, sentence.format(key.text))

    def fail_taken(self, name: str, key: Hotkey) -> None:
        """Reports a key that another program has grabbed."""
        sentence = self.tr("“{0}” is another program's hotkey already, so it can't be used. Choose another.")
        self.failed.emit(name, sentence.format(key.text))

    def fail_duplicate(self, name: str, key: Hotkey, other: Hotkey) -> None:
        """Reports a key that is the same as `other` on this keyboard."""
        sentence = self.tr(
            "“{0}” is the same as “{1}” on your keyboard, which has another use here already. Choose other keys."
        )
        self.failed.emit(name, sentence.format(key.text, other.text))


class ThreadedGrabber(Grabber):
    """A grabber with one thread for each set of keys; what the thread of an earlier set reports is dropped."""

    _posted = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._generation = 0
        self._posted.connect(self._on_posted, Qt.ConnectionType.QueuedConnection)

    def post(self, generation: int, action: Callable[[], None]) -> None:
        """Calls `action` on the window's thread, unless other keys are bound by then. Any thread may call."""
        try:
            self._posted.emit(generation, action)
        except RuntimeError as error:  # the window has gone, and this object with it
            _log.info("hotkeys: %s", error)

    def _on_posted(self, generation: int, action: Callable[[], None]) -> None:
        if generation == self._generation:
            action()
