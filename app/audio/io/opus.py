"""Encodes and decodes Ogg-Opus, mono at 24 kHz, the audio format of Moshi's protocol.

An 80 ms frame becomes about 330 bytes (33 kbit/s), and the codec adds a delay of 6.5 ms.
"""

from __future__ import annotations

import numpy as np
import sphn

from app.conversation.frame import SAMPLE_RATE
from app.untrusted.limits import VOICE_MESSAGE, in_words

MOST_SECONDS = 10.0
"""Maximum length of the audio in one message; otherwise, a few hundred bytes could decode to minutes."""
SLICE_BYTES = 512
"""Size of the pieces in which messages are decoded. Three bytes can represent 120 ms, so a piece and the rest of the
previous page decode to at most a minute of audio, whereas a whole message could decode to an hour."""


class OpusError(ValueError):
    """The data isn't valid Ogg-Opus or exceeds a limit. `str(error)` is a clause for use in a message."""


class OpusEncoder:
    """Encodes frames as a stream of pages."""

    def __init__(self) -> None:
        self._writer = sphn.OpusStreamWriter(SAMPLE_RATE)

    def push(self, frame: np.ndarray) -> bytes:
        """Returns the pages completed by `frame`, float32 (1920,). The first ones include the headers."""
        pages: bytes = self._writer.append_pcm(np.ascontiguousarray(frame, np.float32))
        return pages


class OpusDecoder:
    """Decodes a stream of pages, which may be split at any byte."""

    def __init__(self) -> None:
        self._reader = sphn.OpusStreamReader(SAMPLE_RATE)
        self._unfinished = 0  # bytes since the last audio

    def push(self, data: bytes) -> np.ndarray:
        """Returns the audio completed by `data`: float32 (n,) in [-1, 1]. Raises OpusError."""
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
        except Exception as error:  # the library raises ValueError and possibly other, undocumented errors
            raise OpusError("it is no Ogg-Opus") from error
        self._unfinished = 0 if len(sound) else self._unfinished + len(data)
        if self._unfinished > 2 * VOICE_MESSAGE.bytes:
            raise OpusError("it goes on without a sound")
        return sound
