"""The child process of a voice that loads no model: every text is the same beep, and in parts one beep a word. With a
folder as its argument, it ends when it is to speak while a file called “broken” is there."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from app.tts.child_voice import Speaker
from app.tts.worker import Answer, serve, speech

BEEP = 0.1 * np.sin(np.arange(4800) * 0.1, dtype=np.float32)
TINY_VOICE = Speaker("tiny", "tests.support.tiny_voice", (), Path(__file__))


def speak(text: str, rate: float) -> Answer:
    """Returns a fifth of a second of a tone."""
    if any(Path(folder, "broken").exists() for folder in sys.argv[1:]):
        sys.exit(3)
    return speech(BEEP, 24_000)


def speak_in_parts(text: str, rate: float) -> Iterator[Answer]:
    """Yields a fifth of a second for each word. Ends in mid-sentence at the word "end", and waits at "wait"."""
    words = text.split()
    ends = [4800 * (place + 1) for place in range(len(words))]
    for place, word in enumerate(words):
        if word == "end":
            sys.exit(3)
        if word == "wait":
            time.sleep(0.4)
        yield speech(BEEP, 24_000, ends, more=place < len(words) - 1, length=4800 * len(words))


if __name__ == "__main__":
    raise SystemExit(serve(lambda: (speak, speak_in_parts)))
