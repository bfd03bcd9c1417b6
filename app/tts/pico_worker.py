"""The child process that runs Pico, which is part of the downloaded `py_nanotts` package.

The protocol between parent and child is documented in `app.tts.worker`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np

from app.tts.worker import Answer, Speak, serve, speech

SAMPLE_RATE = 16_000


def load(package: Path, voice: str) -> Speak:
    """Loads the voice named `voice` from the package folder `package`."""
    sys.path.append(str(package.parent))
    from py_nanotts import NanoTTS

    engine = NanoTTS()

    def speak(text: str, rate: float) -> Answer:
        plain = re.sub(r"[<>&]", " ", text)  # Pico would parse these as markup
        sound = engine.speak(plain, voice=voice, speed=rate)
        return speech(np.frombuffer(sound, "<i2").astype(np.float32) / 32768, SAMPLE_RATE)

    return speak


if __name__ == "__main__":
    raise SystemExit(serve(lambda: load(Path(sys.argv[1]).absolute(), sys.argv[2])))
