"""Sources around a source: silence, counters, pauses, mute, and sound that somebody else pushes."""

import threading
import time

import numpy as np
import pytest

from app.audio.devices.managed_source import ManagedSource
from app.audio.devices.manager import DeviceManager
from app.audio.io.pushed import CATCH_UP_SECONDS, MOST_SECONDS, Pacer, PushedSource
from app.conversation.frame import FRAME_SECONDS, SAMPLE_RATE
from tests.unit.audio.audio_rig import API, HEADSET, SPEAKER, AudioRig, session, wait_until


def test_samples_without_a_loudspeaker_count_as_flushed(rig: AudioRig) -> None:
    with session() as devices:
        sink = devices.sink
        sink.write(np.ones(48_000, np.float32))
        wait_until(lambda: sink.played)
        rig.plug(HEADSET, default=(0, -1))
        rig.lose("output")
        wait_until(lambda: not sink.ready and not sink.queued)
        sink.write(np.ones(1_920, np.float32))
        where = sink.playback()
        assert where.written == 49_920 == where.played + where.flushed and 0 < where.played < 48_000
        generation = devices.tap.generation
        rig.plug(HEADSET, SPEAKER, default=(0, 1))
        wait_until(lambda: sink.ready)
        devices.tap.take()
        assert devices.tap.generation > generation
        sink.write(np.ones(4_800, np.float32))
        wait_until(lambda: not sink.queued)
        assert sink.playback().played == where.played + 4_800
    assert sink.playback().written == 54_720


def test_lost_loudspeaker_ends_a_pause(rig: AudioRig) -> None:
    with session() as devices:
        sink = devices.sink
        sink.write(np.ones(48_000, np.float32))
        wait_until(lambda: sink.played)
        sink.pause_playback()
        time.sleep(0.05)
        played = sink.played
        time.sleep(0.1)
        assert sink.played == played and sink.queued and sink.ready
        old = sink.loudspeaker
        rig.plug(HEADSET, ("Bar", API, 0, 2), default=(0, 1))
        rig.lose("output")
        wait_until(lambda: sink.loudspeaker not in (None, old) and sink.ready)
        where = sink.playback()
        assert (where.played, where.queued, where.flushed) == (played, 0, 48_000 - played)
        sink.write(np.ones(4_800, np.float32))  # the next one is not paused
        wait_until(lambda: not sink.queued)
        sink.resume_playback()
        assert sink.played == played + 4_800 and sink.underruns == 0


def test_incomplete_frame_is_shown_and_muted(rig: AudioRig) -> None:
    devices = DeviceManager("", "")
    with devices.source as source:
        wait_until(lambda: source.read_frame(1.0)[0] == 0.25)
        for _ in range(3):
            wait_until(lambda: len(source.ahead()))
            begun = source.ahead()
            frame = source.read_frame(1.0)
            assert (frame[: len(begun)] == begun).all() and len(begun) < len(frame)
        devices.source.muted = True
        wait_until(lambda: len(source.ahead()))
        begun = source.ahead()
        assert not begun.any() and not source.read_frame(1.0).any()
        rig.plug(SPEAKER, default=(-1, 0))
        rig.lose("input")
        wait_until(lambda: source.read_frame(0.1) is not None and source.microphone is None)
        source.read_frame(1.0)
        assert not len(source.ahead()), "silence stands in: there is nothing to see of it"


def test_muting_while_attaching() -> None:
    source = ManagedSource(lambda: None, lambda: None)
    source.muted = True

    class Slow:
        name, overruns, _muted = "Mic", 0, False

        @property
        def muted(self) -> bool:
            return self._muted

        @muted.setter
        def muted(self, muted: bool) -> None:
            if muted:  # just now the user speaks again
                self.other = threading.Thread(target=lambda: setattr(source, "muted", False))
                self.other.start()
                self.other.join(0.1)
            self._muted = muted

    microphone = Slow()
    source.attach(microphone)
    microphone.other.join()
    assert not source.muted and not microphone.muted


def passed(arrivals: list[float]) -> list[float]:
    """When frames pass that arrive at these times."""
    pacer, now, out = Pacer(), 0.0, []
    for at in arrivals:
        now = max(now, at)
        now += max(0.0, pacer.early(now))
        pacer.passed(now)
        out.append(now)
    return out


def test_sound_passes_at_its_pace_and_what_a_network_held_back_catches_up() -> None:
    times = passed([10.0] * 100)
    assert times[-1] - times[0] == pytest.approx(99 * FRAME_SECONDS, rel=0.02)
    arrivals = [10.0 + FRAME_SECONDS * n for n in range(100)]
    stalled = [max(at, 13.0) if 12.0 <= at < 13.0 else at for at in arrivals]
    times = passed(stalled)
    assert times[-1] == pytest.approx(arrivals[-1])
    long_stall = [max(at, 10.0 + 2 * CATCH_UP_SECONDS) if at > 10.0 else at for at in arrivals]
    assert passed(long_stall)[-1] < 10.0 + 2 * CATCH_UP_SECONDS + 100 * FRAME_SECONDS - CATCH_UP_SECONDS + 0.5


def test_a_client_that_sends_without_end_loses_its_oldest_sound() -> None:
    source = PushedSource("client", now=lambda: 0.0)
    source.push(np.zeros(round(3 * MOST_SECONDS * SAMPLE_RATE), np.float32))
    assert source.overruns == pytest.approx(2 * MOST_SECONDS * SAMPLE_RATE)
