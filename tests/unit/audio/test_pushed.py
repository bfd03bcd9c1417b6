"""Sound that somebody else pushes: whole frames in order, at the pace of sound, and none lost to a slow network."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from app.audio.io.base import EndOfAudio
from app.audio.io.pushed import CATCH_UP_SECONDS, MOST_SECONDS, Pacer, PushedSource, SendingSink
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE


def passed(arrivals: list[float]) -> list[float]:
    """When frames pass that arrive at these times."""
    pacer, now, out = Pacer(), 0.0, []
    for at in arrivals:
        now = max(now, at)
        now += max(0.0, pacer.early(now))
        pacer.passed(now)
        out.append(now)
    return out


def test_frames_that_come_at_the_pace_of_sound_pass_at_once() -> None:
    arrivals = [10.0 + FRAME_SECONDS * n for n in range(200)]
    assert passed(arrivals) == pytest.approx(arrivals)


def test_a_file_that_comes_in_a_moment_passes_at_the_pace_of_sound() -> None:
    times = passed([10.0] * 100)
    assert times[-1] - times[0] == pytest.approx(99 * FRAME_SECONDS, rel=0.02)


def test_what_a_network_held_back_catches_up() -> None:
    arrivals = [10.0 + FRAME_SECONDS * n for n in range(100)]
    stalled = [max(at, 13.0) if 12.0 <= at < 13.0 else at for at in arrivals]
    times = passed(stalled)
    assert times[-1] == pytest.approx(arrivals[-1])
    long_stall = [max(at, 10.0 + 2 * CATCH_UP_SECONDS) if at > 10.0 else at for at in arrivals]
    assert passed(long_stall)[-1] < 10.0 + 2 * CATCH_UP_SECONDS + 100 * FRAME_SECONDS - CATCH_UP_SECONDS + 0.5


def test_pieces_become_frames_and_the_rest_waits() -> None:
    source = PushedSource("client", now=lambda: 0.0)
    sound = np.arange(FRAME_SAMPLES * 2 + 100, dtype=np.float32) / 1e4
    source.push(sound[:1000])
    assert source.read_frame(0.0) is None
    source.push(sound[1000:])
    first = source.read_frame(0.0)
    assert first is not None and np.array_equal(first, sound[:FRAME_SAMPLES])
    assert source.read_frame(0.0) is None  # it is too early for the second
    source.close()
    source._now = lambda: 1.0
    second = source.read_frame(0.0)
    assert second is not None and np.array_equal(second, sound[FRAME_SAMPLES : 2 * FRAME_SAMPLES])
    with pytest.raises(EndOfAudio):
        source.read_frame(0.0)


def test_a_client_that_sends_without_end_loses_its_oldest_sound() -> None:
    source = PushedSource("client", now=lambda: 0.0)
    source.push(np.zeros(round(3 * MOST_SECONDS * SAMPLE_RATE), np.float32))
    assert source.overruns == pytest.approx(2 * MOST_SECONDS * SAMPLE_RATE)


def test_a_reader_is_woken_by_sound_that_comes() -> None:
    source = PushedSource("client")
    threading.Timer(0.05, lambda: source.push(np.ones(FRAME_SAMPLES, np.float32))).start()
    began = time.perf_counter()
    frame = source.read_frame(5.0)
    assert frame is not None and frame.all() and time.perf_counter() - began < 2.0


def test_a_sink_hands_on_silence_too_and_counts_it() -> None:
    sent: list[np.ndarray] = []
    sink = SendingSink("client", sent.append)
    sink.write(np.zeros(FRAME_SAMPLES, np.float32))
    sink.write(np.zeros(0, np.float32))
    assert len(sent) == 1 and sink.written == sink.played == FRAME_SAMPLES and sink.flush() == 0
