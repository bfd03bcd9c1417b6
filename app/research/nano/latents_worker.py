"""The child process that computes a Piper voice's latents, the input of its decoder.

Piper is GPL-3.0-or-later, so it runs as a separate program. The protocol between parent and child is documented in
`app.tts.worker`. The data are the latents, shape (N, 192), and the header line also contains `words`, each word's
half-open (start, end) range of rows.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from app.research.nano.codec_layout import LATENT
from app.tts.piper_worker import Encoder
from app.tts.worker import Answer, Speak, serve


def load(model: Path) -> Speak:
    """Loads the voice in the file `model`, without its decoder."""
    encoder = Encoder(model)

    def speak(text: str, rate: float) -> Answer:
        latents = encoder.encode(text, 1 / rate)
        if not latents.words:
            return np.zeros((0, LATENT), np.float32), {"words": []}
        return latents.rows.T, {"words": latents.words}

    return speak


if __name__ == "__main__":
    raise SystemExit(serve(lambda: load(Path(sys.argv[1]).absolute())))
