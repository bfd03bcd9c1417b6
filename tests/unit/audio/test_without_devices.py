"""A session that begins without a microphone, without a loudspeaker, or without both."""

import time

import numpy as np
import pytest

from app.audio.devices import manager, portaudio_library
from app.audio.devices.duplex import DeviceDuplexAudio
from app.audio.devices.managed_sink import SilentLoudspeaker
from app.audio.devices.manager import DeviceManager
from app.audio.io.base import DeviceError
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from tests.unit.audio.audio_rig import BUILT_IN, HEADSET, SPEAKER, AudioRig, notices_during, notices_of, wait_until

NO_MICROPHONE = "No microphone was found. You can type; KAME notices one that you plug in."
NO_LOUDSPEAKER = "No loudspeaker was found. You can read the answers; KAME notices one that you plug in."


def pluggable(rig: AudioRig, microphone: str = "", loudspeaker: str = "") -> DeviceManager:
    rig.fake.on_restart()  # the rows of now are those that PortAudio has found
    return DeviceManager(microphone, loudspeaker, required=False)


def test_devices_that_are_required_are_missed(rig: AudioRig) -> None:
    rig.plug(default=(-1, -1))
    rig.fake.on_restart()
    with pytest.raises(DeviceError, match="No microphone was found"):
        DeviceManager("", "").source.__enter__()


def test_without_a_microphone_there_is_silence_until_one_is_plugged_in(rig: AudioRig) -> None:
    rig.plug(SPEAKER, default=(-1, 0))
    devices = pluggable(rig)
    with devices.sink, devices.source:
        begun, frames = time.monotonic(), 0
        while time.monotonic() - begun < 1.0:
            frame = devices.source.read_frame(0.2)
            frames += frame is not None
            assert frame is None or not frame.any()
        assert 11 <= frames <= 14 and devices.sink.ready and devices.sink.name == "Speaker"
        (absent,) = notices_of(devices, 1)
        assert (absent.kind, absent.change, absent.name, absent.sentence) == ("microphone", "absent", "", NO_MICROPHONE)
        rig.plug(HEADSET, SPEAKER, default=(0, 1))
        (found,) = notices_of(devices, 1)
        assert (found.change, found.name) == ("back", "Headset")
        assert found.sentence == "The microphone “Headset” is there now, and in use."
        wait_until(lambda: (frame := devices.source.read_frame(1.0)) is not None and frame.max() == 0.25)
        rig.plug(SPEAKER, default=(-1, 0))
        rig.lose("input")
        (lost,) = notices_of(devices, 1)
        assert lost.change == "lost", "from then on it is a microphone that was lost"


