"""What the front-ends of speech-to-speech models have in common: they are what their stream is."""

from __future__ import annotations

from app.frontend.kame.stream import KameStream


class StreamFrontEnd:
    """A front-end whose model speaks by itself. `_stream` is there while it is entered."""

    voice = None
    busy = False
    """All work is done within the step."""

    def __init__(self) -> None:
        self._stream: KameStream | None = None

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
