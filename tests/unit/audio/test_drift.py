"""Drift between two clocks: the loop measures it, the sink compensates for it, inaudibly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from app.audio.devices.drift import DriftCompensatingSink
from app.audio.io.clock_loop import ClockLoop
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE
from app.research.benches.room import BLOCK, FADE, Room

QUICK = ((-300, 0.02), (20, 0.5), (100, 0.98))
"""Drifts and phases that are tried in the short test command too."""


@pytest.mark.parametrize(
    ("ppm", "phase"),
    [
        pytest.param(ppm, phase, marks=() if (ppm, phase) in QUICK else pytest.mark.slow)
        for ppm in (-300, -100, 20, 100, 300)
        for phase in (0.02, 0.5, 0.98)
    ],
)
def test_loop_measures_the_drift_despite_whole_blocks_and_late_threads(ppm: int, phase: float) -> None:
    rng = np.random.default_rng(1)
    loop, taken, wanted = ClockLoop(), 0.0, 700.0
    offsets, found = [], []
    for n in range(round(40 * 60 / FRAME_SECONDS)):
        exact = ((n + 1) * FRAME_SAMPLES + phase * BLOCK) * (1 + ppm * 1e-6)
        given = BLOCK * (math.floor(exact / BLOCK) + 1)
        taken = taken or given - wanted
        offsets.append(exact - taken)
        late = BLOCK * rng.integers(1, 3) if rng.random() < 0.01 else 0
        rate = loop.step(given - taken + late - wanted)
        assert abs(rate) <= 1000
        found.append(loop.drift_ppm)
        taken += FRAME_SAMPLES * (1 + rate * 1e-6)
    minute = round(60 / FRAME_SECONDS)
    assert found[minute] is None and found[10 * minute] is not None
    assert abs(found[-1] - ppm) <= 5
    # The queue's level stays within 20 ms while the drift is measured, 12 ms afterwards.
    assert np.ptp(offsets) <= 0.025 * SAMPLE_RATE
    assert np.ptp(offsets[15 * minute :]) <= 0.015 * SAMPLE_RATE


def _roughness(tone: np.ndarray, hertz: float) -> float:
    """The largest deviation of a sample from what its two neighbours predict for a pure tone, in dB below the tone."""
    tone = tone.astype(np.float64)
    error = tone[2:] + tone[:-2] - 2 * math.cos(2 * math.pi * hertz / SAMPLE_RATE) * tone[1:-1]
    return 20 * math.log10(np.abs(error).max() / np.abs(tone).max() + 1e-12)


class _Recording:
    """A sink that also keeps what was written to it."""

    def __init__(self, room: Room) -> None:
        self.inner = room.sink
        self.writes: list[np.ndarray] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    def write(self, samples: np.ndarray) -> None:
        self.writes.append(samples.copy())
        self.inner.write(samples)

    def pause_playback(self) -> None:
        self.inner.pause_playback()

    def resume_playback(self) -> None:
        self.inner.resume_playback()

    def __enter__(self) -> _Recording:
        return self

    def __exit__(self, *exc: object) -> None:
        return None


def _play(
    ppm: float, minutes: float, wave: np.ndarray | None = None
) -> tuple[DriftCompensatingSink, _Recording, list[int]]:
    count = round(minutes * 60 / FRAME_SECONDS)
    room = Room(count, attenuation_db=None, drift_ppm=ppm)
    recording = _Recording(room)
    sink, queued, played = DriftCompensatingSink(recording), [], 0  # type: ignore[arg-type]
    silence = np.zeros(FRAME_SAMPLES, np.float32)
    with sink:
        for n in range(count):
            room.next_frame()
            queued.append(sink.queued)
            sink.write(silence if wave is None else wave[n * FRAME_SAMPLES : (n + 1) * FRAME_SAMPLES])
            assert sink.written == sink.played + sink.queued + sink.flushed + sink.overruns
            assert sink.played >= played
            played = sink.played
    return sink, recording, queued


@pytest.mark.slow
@pytest.mark.parametrize("ppm", [-300.0, pytest.param(100.0, marks=pytest.mark.slow)])
def test_ten_minutes_without_pause_neither_run_empty_nor_grow_late(ppm: float) -> None:
    sink, recording, queued = _play(ppm, 10)
    assert sink.is_resampling and recording.inner.underruns == 0
    assert min(queued[25:]) > 0
    settled = np.array(queued[25:])
    assert np.ptp(settled) <= FRAME_SAMPLES
    # `played` stays true: it is what the device took, except for the drift.
    assert abs(sink.played - recording.inner.played * (1 - ppm * 1e-6)) < FRAME_SAMPLES


def test_without_drift_every_sample_passes_unchanged() -> None:
    noise = np.random.default_rng(2).standard_normal(round(120 / FRAME_SECONDS) * FRAME_SAMPLES).astype(np.float32)
    sink, recording, _ = _play(0.0, 2, noise)
    assert not sink.is_resampling
    assert np.array_equal(np.concatenate(recording.writes), noise)


def test_start_of_resampling_is_inaudible() -> None:
    seconds = 160
    tone = np.sin(2 * np.pi * 1000 * np.arange(seconds * SAMPLE_RATE) / SAMPLE_RATE).astype(np.float32)
    sink, recording, _ = _play(300.0, seconds / 60, tone)
    assert sink.is_resampling
    assert _roughness(np.concatenate(recording.writes), 1000) < -60


def test_flush_discards_what_the_resampler_holds_and_starts_over() -> None:
    sink, recording, _ = _play(300.0, 3)
    assert sink.is_resampling
    queued = sink.queued
    assert sink.flush() == queued and sink.queued == 0 and not sink.is_resampling
    assert sink.written == sink.played + sink.flushed
    sink.write(np.ones(FRAME_SAMPLES, np.float32))
    assert np.array_equal(recording.writes[-1], np.ones(FRAME_SAMPLES, np.float32))


def test_pause_is_passed_on_and_loses_nothing() -> None:
    sink, recording, _ = _play(300.0, 3)
    room, played = recording.inner._room, sink.played
    room._end += 8 * FRAME_SAMPLES
    sink.pause_playback()
    for _ in range(2):
        sink.write(np.ones(FRAME_SAMPLES, np.float32))
        room.next_frame()
    assert recording.inner.playback_pauses == 1 and sink.played - played <= FADE + 2
    sink.resume_playback()
    assert not sink.is_resampling, "the queue is longer after a pause: that is no drift"
    while sink.queued:
        room.next_frame()
    assert sink.flushed == 0 and sink.played == sink.written


def test_last_sample_is_played_at_the_end_of_speech() -> None:
    tone = np.sin(np.arange(round(160 / FRAME_SECONDS) * FRAME_SAMPLES) / 9).astype(np.float32)
    sink, recording, _ = _play(300.0, 160 / 60, tone)
    assert sink.is_resampling
    sink.write(np.zeros(0, np.float32))
    assert not sink.is_resampling
    assert abs(sink.queued - recording.inner.queued) <= 2  # what was played once stays played: rounded up
    assert abs(sum(map(len, recording.writes)) - len(tone) * (1 + 3e-4)) < FRAME_SAMPLES
    assert np.abs(np.concatenate(recording.writes)[-100:-2] - tone[-100:-2]).max() < 0.05


@pytest.mark.parametrize("stall", [2, 5, 10])
@pytest.mark.parametrize("quiet_share", [0.3, 0.05])
def test_the_voice_is_no_later_than_before_20_s_after_a_stall(stall: int, quiet_share: float) -> None:
    """A front-end that writes without pause, as KAME does, and is held up once."""
    count = round(60 / FRAME_SECONDS)
    room = Room(count, attenuation_db=None)
    sink = DriftCompensatingSink(room.sink)
    rng = np.random.default_rng(3)
    loud = np.full(FRAME_SAMPLES, 0.1, np.float32)
    quiet = np.zeros(FRAME_SAMPLES, np.float32)
    queued, owed, written = [], 0, 0
    with sink:
        for n in range(count):
            room.next_frame()
            queued.append(sink.queued)
            owed += 1
            if 250 <= n < 250 + stall:
                continue
            for _ in range(owed):
                sink.write(quiet if rng.random() < quiet_share else loud)
                written += FRAME_SAMPLES
            owed = 0
            assert sink.written == written == sink.played + sink.queued + sink.flushed + sink.overruns
    before, after = np.mean(queued[150:250]), np.mean(queued[250 + 250 : 250 + 350])
    assert max(queued[255:]) > before + (stall - 1) * FRAME_SAMPLES * 0.5, "the stall made it late"
    assert after <= before + 1.5 * FRAME_SAMPLES
