"""What outlives devices, and the whole keeper, over a stand-in for PortAudio as it is on Windows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from app.audio.devices import active_device, list_process, manager, portaudio_library, pulse, slot, watch
from app.audio.devices.listing import Device, list_devices
from app.audio.devices.managed_source import ManagedSource
from app.audio.devices.manager import DeviceManager
from app.audio.devices.microphone import Microphone
from app.audio.devices.notifier import DeviceNotifier, DeviceStatus
from app.audio.devices.pulse import PulseDevice, PulseServer, PulseState, PulseStream
from app.audio.io.errors import DeviceError
from app.conversation.sound_processing import DeviceKind, DeviceNotice
from tests.unit.audio.fake_sounddevice import FakeSoundDevice, FakeStream, PortAudioError

API = "Windows WASAPI"
HEADSET, BUILT_IN, CALL = ("Headset", API, 1, 0), ("Built-in", API, 2, 0), ("Call", API, 1, 0, 16_000)
BOX = ("Box", API, 0, 2)


class AudioRig:
    """The devices that are really there: PortAudio sees them when it is restarted. Open streams run by themselves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fake = FakeSoundDevice()
        self.rows: list[tuple] = [HEADSET, BUILT_IN, BOX]
        self.default = (0, 2)
        self.changed: Callable[[], None] = lambda: None
        self.fake.on_restart = lambda: self.fake.set_devices(*self.rows, default=self.default)
        self.fake.on_restart()
        self._leave = threading.Event()
        monkeypatch.setattr(portaudio_library, "load", lambda: self.fake)
        monkeypatch.setattr(pulse, "query", lambda: None)
        monkeypatch.setattr(PulseServer, "query", lambda server: None)
        monkeypatch.setattr(watch, "signature", lambda state: (tuple(self.rows), self.default))
        monkeypatch.setattr(watch, "POLL_SECONDS", 0.02)
        monkeypatch.setattr(list_process, "ListProcess", lambda: SimpleNamespace(poll=self.listed, stop=lambda: None))
        monkeypatch.setattr(manager, "FIRST_RETRY_SECONDS", 0.1)
        monkeypatch.setattr(manager, "RETRY_SECONDS", 0.1)
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

    def listed(self) -> list[Device] | None:
        """As a child process sees them."""
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
def rig(monkeypatch: pytest.MonkeyPatch) -> Iterator[AudioRig]:
    rig = AudioRig(monkeypatch)
    yield rig
    rig.stop()


def notices_of(devices: DeviceManager, count: int) -> list[DeviceNotice]:
    told: list[DeviceNotice] = []
    give_up = time.monotonic() + 5
    while len(told) < count and time.monotonic() < give_up:
        devices.source.read_frame(0.02)
        told += devices.notices()
    assert len(told) == count, told
    return told


def test_a_lost_device_is_replaced_and_taken_again(rig: AudioRig) -> None:
    devices = DeviceManager("Headset", "")
    with devices.sink, devices.source:
        assert (devices.source.name, devices.sink.name) == ("Headset", "Box")
        rig.has(BUILT_IN, BOX, default=(0, 1))
        rig.lose("input")
        (gone,) = notices_of(devices, 1)
        assert (gone.kind, gone.change, gone.name) == ("microphone", "moved", "Built-in")
        assert "“Headset” is gone" in gone.sentence and "yours is taken again" in gone.sentence
        assert devices.sink.ready
        rig.has(BOX, BUILT_IN, HEADSET, default=(1, 0))  # under another index
        (back,) = notices_of(devices, 1)
        assert (back.change, back.name) == ("back", "Headset")
        assert devices.source.name == "Headset" and devices.source.read_frame(1.0).max() == 0.25
    assert all(stream.calls[-1] == "close" for stream in rig.fake.streams)
    assert not any(thread.name.startswith("audio") for thread in threading.enumerate() if thread.is_alive())


def test_something_unrelated_interrupts_nothing(rig: AudioRig) -> None:
    devices = DeviceManager("", "")
    with devices.sink, devices.source:
        streams = len(rig.fake.streams)
        rig.has(*rig.rows, CALL, default=rig.default)
        time.sleep(0.4)
        assert len(rig.fake.streams) == streams and not devices.notices()