def test_without_a_loudspeaker_samples_are_taken_at_the_pace_of_sound(rig: AudioRig) -> None:
    rig.plug(HEADSET, default=(0, -1))
    devices = pluggable(rig)
    with devices.sink as sink, devices.source:
        wait_until(lambda: sink.ready)
        assert sink.name == "no loudspeaker" and sink.loudspeaker is None and not devices.tap.take().size
        begun = time.monotonic()
        sink.write(np.ones(SAMPLE_RATE // 2, np.float32))
        wait_until(lambda: not sink.queued)
        assert 0.45 <= time.monotonic() - begun <= 0.7
        (absent,) = notices_of(devices, 1)
        assert (absent.kind, absent.sentence) == ("loudspeaker", NO_LOUDSPEAKER)
        sink.write(np.ones(2 * SAMPLE_RATE, np.float32))
        before = sink.playback()
        rig.plug(HEADSET, SPEAKER, default=(0, 1))
        (found,) = notices_of(devices, 1)
        assert (found.change, found.name) == ("back", "Speaker") and sink.loudspeaker is not None
        where = sink.playback()
        assert where.written == before.written == where.played + where.flushed and where.played >= before.played
        assert where.flushed > SAMPLE_RATE, "what nobody has heard is said again on the new one"
        sink.write(np.ones(FRAME_SAMPLES, np.float32))
        wait_until(lambda: sink.playback().played == where.played + FRAME_SAMPLES)


def test_both_are_found_one_after_the_other(rig: AudioRig) -> None:
    rig.plug(default=(-1, -1))
    edge = DeviceDuplexAudio(required=False)
    rig.fake.on_restart()
    with edge.sink, edge.source:
        told = []

        def all_told(count: int) -> bool:
            edge.source.read_frame(0.02)
            told.extend(edge.notices())
            return len(told) >= count

        wait_until(lambda: all_told(2))
        assert sorted(notice.sentence for notice in told) == [NO_LOUDSPEAKER, NO_MICROPHONE] and edge.ready
        rig.plug(SPEAKER, default=(-1, 0))
        wait_until(lambda: all_told(3))
        rig.plug(HEADSET, SPEAKER, default=(0, 1))
        wait_until(lambda: all_told(4))
        assert [(notice.kind, notice.change, notice.name) for notice in told[2:]] == [
            ("loudspeaker", "back", "Speaker"),
            ("microphone", "back", "Headset"),
        ]


def test_a_chosen_device_that_is_not_there_is_replaced_and_taken_when_it_comes(rig: AudioRig) -> None:
    rig.plug(BUILT_IN, SPEAKER, default=(0, 1))
    devices = pluggable(rig, "Headset")
    with devices.sink, devices.source:
        (moved,) = notices_of(devices, 1)
        assert (moved.change, moved.name) == ("moved", "Built-in")
        assert moved.sentence.startswith("The microphone “Headset” isn't there. The conversation continues with")
        rig.plug(BUILT_IN, HEADSET, SPEAKER, default=(0, 2))
        (back,) = notices_of(devices, 1)
        assert (back.change, back.name) == ("back", "Headset")


def test_a_microphone_in_use_elsewhere_is_told_and_taken_later(rig: AudioRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager, "PORTAUDIO_RETRY_SECONDS", 0.2)
    rig.plug(HEADSET, SPEAKER, default=(0, 1))
    rig.fake.on_restart()
    rig.refuse("Headset", portaudio_library.UNAVAILABLE)
    devices = pluggable(rig)
    with devices.sink, devices.source:
        (absent,) = notices_of(devices, 1)
        assert absent.change == "absent" and "in use by another program" in absent.sentence
        assert absent.sentence.endswith("You can type meanwhile.")
        rig.fake.refuse = lambda options: None
        (found,) = notices_of(devices, 1)
        assert (found.change, found.name) == ("back", "Headset")


def test_a_lost_loudspeaker_is_waited_for_and_then_done_without(rig: AudioRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager, "UNHEARD_SECONDS", 1.5)
    devices = pluggable(rig)
    with devices.sink as sink, devices.source:
        notices_during(devices, 0.2)
        rig.plug(HEADSET, default=(0, -1))
        rig.lose("output")
        wait_until(lambda: not sink.ready)
        lost_at = time.monotonic()
        notices_during(devices, 0.8)
        assert not sink.ready, "its answer is to be heard, if it comes back soon"
        wait_until(lambda: sink.ready)
        assert time.monotonic() - lost_at >= 1.2


def test_a_pause_of_the_stand_in_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    silent = SilentLoudspeaker()
    silent.write(np.ones(SAMPLE_RATE, np.float32))
    now[0] += 0.25
    silent.pause_playback()
    now[0] += 9.0
    assert silent.playback() == (24_000, 6_000, 18_000, 0, 0)
    silent.resume_playback()
    now[0] += 0.25
    assert silent.playback().queued == 12_000 and silent.flush() == 12_000
    silent.write(np.ones(240, np.float32))
    assert silent.playback() == (24_240, 12_000, 240, 12_000, 0)
    now[0] += 1.0
    assert silent.playback() == (24_240, 12_240, 0, 12_000, 0)
