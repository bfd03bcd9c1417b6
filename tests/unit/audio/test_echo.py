"""Echo cancellation, in simulated rooms: as a whole, and its parts."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from app.audio.echo.cancelled_source import EchoCancelledSource
from app.audio.echo.canceller import EchoCanceller
from app.audio.echo.known_path import KnownEchoPath, powers
from app.audio.echo.store import EchoStore
from app.audio.io.base import EndOfAudio
from app.conversation.events import Processing
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.research.benches.room import Room, echo_path
from tests.support.raising import raising
from tests.support.room_talks import frames
from tests.support.sounds import question
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


@pytest.mark.parametrize(
    ("delay", "attenuation", "drift", "rt60"),
    [
        (0.02, -6.0, -100.0, 0.3),
        pytest.param(0.08, -12.0, 100.0, 0.5, marks=pytest.mark.slow),
        pytest.param(0.25, -6.0, 100.0, 0.3, marks=pytest.mark.slow),
        pytest.param(0.04, -20.0, 0.0, 0.3, marks=pytest.mark.slow),
    ],
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
    lost = {
        name: int((loud & (powers(sound[said], hop) < 10**-0.8 * expected)).sum()) for name, sound in processed.items()
    }
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
