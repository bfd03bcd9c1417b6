"""Child process of `bench recognisers` that measures how long one recogniser takes to load and its memory.

`python -m app.research.benches.recogniser_load KEY LANGUAGE` prints one line of JSON. A process of its own keeps other
recognisers' memory out of the figure.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np


def main(argv: list[str]) -> int:
    """Loads the recogniser `argv[0]` for the language `argv[1]` and prints its figures."""
    from app.models.catalogue import find_model
    from app.platform.hardware import resident_bytes
    from app.stt import open_decoder
    from app.stt.streaming import RATE

    before, began = resident_bytes(), time.perf_counter()
    decoder = open_decoder(find_model(argv[0]), argv[1])
    decoder.decode(np.zeros(RATE, np.float32))
    took = time.perf_counter() - began
    held = resident_bytes() - before + getattr(decoder, "child_bytes", 0)
    print(json.dumps({"seconds": round(took, 2), "bytes": held}))
    decoder.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
