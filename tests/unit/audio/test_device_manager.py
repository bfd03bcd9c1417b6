"""The device manager: lost, returned, refused, chosen and missing devices."""

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from app.audio.devices import active_device, manager, portaudio_library, pulse, watch
from app.audio.devices.duplex import DeviceDuplexAudio
from app.audio.devices.managed_sink import SilentLoudspeaker
from app.audio.devices.manager import DeviceManager
from app.audio.devices.microphone import Microphone
from app.audio.devices.pulse import PulseServer
from app.audio.io.base import DeviceError
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from tests.unit.audio.audio_rig import (
    BUILT_IN,
    CALL,
    HEADSET,
    SPEAKER,
    AudioRig,
    notices_during,
    notices_of,
    session,
    wait_until,
)
from tests.unit.audio.fake_sounddevice import FakeSoundDevice, FakeStream, PortAudioError


def test_lost_device_is_replaced_until_it_is_back(rig: AudioRig) -> None:
    with session("Headset") as devices:
        assert (devices.source.name, devices.sink.name) == ("Headset", "Speaker")
        rig.plug(BUILT_IN, SPEAKER, default=(0, 1))
        rig.lose("input")
        (gone,) = notices_of(devices, 1)
        assert (gone.kind, gone.change, gone.name) == ("microphone", "moved", "Built-in")
        assert "“Headset” is gone" in gone.sentence and "yours is taken again" in gone.sentence
        assert devices.sink.ready
        rig.plug(SPEAKER, BUILT_IN, HEADSET, default=(1, 0))  # under another index
        (back,) = notices_of(devices, 1)
        assert (back.change, back.name) == ("back", "Headset")
        assert devices.source.name == "Headset" and devices.source.read_frame(1.0).max() == 0.25
    assert all(stream.calls[-1] == "close" for stream in rig.fake.streams)
    assert not any(thread.name.startswith("audio") for thread in threading.enumerate() if thread.is_alive())


def test_unrelated_device_interrupts_nothing(rig: AudioRig) -> None:
    with session() as devices:
        streams = len(rig.fake.streams)
        rig.plug(*rig.rows, CALL, default=rig.default)
        time.sleep(0.4)
        assert len(rig.fake.streams) == streams and not devices.notices()


def test_new_default_is_used(rig: AudioRig) -> None:
    with session() as devices:
        rig.plug(HEADSET, CALL, SPEAKER, default=(1, 2))
        moved, note = notices_of(devices, 2)
        assert moved.name == "Call" and moved.sentence.startswith("The system's microphone is now “Call”")
        assert note.change == "note" and "16 kHz" in note.sentence


def test_opening_errors(rig: AudioRig) -> None:
    rig.plug(SPEAKER, default=(-1, 0))
    devices = DeviceManager("", "")
    with devices.sink:
        with pytest.raises(DeviceError, match="No microphone was found"):
            devices.source.__enter__()
        assert devices.sink.ready  # the loudspeaker goes on
    rig.plug(HEADSET, SPEAKER, default=(0, 1))
    rig.fake.refuse = lambda options: PortAudioError("Device unavailable", portaudio_library.UNAVAILABLE)
    with pytest.raises(DeviceError, match="in use by another program"):
        DeviceManager("", "").source.__enter__()


def test_failed_restart_of_portaudio_is_repeated(rig: AudioRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portaudio_library, "_initialised", True)
    fake, query = rig.fake, rig.fake.query_devices
    up, failures = [True], [1]

    def needs_portaudio() -> None:
        if not up[0]:
            raise PortAudioError("PortAudio not initialized", -10_000)

    def terminate() -> None:
        needs_portaudio()
        up[0] = False

    def initialize() -> None:
        if failures and up == [False] and len(fake.streams) > 1:
            failures.pop()
            raise PortAudioError("host error", portaudio_library.UNANTICIPATED)
        up[0] = True
        fake.on_restart()

    monkeypatch.setattr(fake, "_terminate", terminate)
    monkeypatch.setattr(fake, "_initialize", initialize)
    monkeypatch.setattr(fake, "query_devices", lambda: (needs_portaudio(), query())[1])
    with session() as devices:
        rig.lose("input")

        def is_back() -> bool:
            frame = devices.source.read_frame(0.02)
            return not failures and devices.sink.ready and frame is not None and frame.max() == 0.25

        wait_until(is_back)
        assert devices.source.name == "Headset"


def test_device_that_refuses_does_not_interrupt_the_other(rig: AudioRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager, "PORTAUDIO_RETRY_SECONDS", 0.1)
    rig.plug(HEADSET, SPEAKER, default=(0, 1))
    with session("Headset") as devices:
        rig.refuse("Headset", portaudio_library.UNAVAILABLE)
        rig.lose("input")
        (lost,) = notices_during(devices, 1.2)
        assert lost.change == "lost" and "in use by another program" in lost.sentence
        outputs = [stream for stream in rig.fake.streams if stream.kind == "output"]
        assert len(outputs) == 2  # once for the loss
        rig.fake.refuse = lambda options: None
        (back,) = notices_of(devices, 1)
        assert back.change == "back"
        assert outputs == [stream for stream in rig.fake.streams if stream.kind == "output"]


