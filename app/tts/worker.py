"""The main loop of every voice's child process, which reads JSON lines and writes audio until its input closes.

Standard output starts with the line `{"ready": true}`. Each request on standard input is a line `{"text": …,
"rate": …}`, where a rate of 2 is twice as fast. The reply is a header line `{"bytes": …}` followed by
that many bytes of float32 data, or a line `{"error": …}`. For audio, the header also has `sample_rate` and `word_ends`.

If the request has `"parts": true`, a voice that can do so sends its audio in several such replies. All but the last one
have `"more": true`. `length` is the number of samples in all of them. The line `{"stop": true}` ends them early, with
an empty last one.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from app.platform.children import answers_of_child, send_line

Answer = tuple[np.ndarray, dict[str, object]]
"""The data to send for a text, and the fields to add to the header line."""

Speak = Callable[[str, float], Answer]
"""A function that synthesises a text at a given rate, where 1 is the voice's normal rate."""

SpeakInParts = Callable[[str, float], Iterator[Answer]]
"""The same, yielding the audio in parts."""


def speech(
    samples: np.ndarray,
    sample_rate: int,
    word_ends: list[int] | None = None,
    *,
    more: bool = False,
    length: int | None = None,
) -> Answer:
    """Returns audio as an answer.

    - `word_ends`: the sample at which each word ends, or None if unknown.
    - `more`: whether another part follows; `length`: the number of samples in all parts.
    """
    known = len(samples) if length is None else length
    return samples, {"sample_rate": sample_rate, "word_ends": word_ends, "more": more, "length": known}


def serve(load: Callable[[], Speak | tuple[Speak, SpeakInParts]]) -> int:
    """Loads a voice, warms it up, and serves requests until standard input closes. Returns the exit code."""
    answers = answers_of_child(2)
    loaded = load()
    speak, in_parts = loaded if isinstance(loaded, tuple) else (loaded, None)
    speak("Ready.", 1.0)  # the first call is slow
    requests: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests,), name="requests", daemon=True).start()
    send_line(answers, {"ready": True})

    def send(head: dict[str, Any], numbers: np.ndarray) -> None:
        data = numbers.astype("<f4").tobytes()
        answers.write(json.dumps({**head, "bytes": len(data)}).encode() + b"\n" + data)
        answers.flush()

    while (asked := requests.get()) is not None:
        if "text" not in asked:
            continue  # a stop that came when all was said
        try:
            text, rate = asked["text"], asked.get("rate", 1.0)
            made = in_parts(text, rate) if in_parts is not None and asked.get("parts") else iter([speak(text, rate)])
            for numbers, head in made:
                send(head, numbers)
                if head.get("more") and not requests.empty():
                    send({"stopped": True}, np.zeros(0))
                    break
        except Exception as error:
            send({"error": f"{type(error).__name__}: {error}"}, np.zeros(0))
    return 0


def _read(requests: queue.SimpleQueue[dict[str, Any] | None]) -> None:
    # Unbuffered: a buffer that this thread is reading into would be locked while the process exits.
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as lines:
        for line in lines:
            requests.put(json.loads(line))
    requests.put(None)
