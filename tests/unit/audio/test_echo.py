"""Echo cancellation, in simulated rooms: as a whole, and its parts; and the drift between two clocks."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from app.audio.devices.drift import DriftCompensatingSink
from app.audio.echo.cancelled_source import EchoCancelledSource
from app.audio.echo.canceller import EchoCanceller
from app.audio.echo.far_end_aligner import FarEndAligner
from app.audio.echo.known_path import KnownEchoPath, powers
from app.audio.echo.store import EchoStore
from app.audio.io.base import EndOfAudio, LeavesOutQuiet
from app.audio.io.clock_loop import ClockLoop
from app.conversation.events import Processing
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE
from app.research.benches.room import BLOCK, FADE, Room, echo_path
from tests.support.raising import raising
from tests.support.room_talks import frames
from tests.support.sounds import question
from tests.support.tables import cases
from tests.unit.audio.signals import app_speech, between, power, ratio_db

OFF = Processing(echo=False)


def _process(
    place: Room, speech: np.ndarray, processing: Processing | None = None, memory: EchoStore | None = None
) -> tuple[np.ndarray, EchoCancelledSource]:
    """Returns the processed sound while the app speaks: float32 (n,), and the source."""
    out, n = [], 0
    with EchoCancelledSource(place.source, place.tap, processing, memory) as source:
        while True:
            try:
                frame = source.read_frame(0.0)
            except EndOfAudio:
                return np.concatenate(out), source
            assert frame is not None and frame.shape == (FRAME_SAMPLES,) and frame.dtype == np.float32
            out.append(frame)
            place.sink.write(speech[n : n + FRAME_SAMPLES])
            n += FRAME_SAMPLES


@cases(
    "delay, attenuation, drift, rt60",
    (0.02, -6.0, -100.0, 0.3),
    pytest.param(0.08, -12.0, 100.0, 0.5, marks=pytest.mark.slow),
    pytest.param(0.25, -6.0, 100.0, 0.3, marks=pytest.mark.slow),
    pytest.param(0.04, -20.0, 0.0, 0.3, marks=pytest.mark.slow),
)
def test_echo_is_attenuated_by_25_db_after_two_s(delay: float, attenuation: float, drift: float, rt60: float) -> None:
    place = Room(
        frames(20), delay_seconds=delay, attenuation_db=attenuation, drift_ppm=drift, rt60=rt60, seed=5, keep=True
    )
    out, source = _process(place, app_speech(20))
    echo = np.concatenate(place.echo)
    noise = 10 ** (-65 / 10)
    for begin, end in ((2.2, 8), (8, 19)):
        part = between(begin, end)
        left = max(power(out[part]) - noise, 0.05 * noise)
        assert 10 * np.log10(power(echo[part]) / left) >= 25
    health = source.health
    assert health.erle_db is not None and health.erle_db >= 25 and not health.echo_remains


def test_muting_while_the_app_speaks_keeps_what_was_learned() -> None:
    place = Room(frames(16), delay_seconds=0.05, attenuation_db=-8.0, seed=5, keep=True)
    given = place.source.read_frame

    def muted_for_a_while(timeout: float) -> np.ndarray | None:
        frame = given(timeout)
        return np.zeros_like(frame) if frame is not None and 10.0 < place.now <= 13.0 else frame

    place.source.read_frame = muted_for_a_while  # type: ignore[method-assign]
    out, _ = _process(place, app_speech(16))
    echo = np.concatenate(place.echo)
    assert not out[between(10.08, 12.9)].any()
    part = between(13.1, 14.5)
    assert ratio_db(echo[part], out[part]) >= 25


def test_headphones_show_no_echo_and_pass_the_user() -> None:
    place = Room(frames(20), attenuation_db=None)
    user = question("103_2")
    for at in (5.0, 12.0):
        place.say(user, at)
    out, source = _process(place, app_speech(20))
    assert source.health.erle_db is None and not source.health.echo_remains
    # The user passes at the same level (WebRTC takes some 9 ms).
    begin = round(12.0 * SAMPLE_RATE)
    assert abs(ratio_db(out[begin : begin + len(user)], user)) < 2


def test_headphones_pass_every_frame_after_the_first_second() -> None:
    place = Room(frames(6), attenuation_db=None, keep=True)
    user = question("103_2")
    for at in (0.5, 3.5):
        place.say(user, at)
    out, _ = _process(place, app_speech(6))
    near = np.concatenate(place.near)
    same = (out == near).reshape(-1, FRAME_SAMPLES).all(axis=1)
    # In the first second a frame may resemble the first one of an echo.
    assert same[frames(1.2) :].all() and same.sum() >= len(same) - 2, np.flatnonzero(~same)


def test_noise_is_suppressed_on_headphones() -> None:
    place = Room(frames(6), attenuation_db=None, noise_dbfs=-45.0, keep=True)
    out, _ = _process(place, app_speech(6), Processing(noise=True))
    late = between(3, 6)
    assert power(out[late]) < 0.1 * power(np.concatenate(place.near)[late])


def test_taking_headphones_off_starts_cancellation() -> None:
    place = Room(frames(16), attenuation_db=-200.0, seed=5, moves_at=8.0, keep=True)
    place._later = Room(1, attenuation_db=-10.0, seed=5)._convolver
    out, _ = _process(place, app_speech(16))
    near = np.concatenate(place.near)
    assert np.array_equal(out[between(1, 8)], near[between(1, 8)])
    late = between(11, 16)
    assert ratio_db(near[late], out[late]) > 20


def test_learned_echo_path_is_used_in_the_next_session(tmp_path: Path) -> None:
    """Also if the devices start at other moments: the echo comes 7 ms later."""
    user = question("103_2")
    said = between(0.9, 2.9)
    processed = {}
    for session, seconds, delay in (("first", 4, 0.087), ("learning", 14, 0.08), ("second", 4, 0.087)):
        place = Room(frames(seconds), delay_seconds=delay, attenuation_db=-6.0, drift_ppm=-100.0, seed=5)
        if session != "learning":
            place.say(user, 0.9)
        store = EchoStore(tmp_path / "user" / "echoes.npz")
        store.pair = lambda: "microphone < loudspeaker"
        processed[session], _ = _process(place, app_speech(seconds), memory=store)
    known = EchoStore(tmp_path / "user" / "echoes.npz").get("microphone < loudspeaker")
    assert known is not None and known.drift_ppm == pytest.approx(-100.0, abs=10)
    hop = SAMPLE_RATE // 50
    expected = powers(user[: said.stop - said.start], hop)
    loud = expected > 10**-2.5 * expected.max()
    lost = {name: int((loud & (powers(one[said], hop) < 10**-0.8 * expected)).sum()) for name, one in processed.items()}
    assert lost["second"] <= 0.1 * loud.sum() and 2 * lost["second"] <= lost["first"], lost


def test_remaining_echo_is_reported_without_cancellation() -> None:
    place = Room(frames(16), attenuation_db=-10.0)
    _, source = _process(place, app_speech(16), OFF)
    assert source.health.echo_remains
    assert source.health.erle_db is not None and abs(source.health.erle_db) < 3


def test_without_processing_no_bit_changes() -> None:
    place = Room(frames(3), attenuation_db=-10.0, keep=True)
    out, _ = _process(place, app_speech(3), OFF)
    assert np.array_equal(out, np.concatenate(place.near))


def test_changing_the_processing_keeps_the_alignment() -> None:
    place = Room(frames(24), attenuation_db=-10.0, keep=True)
    speech, out, n = app_speech(24), [], 0
    with EchoCancelledSource(place.source, place.tap, OFF) as source:
        for index in range(frames(24)):
            if index == frames(8):
                source.set_processing(Processing(echo=True, noise=True))
                source._canceller.load()  # as its thread does
            out.append(source.read_frame(0.0))
            place.sink.write(speech[n : n + FRAME_SAMPLES])
            n += FRAME_SAMPLES
        assert source._aligner.alignments == 1
    processed, near = np.concatenate(out), np.concatenate(place.near)
    early, late = (between(a, b) for a, b in ((2, 8), (12, 23)))
    assert abs(ratio_db(processed[early], near[early])) < 0.5
    assert ratio_db(near[late], processed[late]) > 25


def test_missing_package_is_reported_and_sound_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "livekit.rtc.apm", None)
    place = Room(frames(1), keep=True)
    out, source = _process(place, app_speech(1))
    assert "could not be loaded" in source.problem and "headphones" in source.problem
    assert np.array_equal(out, np.concatenate(place.near))


@pytest.mark.parametrize("ppm", [-300.0, pytest.param(100.0, marks=pytest.mark.slow)])
def test_drift_is_estimated_within_seconds(ppm: float) -> None:
    place = Room(frames(20), drift_ppm=ppm, seed=2)
    _, source = _process(place, app_speech(20))
    assert source.health.drift_ppm == pytest.approx(ppm, abs=10)


def test_echo_path_of_another_room_or_broken_file_is_not_used(tmp_path: Path) -> None:
    far = app_speech(3)
    near = np.convolve(far, echo_path(0.3, -6.0, 3))[: len(far)].astype(np.float32)
    part = slice(SAMPLE_RATE, SAMPLE_RATE + 3 * FRAME_SAMPLES)
    responses = {seed: echo_path(0.3, -6.0, seed).astype(np.float32) for seed in (3, 4)}
    fits = {seed: KnownEchoPath(one, 0.0).fit(near[part], far[: part.stop]) for seed, one in responses.items()}
    assert fits[3] is not None and fits[4] is None
    path = tmp_path / "echoes.npz"
    store = EchoStore(path)
    for number in range(12):
        store.put(f"pair {number}", KnownEchoPath(np.full(11520, 0.001 * number, np.float32), 10.0 * number))
    store.save()
    again = EchoStore(path)
    assert again.get("pair 2") is None and again.get("pair 11").drift_ppm == pytest.approx(110.0)
    path.write_bytes(path.read_bytes()[:1000])
    assert EchoStore(path).get("pair 11") is None


def test_problem_is_cleared_when_processing_is_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "livekit.rtc.apm", None)
    canceller = EchoCanceller(Processing())
    canceller.load()
    assert canceller.problem
    canceller.set_processing(Processing(echo=False, noise=False, gain=False))
    canceller.load()  # as its thread does
    assert canceller.problem == ""


def test_failing_canceller_is_reported_and_sound_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    canceller = EchoCanceller(Processing(echo=True, noise=True))
    canceller.load()
    assert canceller.cancels and not canceller.problem
    near = np.full(FRAME_SAMPLES, 0.1, np.float32)
    assert not np.array_equal(canceller.process_without_echo(near), near)
    monkeypatch.setattr("app.audio.echo.canceller._Module.process", raising(RuntimeError("no memory")))
    assert np.array_equal(canceller.process_without_echo(near), near)
    assert "no memory" in canceller.problem and not canceller.cancels
    assert canceller.process(near, near) is near, "it is off from then on"
    monkeypatch.undo()
    canceller.load()
    assert canceller.cancels and not canceller.problem


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


def _stalled(stall: int, quiet_share: float, *, at: int = 250, noise: float = 0.0, quiet: float = 0.0) -> list[int]:
    """Returns the length of the queue before each frame of a front-end that writes without pause, as KAME does, and is
    held up for `stall` frames at `at`. In its quiet frames, it writes noise of this RMS. `quiet`: see `LeavesOutQuiet`.
    """
    count = round(60 / FRAME_SECONDS)
    room = Room(count, attenuation_db=None)
    sink = DriftCompensatingSink(room.sink)
    assert isinstance(sink, LeavesOutQuiet)
    sink.quiet = quiet or sink.quiet
    rng = np.random.default_rng(3)
    loud = np.full(FRAME_SAMPLES, 0.1, np.float32)
    soft = (rng.standard_normal(FRAME_SAMPLES) * noise).astype(np.float32)
    queued, owed, written = [], 0, 0
    with sink:
        for n in range(count):
            room.next_frame()
            queued.append(sink.queued)
            owed += 1
            if at <= n < at + stall:
                continue
            for _ in range(owed):
                sink.write(soft if rng.random() < quiet_share else loud)
                written += FRAME_SAMPLES
            owed = 0
            assert sink.written == written == sink.played + sink.queued + sink.flushed + sink.overruns
    return queued


@pytest.mark.parametrize("stall", [2, 5, 10])
@pytest.mark.parametrize("quiet_share", [0.3, 0.05])
def test_the_voice_is_no_later_than_before_20_s_after_a_stall(stall: int, quiet_share: float) -> None:
    queued = _stalled(stall, quiet_share)
    before, after = np.mean(queued[150:250]), np.mean(queued[250 + 250 : 250 + 350])
    assert max(queued[255:]) > before + (stall - 1) * FRAME_SAMPLES * 0.5, "the stall made it late"
    assert after <= before + 1.5 * FRAME_SAMPLES


def test_the_noise_of_a_model_is_left_out_as_far_as_the_sink_is_told() -> None:
    before = np.mean(_stalled(0, 0.3, noise=0.006)[150:250])
    assert np.mean(_stalled(10, 0.3, noise=0.006)[500:]) > before + 8 * FRAME_SAMPLES, "it may be a soft sound"
    assert np.mean(_stalled(10, 0.3, noise=0.006, quiet=0.01)[500:]) <= before + 1.5 * FRAME_SAMPLES
    assert np.mean(_stalled(10, 0.3, noise=0.015, quiet=0.01)[500:]) > before + 8 * FRAME_SAMPLES


@pytest.mark.parametrize("stall", [10, 40])
def test_a_voice_that_begins_late_catches_up_too(stall: int) -> None:
    """The first frames come in a burst, as when what was said while the models were loading is caught up with."""
    queued = _stalled(stall, 0.3, at=1)
    assert max(queued) >= stall / 2 * FRAME_SAMPLES, "the burst made it late"
    assert max(queued[500:]) <= DriftCompensatingSink.MOST_USUAL + 2 * FRAME_SAMPLES
