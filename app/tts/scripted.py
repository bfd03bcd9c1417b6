"""A voice for tests, whose clips are tones with a fixed length per character and are ready immediately."""

from __future__ import annotations

from concurrent.futures import Future

import numpy as np

from app.conversation.frame import SAMPLE_RATE
from app.tts.base import Clip, VoiceError, place_words

SECONDS_PER_LETTER = 0.06


class ScriptedVoice:
    """A voice that plays a 220 Hz tone. Texts containing `fail_on` fail; `spoken` lists the texts received so far."""

    name = "scripted"
    rate = volume = 1.0

    def __init__(self, *, fail_on: str = "") -> None:
        self.spoken: list[str] = []
        self._fail_on = fail_on

    def synthesize(self, text: str) -> Future[Clip]:
        """Returns a completed clip of 60 ms per character."""
        self.spoken.append(text)
        future: Future[Clip] = Future()
        if self._fail_on and self._fail_on in text:
            future.set_exception(VoiceError("The scripted voice fails here, as its script says."))
            return future
        samples = round(len(text) * SECONDS_PER_LETTER * SAMPLE_RATE)
        t = np.arange(samples, dtype=np.float32) / SAMPLE_RATE
        tone = (0.2 * np.sin(2 * np.pi * 220 * t)).astype(np.float32)
        future.set_result(Clip(tone, place_words(text, samples)))
        return future

    def __enter__(self) -> ScriptedVoice:
        return self

    def __exit__(self, *exc: object) -> None:
        return None
