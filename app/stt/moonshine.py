"""Moonshine on this machine: English, in a child process (`moonshine_worker`).

Its encoder takes sound of any length, so the cost of a pass follows the sound's length, without Whisper's padding.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import IO

import numpy as np

from app.conversation.words import fold
from app.models.pool import MODELS
from app.platform.children import ChildError, ChildWorker
from app.stt.base import RATE, TranscriberError
from app.stt.loudness import levelled
from app.stt.transcript_cleanup import without_loops, without_sounds
from app.untrusted.files import read_json_line
from app.untrusted.json_text import read_json
from app.untrusted.limits import CHILD_LINE

LEAST_SECONDS = 0.1
"""Shorter sound holds no word, and the model fails on nearly empty sound."""
OF_NOISE = ("you",)
"""The text that the model gives for any sound without speech: noise at -70 and -40 dBFS, keys, a thump and a breath. It
gives no probability that nobody speaks, and nobody says this alone."""
FAILED = (
    "Moonshine, the speech recognition, could not be started, so nothing can be heard. Get it again: “models remove "
    "moonshine-tiny.en”, then “models get moonshine-tiny.en”. Or choose another one."
)
STOPPED = "Moonshine, the speech recognition, has stopped: {cause}. Choose another one if that comes again."


class MoonshineDecoder:
    """Runs the child process; `weights`: their folder, inside the package that has the library.

    `child_seconds`: the processor time of all passes so far; `child_bytes`: the memory of the child. Not safe for two
    threads at once. Raises TranscriberError.
    """

    language = "en"

    def __init__(self, weights: Path) -> None:
        self.child_seconds = 0.0
        self.child_bytes = 0
        self._child = ChildWorker("app.stt.moonshine_worker", str(weights))
        try:
            ready = self._child.start()
        except ChildError:
            self.close()
            raise TranscriberError(FAILED) from None
        self.child_bytes = read_json(ready, CHILD_LINE)["memory"]

    def decode(self, samples: np.ndarray) -> str:
        """The words of `samples`: float32, 16 kHz. A child that died is started again once."""
        seconds = len(samples) / RATE
        if seconds < LEAST_SECONDS:
            return ""
        raw = levelled(samples).astype("<f4").tobytes()

        def exchange(to_child: IO[bytes], from_child: IO[bytes]) -> dict:
            to_child.write(len(raw).to_bytes(4, "little") + raw)
            to_child.flush()
            answer: dict = read_json_line(from_child, CHILD_LINE)
            return answer

        try:
            answer = self._child.ask(exchange)
        except ChildError as error:
            raise TranscriberError(STOPPED.format(cause=error)) from None
        if "error" in answer:
            raise RuntimeError(answer["error"])
        self.child_seconds += answer["seconds"]
        text = without_loops(without_sounds(answer["text"]), seconds)
        return "" if fold(text) == OF_NOISE else text

    def alive(self) -> bool:
        """Whether the child runs."""
        return self._child.alive()

    def close(self) -> None:
        """Ends the child."""
        self._child.close()


def open_decoder(model: Path, language: str = "en") -> MoonshineDecoder:
    """The decoder over the weights in `model`, for English alone. Raises TranscriberError."""
    return MoonshineDecoder(model)


def lend_decoder(lent: ExitStack, model: Path, language: str) -> MoonshineDecoder:
    """The decoder over `model` from the pool, which `lent` returns to it."""
    kind = MoonshineDecoder
    return lent.enter_context(MODELS.borrow("stt", kind, model, alive=kind.alive, close=kind.close))


def name_of(model: Path) -> str:
    """The recogniser's name in reports."""
    return "moonshine tiny.en"
