"""Local Moonshine speech recognition, English only, in a child process (`moonshine_worker`).

Unlike Whisper's encoder, Moonshine's needs no padding, so the cost of a pass is proportional to the audio's length.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from app.conversation.words import fold
from app.models.pool import MODELS
from app.platform.children import ChildError, ChildWorker
from app.stt.base import RATE, TranscriberError
from app.stt.loudness import levelled
from app.stt.transcript_cleanup import without_loops, without_sounds

LEAST_SECONDS = 0.1
"""Minimum length of audio to decode. Shorter audio can't contain a word, and the model fails on nearly empty input."""
PASS_SECONDS = 15.0
"""Maximum time limit for a pass. The longest passes take 2 s on a slow machine."""
LEAST_PASS_SECONDS = 4.0
"""Time limit for a pass, in addition to half the audio's length. A child that takes longer hangs."""
OF_NOISE = ("you",)
"""The model's output for audio without speech: noise at -70 and -40 dBFS, keystrokes, a thump, a breath. The model
outputs no no-speech probability, and users hardly ever say this word on its own."""
FAILED = (
    "Moonshine, the speech recognition, could not be started, so nothing can be heard. Get it again: “models remove "
    "moonshine-tiny.en”, then “models get moonshine-tiny.en”. Or choose another one."
)
RESTARTED = "Moonshine, the speech recognition, had stopped and was started again: {cause}."
STOPPED = "Moonshine, the speech recognition, has stopped: {cause}. Choose another one if that comes again."


class MoonshineDecoder:
    """A `Decoder` that runs Moonshine in a child process. `weights`: a folder inside the library's package.

    The constructor raises TranscriberError if the child can't be started.
    """

    language = "en"

    def __init__(self, weights: Path) -> None:
        self.on_notice: Callable[[str], None] = lambda sentence: None
        """Called on any thread with a sentence for the user, if the child had to be restarted."""
        self._one_pass = threading.Lock()
        self._child = ChildWorker("app.stt.moonshine_worker", str(weights))
        try:
            self._child.start()
        except ChildError:
            self.close()
            raise TranscriberError(FAILED) from None

    def decode(self, samples: np.ndarray) -> str:
        """Returns the words in `samples` (float32, 16 kHz). If the child has died, restarts it once.

        Raises TranscriberError if the child stops, and RuntimeError if it reports an error.
        """
        seconds = len(samples) / RATE
        if seconds < LEAST_SECONDS:
            return ""
        raw = levelled(samples).astype("<f4").tobytes()
        limit = min(PASS_SECONDS, LEAST_PASS_SECONDS + seconds / 2)
        with self._one_pass:
            try:
                answer, _ = self._child.ask(len(raw).to_bytes(4, "little") + raw, limit)
            except ChildError as error:
                raise TranscriberError(STOPPED.format(cause=error)) from None
            cause = self._child.take_notice()
        if cause:
            self.on_notice(RESTARTED.format(cause=cause))
        if "error" in answer:
            raise RuntimeError(answer["error"])
        text = without_loops(without_sounds(answer["text"]), seconds)
        return "" if fold(text) == OF_NOISE else text

    def alive(self) -> bool:
        """Whether the child is running."""
        return self._child.alive()

    def close(self) -> None:
        """Stops the child."""
        self._child.close()


def open_decoder(model: Path, language: str = "en") -> MoonshineDecoder:
    """Loads the decoder with the weights in `model`. English only. Raises TranscriberError."""
    return MoonshineDecoder(model)


def lend_decoder(lent: ExitStack, model: Path, language: str) -> MoonshineDecoder:
    """Borrows the decoder for `model` from the pool; closing `lent` returns it."""
    return lent.enter_context(MODELS.borrow("stt", MoonshineDecoder, model))


def name_of(model: Path) -> str:
    """Returns the recogniser's name for reports."""
    return "moonshine tiny.en"