def test_the_default_is_followed(rig: AudioRig) -> None:
    devices = DeviceManager("", "")
    with devices.sink, devices.source:
        rig.has(HEADSET, CALL, BOX, default=(1, 2))
        moved, note = notices_of(devices, 2)
        assert moved.name == "Call" and moved.sentence.startswith("The system's microphone is now “Call”")
        assert note.change == "note" and "16 kHz" in note.sentence


def test_without_a_microphone_silence_keeps_the_pace(rig: AudioRig) -> None:
    devices = DeviceManager("", "")
    with devices.sink, devices.source:
        while not (devices.source.read_frame(1.0) == 0.25).all():
            pass
        rig.has(BOX, default=(-1, 0))
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


def test_what_no_loudspeaker_plays_counts_as_flushed(rig: AudioRig) -> None:
    devices = DeviceManager("", "")
    with devices.sink as sink, devices.source:
        sink.write(np.ones(48_000, np.float32))
        while not sink.played:
            time.sleep(0.01)
        rig.has(HEADSET, default=(0, -1))
        rig.lose("output")
        while devices.sink.ready or sink.queued:
            time.sleep(0.01)
        sink.write(np.ones(1_920, np.float32))
        where = sink.playback()
        assert where.written == 49_920 == where.played + where.flushed and 0 < where.played < 48_000
        generation = devices.tap.generation
        rig.has(HEADSET, BOX, default=(0, 1))
        while not devices.sink.ready:
            time.sleep(0.01)
        devices.tap.take()
        assert devices.tap.generation > generation
        sink.write(np.ones(4_800, np.float32))
        while sink.queued:
            time.sleep(0.01)
        assert sink.playback().played == where.played + 4_800
    assert sink.playback().written == 54_720


def wait_until(holds: Callable[[], object]) -> None:
    """Five seconds at most."""
    give_up = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.001)


def test_a_device_that_goes_in_mid_hush_ends_it(rig: AudioRig) -> None:
    devices = DeviceManager("", "")
    with devices.sink as sink, devices.source:
        sink.write(np.ones(48_000, np.float32))
        wait_until(lambda: sink.played)
        sink.hush()
        time.sleep(0.05)
        played = sink.played
        time.sleep(0.1)
        assert sink.played == played and sink.queued and sink.ready
        old = sink.loudspeaker
        rig.has(HEADSET, ("Bar", API, 0, 2), default=(0, 1))
        rig.lose("output")
        wait_until(lambda: sink.loudspeaker not in (None, old) and sink.ready)
        where = sink.playback()
        assert (where.played, where.queued, where.flushed) == (played, 0, 48_000 - played)
        sink.write(np.ones(4_800, np.float32))  # nothing keeps the next one silent
        wait_until(lambda: not sink.queued)
        sink.unhush()
        assert sink.played == played + 4_800 and sink.underruns == 0


def test_the_frame_under_way_is_shown_and_muted(rig: AudioRig) -> None:
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
        rig.has(BOX, default=(-1, 0))
        rig.lose("input")
        wait_until(lambda: source.read_frame(0.1) is not None and source.microphone is None)
        source.read_frame(1.0)
        assert not len(source.ahead()), "silence stands in: there is nothing to see of it"


def test_muted_means_zeros_even_of_what_waits(rig: AudioRig) -> None:
    devices = DeviceManager("", "")
    with devices.source as source:
        while source.backlog < 2:
            time.sleep(0.01)
        devices.source.muted = True
        assert not any(source.read_frame(1.0).any() for _ in range(4))
        microphone = source.microphone
        devices.source.muted = False
        while not (frame := source.read_frame(1.0)).all():
            pass
        assert (frame == 0.25).all() and microphone is source.microphone


def test_opening_says_what_is_wrong(rig: AudioRig) -> None:
    rig.has(BOX, default=(-1, 0))
    devices = DeviceManager("", "")
    with devices.sink:
        with pytest.raises(DeviceError, match="No microphone was found"):
            devices.source.__enter__()
        assert devices.sink.ready  # the loudspeaker goes on
    rig.has(HEADSET, BOX, default=(0, 1))
    rig.fake.refuse = lambda options: PortAudioError("Device unavailable", portaudio_library.UNAVAILABLE)
    with pytest.raises(DeviceError, match="in use by another program"):
        DeviceManager("", "").source.__enter__()


