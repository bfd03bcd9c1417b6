"""Moonshine on this machine: English, in a child process (`moonshine_worker`).

Its encoder takes sound of any length, so the cost of a pass follows the sound's length, without Whisper's padding.
"""

from __future__ import annotations

import subprocess
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from app.conversation.words import fold
from app.models.pool import MODELS
from app.platform.children import end_child, killed_after, python_module_command, quiet_child
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


class MoonshineDecoder:
    """Runs the child process; `weights`: their folder, inside the package that has the library.

    `child_seconds`: the processor time of all passes so far; `child_bytes`: the memory of the child. Not safe for two
    threads at once. Raises TranscriberError.
    """

    language = "en"

    def __init__(self, weights: Path) -> None:
        self.child_seconds = 0.0
        self.child_bytes = 0
        self._command = python_module_command("app.stt.moonshine_worker", str(weights))
        self._child = self._start()

    def decode(self, samples: np.ndarray) -> str:
        """The words of `samples`: float32, 16 kHz. A child that died is started again once."""
        seconds = len(samples) / RATE
        if seconds < LEAST_SECONDS:
            return ""
        raw = levelled(samples).astype("<f4").tobytes()
        try:
            answer = self._ask(raw)
        except (OSError, ValueError):
            self.close()
            self._child = self._start()
            answer = self._ask(raw)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        self.child_seconds += answer["seconds"]
        text = without_loops(without_sounds(answer["text"]), seconds)
        return "" if fold(text) == OF_NOISE else text

    def alive(self) -> bool:
        """Whether the child runs."""
        return self._child.poll() is None

    def close(self) -> None:
        """Ends the child."""
        end_child(self._child)

    def _start(self) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **quiet_child()
        )
        with killed_after(child):
            ready = child.stdout.readline()  # type: ignore[union-attr]
        if not ready:
            end_child(child)
            raise TranscriberError(FAILED)
        self.child_bytes = read_json(ready, CHILD_LINE)["memory"]
        return child

    def _ask(self, raw: bytes) -> dict:
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.write(len(raw).to_bytes(4, "little") + raw)
        self._child.stdin.flush()
        answer: dict = read_json_line(self._child.stdout, CHILD_LINE)
        return answer


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
