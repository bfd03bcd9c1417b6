"""Keeps what the user says while a session is still loading, so that it can begin with that."""

from __future__ import annotations

import contextlib
import threading
from collections import deque

import numpy as np

from app.audio.io.base import AudioError, AudioSource, EndOfAudio
from app.conversation.frame import FRAME_SECONDS
from app.session.mailbox import Mailbox, Message

BEFORE_SECONDS = 0.5
"""How much is kept from before the talk button goes down."""
MOST_SECONDS = 120.0
"""How much is kept in all: the newest."""
READ_SECONDS = 0.05

EarlyBlock = tuple[np.ndarray, tuple[Message, ...]]
"""A block of samples as the source delivers it, and the messages that were posted before its end."""


class EarlySound:
    """Reads `source` on a thread of its own, and drains `mailbox`, from `start` to `stop`.

    It keeps everything since the talk button went down first, pauses too, so that the session's time is the user's.
    If `always`, it keeps everything from the start, as hands-free mode needs.
    """

    def __init__(self, source: AudioSource, mailbox: Mailbox, *, always: bool) -> None:
        self._source = source
        self._mailbox = mailbox
        self._keeps = always
        self._kept: deque[EarlyBlock] = deque(maxlen=round(MOST_SECONDS / FRAME_SECONDS))
        self._before: deque[EarlyBlock] = deque(maxlen=round(BEFORE_SECONDS / FRAME_SECONDS))
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="early sound", daemon=True)

    def start(self) -> None:
        """Starts reading. The source must be open."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the reading; the source can be read by another thread afterwards. Idempotent."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def take(self) -> list[EarlyBlock]:
        """Returns what has been kept since the last call. Everything is kept from now on, until `stop`: the session has
        begun, and catches up.
        """
        self._keeps = True
        taken = []
        with contextlib.suppress(IndexError):
            while True:
                taken.append(self._kept.popleft())
        return taken

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                block = self._source.read_frame(READ_SECONDS)
            except (AudioError, EndOfAudio):
                return  # the next reader gets the same error
            if block is not None:
                self._add(block, tuple(self._mailbox.drain()))

    def _add(self, block: np.ndarray, messages: tuple[Message, ...]) -> None:
        self._keeps = self._keeps or bool(messages)
        if self._keeps:
            self._kept.extend(self._before)
            self._before.clear()
            self._kept.append((block, messages))
        else:
            self._before.append((block, messages))
