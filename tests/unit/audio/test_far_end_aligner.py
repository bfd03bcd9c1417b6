"""The far end stays aligned with the microphone's frames."""

from __future__ import annotations

import numpy as np
import pytest

from app.audio.echo.far_end_aligner import FarEndAligner
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.research.benches.room import BLOCK


class NumberedTap:
    """A tap in which sample number n has the value n, so that positions can be read off."""

    rate, generation = SAMPLE_RATE, 0

    def __init__(self) -> None:
        self.played = 0
        self.waiting = np.zeros(0, np.float32)

    def play(self, blocks: int) -> None:
        more = np.arange(self.played, self.played + blocks * BLOCK, dtype=np.float32)
        self.played += blocks * BLOCK
        self.waiting = np.concatenate([self.waiting, more])

    def take(self) -> np.ndarray:
        taken, self.waiting = self.waiting, self.waiting[:0]
        return taken


def test_late_block_keeps_the_alignment() -> None:
    tap = NumberedTap()
    aligner, seen = FarEndAligner(tap), []
    for n in range(40):
        tap.play({20: 7, 21: 9}.get(n, 8))
        seen.append(float(aligner.next_frame()[1900]) - n * FRAME_SAMPLES)
    assert aligner.alignments == 1
    # (The resampler's gain is not exactly 1, and the values of this tap are positions.)
    assert np.ptp(seen[5:20]) < 10 and abs(seen[30] - seen[19]) < 10


@pytest.mark.parametrize("begun", [False, True], ids=["whole frames", "one that was begun, and the next"])
def test_samples_that_nobody_read_are_skipped_in_the_far_end(begun: bool) -> None:
    tap = NumberedTap()
    aligner = FarEndAligner(tap)
    for n in range(30):
        tap.play(8)
        if n == 20 and begun:
            tap.play(4)
            assert aligner.take_early(480) is not None and aligner.take_early(480) is not None
            tap.play(12)
            aligner.drop(2)
        elif n == 20:
            tap.play(16)
            aligner.skip(2 * FRAME_SAMPLES)
        place = float(aligner.next_frame()[1900]) - n * FRAME_SAMPLES
        if n == 19:
            before = place
    assert abs(place - before - 2 * FRAME_SAMPLES) < 10 and aligner.alignments == 1


def test_loudspeaker_that_stops_is_aligned_again() -> None:
    tap = NumberedTap()
    aligner = FarEndAligner(tap)
    for n in range(40):
        tap.play(0 if 10 <= n < 25 else 8)
        frame = aligner.next_frame()
    newest = tap.played - float(frame[-1])
    assert 0 < newest < 0.04 * SAMPLE_RATE


@pytest.mark.parametrize("rate", [24_000, 48_000])
def test_far_end_by_hops_is_the_same_as_by_frames(rate: int) -> None:
    """Also if blocks come late: samples that have not arrived are neither taken early nor replaced."""
    noise = np.random.default_rng(4).standard_normal(rate * 8).astype(np.float32)

    def far(by_hops: bool) -> tuple[np.ndarray, int]:
        tap, aligner_out, ahead, n = NumberedTap(), [], 0, 0
        tap.rate = rate
        aligner = FarEndAligner(tap)
        for frame in range(90):
            for quarter in range(4):
                count = 0 if frame % 10 == 9 and quarter == 1 else rate // 50
                count += rate // 50 if frame % 10 == 9 and quarter == 2 else 0  # a block comes late
                tap.waiting = np.concatenate([tap.waiting, noise[n : n + count]])
                n += count
                if by_hops and quarter < 3 and (hop := aligner.take_early(480)) is not None:
                    aligner_out.append(hop)
                    ahead += 1
            aligner_out.append(aligner.next_frame())
        assert aligner.alignments == 1
        return np.concatenate(aligner_out), ahead

    (frames_only, _), (hops, ahead) = far(False), far(True)
    assert len(hops) == len(frames_only) and ahead >= 90 * 3 - 60
    assert np.abs(hops - frames_only).max() < 0.02
