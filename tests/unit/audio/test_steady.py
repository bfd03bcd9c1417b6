"""What outlives devices, and the whole keeper, over a stand-in for PortAudio as it is on Windows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from app.audio import native, pulse, steady, watch
from app.audio.announcer import Announcer, Story
from app.audio.devices import list_devices
from app.audio.errors import DeviceError
from app.audio.pulse import PulseServer
from app.audio.steady import SteadyDevices
from app.conversation.sound import DeviceNotice
from tests.unit.audio.fake_sounddevice import FakeSoundDevice, FakeStream, PortAudioError

API = "Windows WASAPI"
HEADSET, BUILT_IN, CALL = ("Headset", API, 1, 0), ("Built-in", API, 2, 0), ("Call", API, 1, 0, 16_000)
BOX = ("Box", API, 0, 2)


class Desk:
    """The devices that are really there: PortAudio sees them when it is restarted. Open streams run by themselves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fake = FakeSoundDevice()
        self.rows: list[tuple] = [HEADSET, BUILT_IN, BOX]
        self.default = (0, 2)
        self.changed: Callable[[], None] = lambda: None
        self.fake.on_restart = lambda: self.fake.set_devices(*self.rows, default=self.default)
        self.fake.on_restart()
        self._leave = threading.Event()
        monkeypatch.setattr(native, "load", lambda: self.fake)
        monkeypatch.setattr(pulse, "look", lambda: None)
        monkeypatch.setattr(PulseServer, "look", lambda server: None)
        monkeypatch.setattr(watch, "signature", lambda state: (tuple(self.rows), self.default))
        monkeypatch.setattr(watch, "POLL_SECONDS", 0.02)
        monkeypatch.setattr(watch, "_ask_child", self._as_a_child_sees)
        monkeypatch.setattr(steady, "FIRST_RETRY_SECONDS", 0.1)
        monkeypatch.setattr(steady, "RETRY_SECONDS", 0.1)
        self._runner = threading.Thread(target=self._run, daemon=True)
        self._runner.start()

    def has(self, *rows: tuple, default: tuple[int, int]) -> None:
        self.rows, self.default = list(rows), default

    def name_of(self, stream: FakeStream) -> str:
        return stream.options["_name"]

    def lose(self, kind: str) -> None:
        """The device's stream ends by itself, as when it is unplugged."""
        self.open(kind).vanish()

    def open(self, kind: str) -> FakeStream:
        return next(s for s in reversed(self.fake.streams) if s.kind == kind and s.calls == ["start"])

    def stop(self) -> None:
        self._leave.set()
        self._runner.join()

    def _as_a_child_sees(self):
        frozen = self.fake.query_devices(), self.fake.query_hostapis()
        self.fake.set_devices(*self.rows, default=self.default)
        try:
            return list_devices()
        finally:
            self.fake._devices, self.fake._apis = list(frozen[0]), list(frozen[1])

    def _run(self) -> None:
        while not self._leave.wait(0.009):
            for stream in list(self.fake.streams):
                if stream.calls == ["start"]:
                    frames, channels = stream.options["blocksize"], stream.options["channels"]
                    stream.tick(np.full((frames, channels), 0.25, np.float32))


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    desk = Desk(monkeypatch)
    yield desk
    desk.stop()


def notices_of(edge: SteadyDevices, count: int) -> list[DeviceNotice]:
    told: list[DeviceNotice] = []
    give_up = time.monotonic() + 5
    while len(told) < count and time.monotonic() < give_up:
        edge.source.read_frame(0.02)
        told += edge.notices()
    assert len(told) == count, told
    return told


def test_a_lost_device_is_replaced_and_taken_again(desk: Desk) -> None:
    edge = SteadyDevices("Headset", None)
    with edge.sink, edge.source:
        assert (edge.source.name, edge.sink.name) == ("Headset", "Box")
        desk.has(BUILT_IN, BOX, default=(0, 1))
        desk.lose("input")
        (gone,) = notices_of(edge, 1)
        assert (gone.kind, gone.change, gone.name) == ("microphone", "moved", "Built-in")
        assert "“Headset” is gone" in gone.sentence and "yours is taken again" in gone.sentence
        assert edge.ready
        desk.has(BOX, BUILT_IN, HEADSET, default=(1, 0))  # under another index
        (back,) = notices_of(edge, 1)
        assert (back.change, back.name) == ("back", "Headset")
        assert edge.source.name == "Headset" and edge.source.read_frame(1.0).max() == 0.25
    assert all(stream.calls[-1] == "close" for stream in desk.fake.streams)
    assert not any(thread.name.startswith("audio") for thread in threading.enumerate() if thread.is_alive())


