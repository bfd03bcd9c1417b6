"""The main loop of every voice's child process, which reads JSON lines and writes audio until its input closes.

Standard output starts with the line `{"ready": true}`. Each request on standard input is a line `{"text": …,
"rate": …}`, where a rate of 2 is twice as fast. The reply is a header line `{"bytes": …}` followed by
that many bytes of float32 data, or a line `{"error": …}`. For audio, the header also has `sample_rate` and `word_ends`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import numpy as np

from app.platform.children import answers_of_child, send_line

Answer = tuple[np.ndarray, dict[str, object]]
"""The data to send for a text, and the fields to add to the header line."""

Speak = Callable[[str, float], Answer]
"""A function that synthesises a text at a given rate, where 1 is the voice's normal rate."""


def speech(samples: np.ndarray, sample_rate: int, word_ends: list[int] | None = None) -> Answer:
    """Returns audio as an answer. `word_ends`: the sample at which each word ends, or None if unknown."""
    return samples, {"sample_rate": sample_rate, "word_ends": word_ends}


def serve(load: Callable[[], Speak]) -> int:
    """Loads a voice, warms it up, and serves requests until standard input closes. Returns the exit code."""
    answers = answers_of_child(2)
    speak = load()
    speak("Ready.", 1.0)  # the first call is slow
    send_line(answers, {"ready": True})
    for line in sys.stdin.buffer:
        numbers = np.zeros(0, "<f4")
        try:
            asked = json.loads(line)
            numbers, head = speak(asked["text"], asked.get("rate", 1.0))
            numbers = numbers.astype("<f4")
            head = {**head, "bytes": numbers.nbytes}
        except Exception as error:
            head = {"error": f"{type(error).__name__}: {error}"}
        send_line(answers, head)
        answers.write(numbers.tobytes())
        answers.flush()
    return 0
