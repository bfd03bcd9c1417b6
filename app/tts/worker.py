"""The main loop of the child processes of all voices: one line of JSON in, one clip out, until their input ends.

Standard input: a line `{"text": …, "rate": …}`, where rate 2 is twice as fast. Standard output: a line `{"bytes": …,
"cpu_seconds": …}`, with what describes the result, and that many bytes of float32, or a line `{"error": …}`; first of
all `{"ready": true}`. The result of a voice is sound, described by `sample_rate` and `word_ends`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.platform.children import answers_of_child, send_line


@dataclass(frozen=True, slots=True)
class Speech:
    """An engine's sound for a text. `word_ends`: the sample after each of its words; None: not known."""

    samples: np.ndarray
    sample_rate: int
    word_ends: list[int] | None = None

    def numbers(self) -> np.ndarray:
        """What is sent after the line that describes it."""
        return self.samples

    def description(self) -> dict[str, object]:
        """What the line says of it."""
        return {"sample_rate": self.sample_rate, "word_ends": self.word_ends}


class WorkerResult(Protocol):
    """What a child makes of a text: numbers, and what describes them."""

    def numbers(self) -> np.ndarray: ...

    def description(self) -> dict[str, object]: ...


Speak = Callable[[str, float], Speech]
"""Speaks a text at a rate (1: the voice's own)."""


def serve(load: Callable[[], Callable[[str, float], WorkerResult]]) -> int:
    """Loads a voice, warms it up, and serves until standard input ends; returns the exit code."""
    answers = answers_of_child(2)
    speak = load()
    speak("Ready.", 1.0)  # the first run is slow
    send_line(answers, {"ready": True})
    for line in sys.stdin.buffer:
        numbers = np.zeros(0, "<f4")
        try:
            asked = json.loads(line)
            began = time.process_time()
            result = speak(asked["text"], asked.get("rate", 1.0))
            numbers = result.numbers().astype("<f4")
            seconds = time.process_time() - began
            head = {**result.description(), "bytes": numbers.nbytes, "cpu_seconds": seconds}
        except Exception as error:
            head = {"error": f"{type(error).__name__}: {error}"}
        send_line(answers, head)
        answers.write(numbers.tobytes())
        answers.flush()
    return 0
