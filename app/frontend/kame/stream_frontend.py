"""What the front-ends of speech-to-speech models have in common: a stream, and how they let go of what they hold."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from app.frontend.base import FrontEndError
from app.frontend.kame.stream import KameStream

CARD_SECONDS = 90.0
"""How long a front-end waits for the card: another one may still be loading 16 GB for a session that is over."""
_CARD = threading.Lock()
"""Held by the one front-end that has models on the card: two would share its memory, and moshi's graph flag."""


@contextmanager
def the_card(label: str, seconds: float = CARD_SECONDS) -> Iterator[None]:
    """Holds the graphics card for the front-end `label`. Raises FrontEndError if it isn't free in time."""
    if not _CARD.acquire(timeout=seconds):
        raise FrontEndError(
            f"The graphics card is still held by the conversation before, so {label} can't be loaded. Start a new "
            "conversation in a minute; if the card is not free by then, restart the app."
        )
    try:
        yield
    finally:
        _CARD.release()


class StreamFrontEnd:
    """A front-end whose model speaks by itself.

    While it is entered, `_stream` is set and `_held` has what is to be freed at the end, all of it even if a part of
    that fails.
    """

    voice = None
    busy = False
    """All work is done within the step."""

    def __init__(self) -> None:
        self._stream: KameStream | None = None
        self._held = ExitStack()

    def __exit__(self, *exc: object) -> None:
        """Frees what it holds; safe to call twice."""
        self._stream = None
        self._held.close()

    @property
    def speaking(self) -> bool:
        return self._stream is not None and self._stream.words.answering is not None

    @property
    def idle(self) -> bool:
        return self._stream is None or self._stream.words.idle

    def ready(self, heard: str) -> bool:
        """Always True: it starts to speak by itself."""
        return True

    def unheard(self, samples: int, words: int) -> None:
        """Does nothing: the model has said what was flushed, and goes on from there."""
