"""Packs and unpacks sound as Ogg-Opus, mono at 24 kHz, the form in which Moshi's protocol carries it.

One frame of 80 ms becomes some 330 bytes, 33 kbit/s; the codec delays the sound by 6.5 ms.
"""

from __future__ import annotations

import numpy as np
import sphn

from app.conversation.frame import SAMPLE_RATE

MOST_SECONDS = 10.0
"""The longest sound that one message may hold: a few hundred bytes can claim to be minutes."""


class OpusError(ValueError):
    """What came is no Ogg-Opus; `str(error)` is a clause."""


class OpusEncoder:
    """Makes one stream of pages from whole frames."""

    def __init__(self) -> None:
        self._writer = sphn.OpusStreamWriter(SAMPLE_RATE)

    def push(self, frame: np.ndarray) -> bytes:
        """Returns the pages that `frame` completes; the first also hold the headers. `frame`: float32 (1920,)."""
        pages: bytes = self._writer.append_pcm(np.ascontiguousarray(frame, np.float32))
        return pages


class OpusDecoder:
    """Reads one stream of pages, which may be divided anywhere."""

    def __init__(self) -> None:
        self._reader = sphn.OpusStreamReader(SAMPLE_RATE)

    def push(self, data: bytes) -> np.ndarray:
        """Returns the sound that `data` completes: float32 (n,) in [-1, 1]. Raises OpusError."""
        try:
            sound = np.asarray(self._reader.append_bytes(data), np.float32).reshape(-1)
        except Exception as error:  # the library raises ValueError, and says nothing of what else
            raise OpusError("it is no Ogg-Opus") from error
        if len(sound) > MOST_SECONDS * SAMPLE_RATE:
            raise OpusError(f"one message holds more than {MOST_SECONDS:g} s of sound")
        return np.clip(np.nan_to_num(sound), -1.0, 1.0)
