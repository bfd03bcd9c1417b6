"""How much of a graphics card speech recognition takes, so that a front-end on the same card knows what is left."""

from __future__ import annotations

from app.models.locations import model_path
from app.stt.base import TranscriberError
from app.stt.selection import choose_recogniser
from app.stt.whisper_decoder import runs_on_card

WORKING_BYTES = 600_000_000
"""CTranslate2's context on the card, kernels and activations. An allowance, not a measurement."""


def recogniser_card_bytes(key: str, language: str) -> int:
    """Return the bytes of a graphics card that a talk's recogniser takes, weights in float16 as they lie on disk.

    0 where it runs on the processor, and where there is none, which the talk itself will say. `key`, `language`: as for
    `choose_recogniser`.
    """
    try:
        model = choose_recogniser(key, language)
        folder = model_path(model.key)
        if model.engine != "whisper" or not runs_on_card(folder):
            return 0
        return (folder / "model.bin").stat().st_size + WORKING_BYTES
    except (TranscriberError, OSError):
        return 0
