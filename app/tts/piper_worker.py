"""The child process that speaks with Piper: one line of JSON in, one clip out, until its input ends.

Piper is GPL-3.0-or-later and is run as a program of its own, apart from the app. Speaks to its parent
through standard input and output only: `{"text": …}` a line; back comes `{"rate": …, "bytes": …}` a
line and that many bytes of float32, or `{"error": …}`.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

import numpy as np

from app.onnx_models import import_onnxruntime, open_onnx

SEED = 20251002
"""Of the voice's random variation: the same texts in the same order are spoken the same way, run after run."""


def main(argv: list[str]) -> int:
    """Loads the voice at `argv[0]` (its .json beside it) and serves until standard input ends."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a library prints must not get into the stream of clips.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.suppress(OSError, AttributeError):
        os.nice(2)  # behind the frame loop, which must never be late
    from piper import PiperVoice, SynthesisConfig
    from piper.config import PiperConfig
    from piper.phonemize_espeak import ESPEAK_DATA_DIR

    model = Path(argv[0]).absolute()
    # Windows gives espeak-ng no file whose path has letters outside of the system's code page, such as a user's name
    # in another script, and misreads all beyond ASCII. From where its files lie their names are plain.
    os.chdir(ESPEAK_DATA_DIR.parent)
    import_onnxruntime().set_seed(SEED)
    session = open_onnx(model)  # one core is enough (RTF 0.07), and leaves one for everything else
    config = PiperConfig.from_dict(json.loads(model.with_name(model.name + ".json").read_text("utf-8")))
    voice = PiperVoice(session=session, config=config, espeak_data_dir=Path(ESPEAK_DATA_DIR.name))
    # Less of the voice's random variation: it reads more evenly, and the same way twice.
    manner = SynthesisConfig(noise_scale=0.4, noise_w_scale=0.5, volume=0.6)
    list(voice.synthesize("Ready.", manner))  # the first run is slow; have it before it matters
    out.write(json.dumps({"ready": True}).encode() + b"\n")
    out.flush()
    for line in sys.stdin.buffer:
        try:
            text = json.loads(line)["text"]
            chunks = [chunk.audio_float_array for chunk in voice.synthesize(text, manner)]
            samples = np.concatenate(chunks).astype("<f4") if chunks else np.zeros(0, "<f4")
            head = {"rate": config.sample_rate, "bytes": samples.nbytes}
        except Exception as error:
            samples, head = np.zeros(0, "<f4"), {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(head).encode() + b"\n")
        out.write(samples.tobytes())
        out.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
