"""Sound as Ogg-Opus: there and back, and what a hostile message may cost."""

from __future__ import annotations

import numpy as np
import pytest

from app.audio.io.opus import MOST_SECONDS, SLICE_BYTES, OpusDecoder, OpusEncoder, OpusError
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.untrusted.limits import VOICE_MESSAGE


def pages(frames: int) -> list[bytes]:
    encoder = OpusEncoder()
    samples = 0.3 * np.sin(2 * np.pi * 440 * np.arange(frames * FRAME_SAMPLES) / SAMPLE_RATE)
    return [encoder.push(frame.astype(np.float32)) for frame in samples.reshape(frames, FRAME_SAMPLES)]


def test_sound_is_the_same_however_its_pages_come() -> None:
    sent = pages(40)
    whole = OpusDecoder().push(b"".join(sent))
    decoder = OpusDecoder()
    assert len(b"".join(sent)) > 4 * SLICE_BYTES
    np.testing.assert_array_equal(whole, np.concatenate([decoder.push(page) for page in sent]))
    assert len(whole) > 38 * FRAME_SAMPLES and np.sqrt(np.mean(whole[FRAME_SAMPLES:] ** 2)) > 0.15


class _Reader:
    """Stands for the library: each piece that it gets becomes `seconds` of sound."""

    def __init__(self, seconds: float) -> None:
        self.got: list[int] = []
        self._sound = np.zeros(round(seconds * SAMPLE_RATE), np.float32)

    def append_bytes(self, data: bytes) -> np.ndarray:
        self.got.append(len(data))
        return self._sound


def test_a_message_that_becomes_too_long_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder, reader = OpusDecoder(), _Reader(4.0)
    monkeypatch.setattr(decoder, "_reader", reader)
    with pytest.raises(OpusError, match=f"more than {MOST_SECONDS:g} s"):
        decoder.push(bytes(VOICE_MESSAGE.bytes))
    assert reader.got == [SLICE_BYTES] * 3


def test_a_message_of_too_many_bytes_is_not_read_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder, reader = OpusDecoder(), _Reader(0.0)
    monkeypatch.setattr(decoder, "_reader", reader)
    with pytest.raises(OpusError, match="longer than 64 KB"):
        decoder.push(bytes(VOICE_MESSAGE.bytes + 1))
    assert not reader.got
    with pytest.raises(OpusError, match="without a sound"):
        for _ in range(3):
            decoder.push(bytes(VOICE_MESSAGE.bytes))
