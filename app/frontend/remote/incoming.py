"""Takes what a voice server sends, over all connections to it, until it is played."""

from __future__ import annotations

import logging
import threading

import numpy as np

from app.frontend.remote.playout import Playout, PlayoutFull, Received
from app.frontend.remote.protocol import Welcome, read_text_message, words_of
from app.frontend.remote.revisions import renumbered

log = logging.getLogger(__name__)


class Incoming:
    """`take` is called on the frame thread, all else on the connection's."""

    def __init__(self) -> None:
        self.welcome: Welcome | None = None
        """What our own server says of itself; None of another."""
        self.events = 0
        """How many of the present conversation's events have come, as the server counts them."""
        self._conversations = 0  # that the server has begun
        self._playout = Playout()
        self._lock = threading.Lock()

    def take(self) -> Received:
        """Returns the frame of the server's voice that is to be played now."""
        with self._lock:
            return self._playout.take()

    def new_connection(self) -> None:
        """The next sound continues no earlier one."""
        with self._lock:
            self._playout.clear()

    def sound(self, samples: np.ndarray) -> None:
        """Takes sound: float32 (n,)."""
        with self._lock:
            self._playout.push_sound(samples)

    def words(self, payload: bytes) -> None:
        """Takes a message of the kind TEXT. Raises PlayoutFull."""
        with self._lock:
            self._playout.push_words(words_of(payload))

    def text(self, message: str) -> None:
        """Takes a welcome or an event; what can't be read, as from a newer server, is left out. Raises PlayoutFull."""
        self.events += 1
        try:
            found = read_text_message(message)
            if isinstance(found, Welcome):
                self._conversations += not found.resumed or not self._conversations
                self.welcome, self.events = found, found.events
            elif found is not None:
                event = renumbered(found, max(1, self._conversations))
                with self._lock:
                    self._playout.push_event(event)
        except PlayoutFull:
            raise
        except ValueError as error:
            log.debug("a message of the voice server was left out: %s", error)
