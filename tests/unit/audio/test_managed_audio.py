"""The source and the sink that outlive devices: silence, counters, pauses, mute."""

from __future__ import annotations

import threading
import time

import numpy as np

from app.audio.devices.managed_source import ManagedSource
from app.audio.devices.manager import DeviceManager
from tests.unit.audio.audio_rig import API, HEADSET, SPEAKER, AudioRig, notices_of, session, wait_until


def test_without_a_microphone_silence_comes_in_real_time(rig: AudioRig) -> None:
    with session() as devices:
        wait_until(lambda: (devices.source.read_frame(1.0) == 0.25).all())
        rig.plug(SPEAKER, default=(-1, 0))
        rig.lose("input")
        generation = devices.source.generation
        begun, frames = time.monotonic(), []
        while time.monotonic() - begun < 1.5:
            frame = devices.source.read_frame(0.2)
            frames += [frame] if frame is not None else []
        assert 16 <= len(frames) <= 21 and not frames[-1].any()
        assert devices.source.generation > generation
        (lost,) = [*devices.notices()] or notices_of(devices, 1)
        assert (lost.change, lost.name) == ("lost", "")
        assert devices.sink.ready


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


def test_mute_zeroes_waiting_samples(rig: AudioRig) -> None:
    devices = DeviceManager("", "")
    with devices.source as source:
        wait_until(lambda: source.backlog >= 2)
        devices.source.muted = True
        assert not any(source.read_frame(1.0).any() for _ in range(4))
        microphone = source.microphone
        devices.source.muted = False
        while not (frame := source.read_frame(1.0)).all():
            pass
        assert (frame == 0.25).all() and microphone is source.microphone


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