def test_something_unrelated_interrupts_nothing(desk: Desk) -> None:
    edge = SteadyDevices(None, None)
    with edge.sink, edge.source:
        streams = len(desk.fake.streams)
        desk.has(*desk.rows, CALL, default=desk.default)
        time.sleep(0.4)
        assert len(desk.fake.streams) == streams and not edge.notices()


def test_the_default_is_followed(desk: Desk) -> None:
    edge = SteadyDevices(None, None)
    with edge.sink, edge.source:
        desk.has(HEADSET, CALL, BOX, default=(1, 2))
        moved, note = notices_of(edge, 2)
        assert moved.name == "Call" and moved.sentence.startswith("The system's microphone is now “Call”")
        assert note.change == "note" and "16 kHz" in note.sentence


def test_without_a_microphone_silence_keeps_the_pace(desk: Desk) -> None:
    edge = SteadyDevices(None, None)
    with edge.sink, edge.source:
        while not (edge.source.read_frame(1.0) == 0.25).all():
            pass
        desk.has(BOX, default=(-1, 0))
        desk.lose("input")
        generation = edge.source.generation
        begun, frames = time.monotonic(), []
        while time.monotonic() - begun < 1.5:
            frame = edge.source.read_frame(0.2)
            frames += [frame] if frame is not None else []
        assert 16 <= len(frames) <= 21 and not frames[-1].any()
        assert edge.source.generation > generation
        (lost,) = [*edge.notices()] or notices_of(edge, 1)
        assert (lost.change, lost.name) == ("lost", "")
        assert edge.ready


def test_what_no_loudspeaker_plays_counts_as_flushed(desk: Desk) -> None:
    edge = SteadyDevices(None, None)
    with edge.sink as sink, edge.source:
        sink.write(np.ones(48_000, np.float32))
        while not sink.played:
            time.sleep(0.01)
        desk.has(HEADSET, default=(0, -1))
        desk.lose("output")
        while edge.ready or sink.queued:
            time.sleep(0.01)
        sink.write(np.ones(1_920, np.float32))
        where = sink.look()
        assert where.written == 49_920 == where.played + where.flushed and 0 < where.played < 48_000
        generation = edge.tap.generation
        desk.has(HEADSET, BOX, default=(0, 1))
        while not edge.ready:
            time.sleep(0.01)
        edge.tap.take()
        assert edge.tap.generation > generation
        sink.write(np.ones(4_800, np.float32))
        while sink.queued:
            time.sleep(0.01)
        assert sink.look().played == where.played + 4_800
    assert sink.look().written == 54_720


def test_muted_means_zeros_even_of_what_waits(desk: Desk) -> None:
    edge = SteadyDevices(None, None)
    with edge.source as source:
        while source.backlog < 2:
            time.sleep(0.01)
        edge.muted = True
        assert not any(source.read_frame(1.0).any() for _ in range(4))
        microphone = source._microphone
        edge.muted = False
        while not (frame := source.read_frame(1.0)).all():
            pass
        assert (frame == 0.25).all() and microphone is source._microphone


def test_opening_says_what_is_wrong(desk: Desk) -> None:
    desk.has(BOX, default=(-1, 0))
    edge = SteadyDevices(None, None)
    with edge.sink:
        with pytest.raises(DeviceError, match="No microphone was found"):
            edge.source.__enter__()
        assert edge.ready  # the loudspeaker goes on
    desk.has(HEADSET, BOX, default=(0, 1))
    desk.fake.refuse = lambda options: PortAudioError("Device unavailable", native.UNAVAILABLE)
    with pytest.raises(DeviceError, match="in use by another program"):
        SteadyDevices(None, None).source.__enter__()


class TestAnnouncer:
    def told(self, *states: tuple[float, str]) -> list[tuple[str, str]]:
        told: list[DeviceNotice] = []
        announcer = Announcer("microphone", told.append)
        announcer.begin("A")
        for now, name in states:
            announcer.look(now, name, Story(""))
        return [(notice.change, notice.name) for notice in told]

    def test_a_moment_is_not_told(self) -> None:
        assert self.told((0.0, ""), (0.9, ""), (1.0, "A"), (9.0, "A")) == []

    def test_a_loss_and_a_return(self) -> None:
        assert self.told((0.0, ""), (1.1, ""), (5.0, "A"), (5.4, "A")) == [("lost", ""), ("back", "A")]

    def test_a_loose_plug_makes_no_storm(self) -> None:
        flips = [(at / 10, "AB"[at // 10 % 2]) for at in range(300)]
        assert len(self.told(*flips)) <= 8