def test_silent_device_is_replaced(rig: AudioRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(active_device, "STALLED_SECONDS", 0.3)
    devices = DeviceManager("Headset", "")
    tick = FakeStream.tick

    def silent(stream: FakeStream, block: np.ndarray | None = None) -> np.ndarray | None:
        return None if rig.name_of(stream) == "Headset" else tick(stream, block)

    with devices.sink, devices.source:
        notices_during(devices, 0.3)
        monkeypatch.setattr(FakeStream, "tick", silent)
        (moved,) = notices_during(devices, 2.4)
        assert moved.name == "Built-in" and "“Headset” gives no sound" in moved.sentence
        inputs = [stream for stream in rig.fake.streams if stream.kind == "input"]
        assert len(inputs) == 3
        monkeypatch.setattr(FakeStream, "tick", tick)
        rig.plug(BUILT_IN, SPEAKER, default=(0, 1))
        assert not notices_during(devices, 0.5)
        rig.plug(HEADSET, BUILT_IN, SPEAKER, default=(0, 2))
        (back,) = notices_of(devices, 1)
        assert (back.change, back.name) == ("back", "Headset")


def test_device_that_closes_slowly_can_be_opened_again(rig: AudioRig, monkeypatch: pytest.MonkeyPatch) -> None:
    devices = DeviceManager("Headset", "")
    abort, slow = FakeStream.abort, [True]

    def late(stream: FakeStream) -> None:
        time.sleep(0.8 if slow[0] else 0.0)
        abort(stream)

    monkeypatch.setattr(FakeStream, "abort", late)

    def refuse(options: dict) -> Exception | None:
        name = rig.fake._devices[options["device"]]["name"]
        there = any(row[0] == name for row in rig.rows)
        return None if there else PortAudioError("host error", portaudio_library.UNANTICIPATED)

    with devices.sink, devices.source:
        rig.fake.refuse = refuse
        rig.plug(BUILT_IN, SPEAKER, default=(0, 1))
        rig.lose("input")
        (moved,) = notices_of(devices, 1)
        assert moved.name == "Built-in" and "“Headset” is gone" in moved.sentence
        slow[0] = False
        rig.plug(HEADSET, BUILT_IN, SPEAKER, default=(0, 2))
        (back,) = notices_of(devices, 1)
        assert (back.change, back.name) == ("back", "Headset")


def test_invalid_device_means_gone(rig: AudioRig) -> None:
    with session("Headset") as devices:
        rig.refuse("Headset", portaudio_library.INVALID_DEVICE)
        rig.lose("input")
        (moved,) = notices_of(devices, 1)
        assert moved.name == "Built-in" and "“Headset” is gone. The conversation continues" in moved.sentence


def test_nothing_is_interrupted_during_a_device_test(rig: AudioRig) -> None:
    rig.plug(BUILT_IN, SPEAKER, default=(0, 1))
    rig.fake.on_restart()
    with session() as devices:
        with Microphone("Built-in"):
            streams = len(rig.fake.streams)
            rig.plug(HEADSET, BUILT_IN, SPEAKER, default=(0, 2))
            assert not notices_during(devices, 0.6) and len(rig.fake.streams) == streams
        (moved,) = notices_of(devices, 1)
        assert moved.name == "Headset"


def test_device_can_be_chosen_during_a_device_test(rig: AudioRig) -> None:
    with session() as devices, Microphone("Built-in"):
        devices.choose("Built-in", "")
        (chosen,) = notices_of(devices, 1)
        assert chosen.sentence == "The microphone is now “Built-in”."
        assert sum(stream.kind == "output" for stream in rig.fake.streams) == 1


def test_refused_device_is_tried_again_when_chosen_again(rig: AudioRig) -> None:
    with session() as devices:
        rig.refuse("Built-in", portaudio_library.UNAVAILABLE)
        devices.choose("Built-in", "")
        (refused,) = notices_of(devices, 1)
        assert "in use by another program" in refused.sentence and "when you choose it again" in refused.sentence
        devices.choose("Built-in", "")
        (still,) = notices_of(devices, 1)
        assert "in use by another program" in still.sentence
        rig.fake.refuse = lambda options: None
        streams = len(rig.fake.streams)
        assert not notices_during(devices, 0.5) and len(rig.fake.streams) == streams
        devices.choose("Built-in", "")
        (chosen,) = notices_of(devices, 1)
        assert chosen.sentence == "The microphone is now “Built-in”."


def test_part_of_the_name_of_the_device_in_use_changes_nothing(rig: AudioRig) -> None:
    with session() as devices:
        streams = len(rig.fake.streams)
        devices.choose("headse", "")  # in use already
        assert not notices_during(devices, 0.6) and len(rig.fake.streams) == streams


def test_com_is_never_uninitialised(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    ole32 = SimpleNamespace(
        CoInitializeEx=lambda *how: calls.append("begin") or 0, CoUninitialize=lambda: calls.append("end")
    )
    monkeypatch.setattr(portaudio_library.ctypes, "windll", SimpleNamespace(ole32=ole32), raising=False)
    monkeypatch.setattr(portaudio_library.importlib, "import_module", lambda name: FakeSoundDevice())
    monkeypatch.setattr(PulseServer, "query", lambda server: None)
    monkeypatch.setattr(pulse, "query", lambda: None)
    monkeypatch.setattr(watch, "signature", lambda state: ())
    devices = DeviceManager("", "")
    with pytest.raises(DeviceError):
        devices.source.__enter__()
    assert "begin" in calls and "end" not in calls
    del calls[:]
    with pytest.raises(DeviceError):
        Microphone(None).__enter__()  # also if it is opened without a manager, on any thread
    assert "begin" in calls and "end" not in calls


NO_MICROPHONE = "No microphone was found. You can type; KAME notices one that you plug in."
NO_LOUDSPEAKER = "No loudspeaker was found. You can read the answers; KAME notices one that you plug in."


def pluggable(rig: AudioRig, microphone: str = "", loudspeaker: str = "") -> DeviceManager:
    rig.fake.on_restart()  # the rows of now are those that PortAudio has found
    return DeviceManager(microphone, loudspeaker, required=False)


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
