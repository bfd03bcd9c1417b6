"""Keeps what the user says while a session is still loading, so that it can begin with that."""

from __future__ import annotations

import contextlib
import threading
from collections import deque

import numpy as np

from app.audio.io.base import AudioError, AudioSource, EndOfAudio
from app.conversation.frame import FRAME_SECONDS
from app.session.mailbox import Mailbox, Message, TalkButton

AROUND_SECONDS = 0.5
"""How much is kept before the talk button goes down, and after it has gone up."""
MOST_SECONDS = 60.0
READ_SECONDS = 0.05

EarlyBlock = tuple[np.ndarray, tuple[Message, ...]]
"""A block of samples as the source delivers it, and the messages that were posted before its end."""


class EarlySound:
    """Reads `source` on a thread of its own, and drains `mailbox`, from `start` to `stop`.

    With push-to-talk, it keeps what is said while the talk button is down. If `always`, it keeps everything.
    """

    def __init__(self, source: AudioSource, mailbox: Mailbox, *, always: bool) -> None:
        self._source = source
        self._mailbox = mailbox
        self._always = always
        most, around = round(MOST_SECONDS / FRAME_SECONDS), round(AROUND_SECONDS / FRAME_SECONDS)
        self._kept: deque[EarlyBlock] = deque(maxlen=most)
        self._before: deque[EarlyBlock] = deque(maxlen=around)
        self._around = around
        self._left = 0  # blocks still to be kept since the button went up
        self._down = False
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

    def take(self, *, all_from_now: bool = True) -> list[EarlyBlock]:
        """Returns what has been kept since the last call. Any one thread may call it.

        `all_from_now`: keeps everything from now on, since the session has begun and catches up.
        """
        self._always = self._always or all_from_now
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
                return  # whoever reads next is told, too
            if block is not None:
                self._add(block, tuple(self._mailbox.drain()))

    def _add(self, block: np.ndarray, messages: tuple[Message, ...]) -> None:
        for message in messages:
            if isinstance(message, TalkButton):
                self._down, self._left = message.pressed, self._around
        if self._always or self._down or messages or self._left:
            self._left = self._around if self._down else max(0, self._left - 1)
            self._kept.extend(self._before)
            self._before.clear()
            self._kept.append((block, messages))
        else:
            self._before.append((block, messages))
