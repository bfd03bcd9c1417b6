"""The parts of echo cancellation, each on its own, and the simulated room."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from app.audio.echo.canceller import EchoCanceller
from app.audio.echo.known_path import KnownEchoPath
from app.audio.echo.store import EchoStore
from app.conversation.events import Processing
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.research.benches.room import echo_path
from tests.support.raising import raising
from tests.support.sounds import room
from tests.unit.audio.signals import app_speech


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
    canceller = EchoCanceller(Processing())
    canceller.load()
    assert canceller.cancels and not canceller.problem
    monkeypatch.setattr(canceller._loaded[1], "process", raising(RuntimeError("out of order")))
    near = room(0.08)
    assert canceller.process(near, near) is near
    assert "out of order" in canceller.problem and not canceller.cancels
    canceller.load()
    assert canceller.cancels and not canceller.problem
