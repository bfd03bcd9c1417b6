"""The parts of echo cancellation, each on its own, and the simulated room."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import numpy as np
import pytest

from app.audio.echo.adaptive_filter import AdaptiveFilter
from app.audio.echo.cancelled_source import EchoMeter
from app.audio.echo.canceller import EchoCanceller
from app.audio.echo.known_path import KnownEchoPath
from app.audio.echo.residual_gate import ResidualEchoGate
from app.audio.echo.store import EchoStore
from app.conversation.events import Processing
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.research.benches.room import Room, echo_path
from tests.support.raising import raising
from tests.support.room_talks import frames
from tests.support.sounds import question, room
from tests.unit.audio.signals import app_speech, between, ratio_db


def _through(linear: AdaptiveFilter, near: np.ndarray, far: np.ndarray) -> np.ndarray:
    steps = range(0, len(near) - FRAME_SAMPLES + 1, FRAME_SAMPLES)
    return np.concatenate([linear.process(near[n : n + FRAME_SAMPLES], far[n : n + FRAME_SAMPLES]) for n in steps])


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
    canceller.wait_until_loaded()
    assert canceller.problem == ""


def test_failing_canceller_is_reported_and_sound_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    canceller = EchoCanceller(Processing())
    canceller.load()
    assert canceller.cancels and not canceller.problem
    monkeypatch.setattr(canceller._loaded[1], "process", raising(RuntimeError("out of order")))
    near = room(0.08)
    assert canceller.process(near, near) is near
    assert "out of order" in canceller.problem and not canceller.cancels
    canceller.load()
    assert canceller.cancels and not canceller.problem


def test_canceller_prints_and_logs_nothing(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    canceller = EchoCanceller(Processing(True, True, True))
    with caplog.at_level(logging.DEBUG):
        canceller.load()
        canceller.process(room(0.08), room(0.08))
    printed = capfd.readouterr()
    assert printed.out == printed.err == "" and not caplog.records


@pytest.mark.parametrize("late", [pytest.param(90, marks=pytest.mark.slow), 330, 480, 5000])
def test_filter_removes_the_echo_and_preserves_the_user(late: int) -> None:
    """Also if the loud part of the echo spans two partitions (480 samples)."""
    far = app_speech(16)
    echo = np.convolve(far, echo_path(0.3, -6.0, 3))[: len(far)]
    echo = np.concatenate([np.zeros(late), echo])[: len(far)].astype(np.float32)
    user = np.zeros_like(far)
    said = question("103_2")
    user[12 * SAMPLE_RATE : 12 * SAMPLE_RATE + len(said)] = said
    left = _through(AdaptiveFilter(), echo + user + room(16), far)
    alone, both = between(8, 12), slice(12 * SAMPLE_RATE, 12 * SAMPLE_RATE + len(said))
    assert ratio_db(echo[alone], left[alone]) >= 15
    both = slice(both.start, len(left) if both.stop > len(left) else both.stop)
    assert ratio_db(user[both], left[both] - user[both]) >= 12


def test_filter_changes_nothing_without_far_end() -> None:
    near = question("103_2")[:FRAME_SAMPLES]
    assert AdaptiveFilter().process(near, np.zeros(FRAME_SAMPLES, np.float32)) is near


def test_gate_changes_nothing_while_the_loudspeaker_is_silent() -> None:
    gate, silence = ResidualEchoGate(), np.zeros(FRAME_SAMPLES, np.float32)
    for n in range(5):
        frame = question("103_2")[n * FRAME_SAMPLES : (n + 1) * FRAME_SAMPLES]
        assert gate.apply(frame, silence, frame) is frame


def test_meter_reports_no_echo_in_double_talk_on_headphones() -> None:
    meter = EchoMeter()
    far, user = app_speech(30), np.tile(question("141_2"), 9)[: 30 * SAMPLE_RATE] + room(30)
    for n in range(0, len(far) - FRAME_SAMPLES, FRAME_SAMPLES):
        meter.update(user[n : n + FRAME_SAMPLES], far[n : n + FRAME_SAMPLES], user[n : n + FRAME_SAMPLES])
        assert not meter.echo_remains


@pytest.mark.parametrize("attenuation", [-6.0, -20.0])
def test_simulated_room_has_its_level_and_reverberation_time(attenuation: float) -> None:
    path = echo_path(0.3, attenuation, 1)
    assert 10 * np.log10(np.sum(path**2)) == pytest.approx(attenuation)
    tail = np.cumsum(path[::-1] ** 2)[::-1]  # Schroeder's backward integral (J. Acoust. Soc. Am. 37, 1965)
    early, late = (int(np.argmax(10 * np.log10(tail / tail[500]) < -db)) for db in (5, 25))
    assert (late - early) / SAMPLE_RATE * 3 == pytest.approx(0.3, rel=0.15)


def test_simulated_room_delays_the_echo_by_its_clock() -> None:
    for ppm in (0.0, 100.0):
        place = Room(
            frames(20), delay_seconds=0.1, attenuation_db=-6.0, rt60=0.02, noise_dbfs=-120, drift_ppm=ppm, keep=True
        )
        click = np.zeros(FRAME_SAMPLES, np.float32)
        click[0] = 0.9
        for n in range(frames(20)):
            place.next_frame()
            place.sink.write(click if n == 240 else 0 * click + (1e-9 if n else 0))
        near, played = np.concatenate(place.near), np.concatenate(place.played)
        origin = int(np.argmax(np.abs(played)))
        assert int(np.argmax(np.abs(near))) == pytest.approx(origin / (1 + ppm * 1e-6) + 2400, abs=2)
