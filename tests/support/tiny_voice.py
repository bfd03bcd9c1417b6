"""The child process of a voice that loads no model: every text is the same beep.

With a folder as its argument, it ends when it is to speak while a file called “broken” is there.
"""

import sys
from pathlib import Path

import numpy as np

from app.tts.child_voice import Speaker
from app.tts.worker import Answer, serve, speech

TINY_VOICE = Speaker("tiny", "tests.support.tiny_voice", (), Path(__file__))


def speak(text: str, rate: float) -> Answer:
    """Returns a fifth of a second of a tone."""
    if any(Path(folder, "broken").exists() for folder in sys.argv[1:]):
        sys.exit(3)
    return speech(0.1 * np.sin(np.arange(4800) * 0.1, dtype=np.float32), 24_000)


if __name__ == "__main__":
    raise SystemExit(serve(lambda: speak))