def for_a_while(devices: DeviceManager, seconds: float) -> list[DeviceNotice]:
    told: list[DeviceNotice] = []
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        devices.source.read_frame(0.02)
        told += devices.notices()
    return told


def refusing(rig: AudioRig, name: str, code: int) -> Callable[[dict], Exception | None]:
    """The device of this name is there, and can't be opened."""
    names = rig.fake._devices
    return lambda options: PortAudioError("x", code) if names[options["device"]]["name"] == name else None


def test_a_failed_restart_is_tried_again(rig: AudioRig, monkeypatch: pytest.MonkeyPatch) -> None:
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
    devices = DeviceManager("", "")
    with devices.sink, devices.source:
        rig.lose("input")
        for_a_while(devices, 2.0)
        assert not failures and devices.sink.ready and devices.source.name == "Headset"
        assert devices.source.read_frame(1.0).max() == 0.25


def test_one_that_refuses_leaves_the_other_alone(rig: AudioRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager, "PORTAUDIO_RETRY_SECONDS", 0.2)
    rig.has(HEADSET, BOX, default=(0, 1))
    devices = DeviceManager("Headset", "")
    with devices.sink, devices.source:
        rig.fake.refuse = refusing(rig, "Headset", portaudio_library.UNAVAILABLE)
        rig.lose("input")
        (lost,) = for_a_while(devices, 2.5)
        assert lost.change == "lost" and "in use by another program" in lost.sentence
        outputs = [stream for stream in rig.fake.streams if stream.kind == "output"]
        assert len(outputs) == 2  # once for the loss
        rig.fake.refuse = lambda options: None
        (back,) = notices_of(devices, 1)
        assert back.change == "back"
        assert outputs == [stream for stream in rig.fake.streams if stream.kind == "output"]


