"""Packs and unpacks sound as Ogg-Opus, mono at 24 kHz, the form in which Moshi's protocol carries it.

One frame of 80 ms becomes some 330 bytes, 33 kbit/s; the codec delays the sound by 6.5 ms.
"""

from __future__ import annotations

import numpy as np
import sphn

from app.conversation.frame import SAMPLE_RATE
from app.untrusted.limits import VOICE_MESSAGE, in_words

MOST_SECONDS = 10.0
"""The longest sound that one message may hold: a few hundred bytes can claim to be minutes."""
SLICE_BYTES = 512
"""The library gets a message in pieces of this size: three bytes can claim to be 120 ms, so that a piece and the rest
of a page before it become a minute of sound at most, and a whole message could become an hour."""


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
        self._unfinished = 0  # bytes since the last sound

    def push(self, data: bytes) -> np.ndarray:
        """Returns the sound that `data` completes: float32 (n,) in [-1, 1]. Raises OpusError."""
        if len(data) > VOICE_MESSAGE.bytes:
            raise OpusError(f"one message is longer than {in_words(VOICE_MESSAGE.bytes)}")
        sounds, length = [np.zeros(0, np.float32)], 0
        for start in range(0, len(data), SLICE_BYTES):
            sound = self._read(data[start : start + SLICE_BYTES])
            length += len(sound)
            if length > MOST_SECONDS * SAMPLE_RATE:
                raise OpusError(f"one message holds more than {MOST_SECONDS:g} s of sound")
            sounds.append(sound)
        return np.clip(np.nan_to_num(np.concatenate(sounds)), -1.0, 1.0)

    def _read(self, data: bytes) -> np.ndarray:
        try:
            sound = np.asarray(self._reader.append_bytes(data), np.float32).reshape(-1)
        except Exception as error:  # the library raises ValueError, and says nothing of what else
            raise OpusError("it is no Ogg-Opus") from error
        self._unfinished = 0 if len(sound) else self._unfinished + len(data)
        if self._unfinished > 2 * VOICE_MESSAGE.bytes:
            raise OpusError("it goes on without a sound")
        return sound