def test_one_that_gives_nothing_is_left_for_another(rig: AudioRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(active_device, "STALLED_SECONDS", 0.5)
    devices = DeviceManager("Headset", "")
    tick = FakeStream.tick

    def deaf(stream: FakeStream, block: np.ndarray | None = None) -> np.ndarray | None:
        is_headset = stream.kind == "input" and rig.fake._devices[stream.options["device"]]["name"] == "Headset"
        return None if is_headset else tick(stream, block)

    with devices.sink, devices.source:
        for_a_while(devices, 0.3)
        monkeypatch.setattr(FakeStream, "tick", deaf)
        (moved,) = for_a_while(devices, 4.0)
        assert moved.name == "Built-in" and "“Headset” gives no sound" in moved.sentence
        inputs = [stream for stream in rig.fake.streams if stream.kind == "input"]
        assert len(inputs) == 3
        monkeypatch.setattr(FakeStream, "tick", tick)
        rig.has(BUILT_IN, BOX, default=(0, 1))
        assert not for_a_while(devices, 0.5)
        rig.has(HEADSET, BUILT_IN, BOX, default=(0, 2))
        (back,) = notices_of(devices, 1)
        assert (back.change, back.name) == ("back", "Headset")


def test_one_that_closes_slowly_isnt_refused(rig: AudioRig, monkeypatch: pytest.MonkeyPatch) -> None:
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
        rig.has(BUILT_IN, BOX, default=(0, 1))
        rig.lose("input")
        (moved,) = notices_of(devices, 1)
        assert moved.name == "Built-in" and "“Headset” is gone" in moved.sentence
        slow[0] = False
        rig.has(HEADSET, BUILT_IN, BOX, default=(0, 2))
        (back,) = notices_of(devices, 1)
        assert (back.change, back.name) == ("back", "Headset")


def test_invalid_means_gone(rig: AudioRig) -> None:
    devices = DeviceManager("Headset", "")
    with devices.sink, devices.source:
        rig.fake.refuse = refusing(rig, "Headset", portaudio_library.INVALID_DEVICE)
        rig.lose("input")
        (moved,) = notices_of(devices, 1)
        assert moved.name == "Built-in" and "“Headset” is gone. The talk goes on" in moved.sentence


def test_nothing_is_interrupted_while_a_device_is_tried_out(rig: AudioRig) -> None:
    rig.has(BUILT_IN, BOX, default=(0, 1))
    rig.fake.on_restart()
    devices = DeviceManager("", "")
    with devices.sink, devices.source:
        with Microphone("Built-in"):
            streams = len(rig.fake.streams)
            rig.has(HEADSET, BUILT_IN, BOX, default=(0, 2))
            assert not for_a_while(devices, 0.6) and len(rig.fake.streams) == streams
        (moved,) = notices_of(devices, 1)
        assert moved.name == "Headset"


def test_what_is_chosen_while_a_device_is_tried_out_is_taken(rig: AudioRig) -> None:
    devices = DeviceManager("", "")
    with devices.sink, devices.source, Microphone("Built-in"):
        devices.choose("Built-in", "")
        (chosen,) = notices_of(devices, 1)
        assert chosen.sentence == "The microphone is now “Built-in”."
        assert sum(stream.kind == "output" for stream in rig.fake.streams) == 1


def test_leaving_and_choosing_wait_for_no_child(rig: AudioRig, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[bool] = []
    asked: list[bool] = []

    def child() -> SimpleNamespace:
        asked.append(True)
        return SimpleNamespace(poll=lambda: None, stop=lambda: stopped.append(True))

    monkeypatch.setattr(list_process, "ListProcess", child)
    devices = DeviceManager("", "")
    with devices.sink, devices.source:
        rig.has(*rig.rows, CALL, default=rig.default)
        for_a_while(devices, 0.5)
        assert asked == [True]  # one for both devices
        begun = time.monotonic()
    assert time.monotonic() - begun < 0.5 and stopped == [True]


def test_a_refused_one_is_tried_again_when_it_is_chosen_again(rig: AudioRig) -> None:
    devices = DeviceManager("", "")
    with devices.sink, devices.source:
        rig.fake.refuse = refusing(rig, "Built-in", portaudio_library.UNAVAILABLE)
        devices.choose("Built-in", "")
        (refused,) = notices_of(devices, 1)
        assert "in use by another program" in refused.sentence and "when you choose it again" in refused.sentence
        devices.choose("Built-in", "")
        (still,) = notices_of(devices, 1)
        assert "in use by another program" in still.sentence
        rig.fake.refuse = lambda options: None
        streams = len(rig.fake.streams)
        assert not for_a_while(devices, 0.5) and len(rig.fake.streams) == streams
        devices.choose("Built-in", "")
        (chosen,) = notices_of(devices, 1)
        assert chosen.sentence == "The microphone is now “Built-in”."


def test_a_part_of_a_name_is_one_rule(rig: AudioRig) -> None:
    devices = DeviceManager("", "")
    with devices.sink, devices.source:
        streams = len(rig.fake.streams)
        devices.choose("headse", "")  # in use already
        assert not for_a_while(devices, 0.6) and len(rig.fake.streams) == streams


def test_nobody_restarts_portaudio_between_finding_and_opening(rig: AudioRig, monkeypatch: pytest.MonkeyPatch) -> None:
    find, held = slot.DeviceSlot.find, []

    def free() -> None:
        if portaudio_library.LOCK.acquire(blocking=False):
            portaudio_library.LOCK.release()
            held.append(False)
        else:
            held.append(True)

    def spied(self: slot.DeviceSlot, name: str | None, state: None) -> Device:
        found = find(self, name, state)
        other = threading.Thread(target=free)
        other.start()
        other.join()
        return found

    monkeypatch.setattr(slot.DeviceSlot, "find", spied)
    devices = DeviceManager("Headset", "")
    with devices.sink, devices.source:
        rig.has(BUILT_IN, BOX, default=(0, 1))
        rig.lose("input")
        notices_of(devices, 1)
    assert len(held) > 3 and all(held)


def test_com_stays_for_what_portaudio_has_made(monkeypatch: pytest.MonkeyPatch) -> None:
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
        Microphone(None).__enter__()  # also one that is opened by itself, on whatever thread
    assert "begin" in calls and "end" not in calls


def test_muting_and_attaching_dont_undo_each_other() -> None:
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


class TestOnAServer:
    """A slot alone, on a sound server's devices."""

    @pytest.fixture
    def told(self, monkeypatch: pytest.MonkeyPatch) -> list[DeviceNotice]:
        fake = FakeSoundDevice(("pulse", "ALSA", 32, 32))
        monkeypatch.setattr(portaudio_library, "load", lambda: fake)
        return []

    def begun(self, wanted: str, told: list[DeviceNotice], state: PulseState) -> slot.DeviceSlot:
        one = slot.DeviceSlot("microphone", wanted, ManagedSource(lambda: None, lambda: None), told.append)
        one.open(one.find(wanted or None, state), bool(wanted))
        one.start_use(self.on(state, one, 0))
        return one

    def state(self, *names: str) -> PulseState:
        devices = [
            PulseDevice("microphone", name.lower(), name, 48_000, 1, False, False, not number, "ABC".index(name))
            for number, name in enumerate(names)
        ]
        return PulseState(tuple(devices), ())

    def on(self, state: PulseState, one: slot.DeviceSlot, device: int, *others: PulseStream) -> PulseState:
        """With the slot's stream on a device, and other streams of this process."""
        return PulseState(state.devices, (PulseStream("microphone", 7, device, one.active._opened.tag), *others))

    def test_a_device_that_is_tried_out_is_no_move(self, told: list[DeviceNotice]) -> None:
        state = self.state("A", "B")
        one = self.begun("A", told, state)
        tried_out = self.on(state, one, 0, PulseStream("microphone", 8, 1, "another"))
        one.check(tried_out, 0.1)
        assert not one.needs_switch(tried_out, 1.0, 0.0) and one.active.name == "A"
        one.active.close()

    def test_what_was_moved_by_hand_doesnt_outlive_its_device(self, told: list[DeviceNotice]) -> None:
        state = self.state("A", "B", "C")
        one = self.begun("A", told, state)
        assert not one.needs_switch(self.on(state, one, 1), 1.0, 0.0) and (one.active.name, one.cause) == ("B", "mixer")
        assert not one.needs_switch(self.on(state, one, 1), 2.0, 0.0)
        assert one.needs_switch(self.on(self.state("A", "C"), one, 2), 3.0, 0.0)  # back to the wanted one
        one.active.close()


class TestNotifier:
    def told(self, *states: tuple[float, str]) -> list[tuple[str, str]]:
        told: list[DeviceNotice] = []
        notifier = DeviceNotifier("microphone", told.append)
        notifier.start("A")
        for now, name in states:
            notifier.update(now, name, DeviceStatus(""))
        return [(notice.change, notice.name) for notice in told]

    def test_a_moment_is_not_told(self) -> None:
        assert self.told((0.0, ""), (0.9, ""), (1.0, "A"), (9.0, "A")) == []

    def test_a_loss_and_a_return(self) -> None:
        assert self.told((0.0, ""), (1.1, ""), (5.0, "A"), (5.4, "A")) == [("lost", ""), ("back", "A")]

    def test_a_loose_plug_makes_no_storm(self) -> None:
        flips = [(at / 10, "AB"[at // 10 % 2]) for at in range(300)]
        assert len(self.told(*flips)) <= 8

    def test_a_refusal_is_told_once(self) -> None:
        told: list[DeviceNotice] = []
        notifier, status = (
            DeviceNotifier("microphone", told.append),
            DeviceStatus("A", refused=True, problem="“A” is in use."),
        )
        notifier.start("A")
        for at in range(10):
            notifier.update(at / 10, "B", status)
        status.cause = "default"
        for at in range(10, 20):
            notifier.update(at / 10, "C", status)
        assert [notice.sentence.partition(".")[0] for notice in told] == [
            "“A” is in use",
            "The system's microphone is now “C”: the talk goes on with it",
        ]

    @pytest.mark.parametrize("kind", ["microphone", "loudspeaker"])
    def test_a_suspended_device_is_told_once_it_lasts(self, kind: DeviceKind) -> None:
        told: list[DeviceNotice] = []
        notifier = DeviceNotifier(kind, told.append)
        notifier.start("A")
        for at, suspended in ((0.0, True), (1.5, False), (2.0, True), (3.9, True), (4.1, True), (9.0, True)):
            notifier.update_suspended(at, "A", suspended)
        assert [notice.change for notice in told] == ["note"] and "suspended" in told[0].sentence
        notifier.update_suspended(9.1, "A", False)
        notifier.update_suspended(9.2, "A", False)
        assert [(notice.kind, notice.change) for notice in told] == [(kind, "note"), (kind, "back")]
