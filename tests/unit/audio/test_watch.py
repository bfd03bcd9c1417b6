"""Devices' slots, notices about them, and noticing those that come and go, over stand-ins for the system."""

import socket
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from app.audio.devices import list_process, portaudio_library, watch
from app.audio.devices.list_process import ListProcess
from app.audio.devices.managed_source import ManagedSource
from app.audio.devices.messages import DeviceNotifier, DeviceStatus
from app.audio.devices.pulse import PulseDevice, PulseServer, PulseState, PulseStream, distinct_names
from app.audio.devices.slot import DeviceSlot
from app.audio.devices.watch import DeviceWatch, signature, windows_names
from app.conversation.events import DeviceKind, DeviceNotice
from tests.unit.audio.fake_sounddevice import FakeSoundDevice


class WinMM:
    """Windows' oldest sound interface: the default comes first. A name of None can't be read."""

    def __init__(self, inputs: list[str | None], outputs: list[str | None]) -> None:
        self.inputs, self.outputs = inputs, outputs
        self.sizes: set[int] = set()

    def waveInGetNumDevs(self) -> int:
        return len(self.inputs)

    def waveOutGetNumDevs(self) -> int:
        return len(self.outputs)

    def waveInGetDevCapsW(self, number, caps, size: int) -> int:
        return self._answer(self.inputs, number, caps, size)

    def waveOutGetDevCapsW(self, number, caps, size: int) -> int:
        return self._answer(self.outputs, number, caps, size)

    def _answer(self, names, number, caps, size: int) -> int:
        self.sizes.add(size)
        if names[number.value] is None:
            return 2  # MMSYSERR_BADDEVICEID: it went while the list was read
        caps._obj.name = names[number.value]
        return 0


def test_windows_lists_the_default_first() -> None:
    system = WinMM(["Headset (USB)", None, "Microphone (Realtek High Defini"], ["Speakers"])
    before = windows_names(system)
    assert before == (("Headset (USB)", "Microphone (Realtek High Defini"), ("Speakers",))
    small, large = sorted(system.sizes)
    assert large - small == 4  # the structure of a loudspeaker has one number more
    system.inputs.reverse()
    assert windows_names(system) != before


def device(name: str, *, default: bool = False, rate: int = 48_000, muted: bool = False) -> PulseDevice:
    return PulseDevice("microphone", name, name.upper(), rate, 1, muted, False, default, 0)


def state(*devices: PulseDevice) -> PulseState:
    return PulseState(devices, ())


def test_signature_changes_with_devices_defaults_and_rates_only() -> None:
    plain = signature(state(device("a"), device("b")))
    assert plain == signature(state(device("a", muted=True), device("b")))
    others = [
        state(device("a")),
        state(device("a", default=True), device("b")),
        state(device("a", rate=16_000), device("b")),
    ]
    assert len({plain, *map(signature, others)}) == 4


def test_watch_reports_a_change_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = [state(device("a"))]
    changes = threading.Semaphore(0)
    monkeypatch.setattr(PulseServer, "query", lambda self: seen[0])
    monkeypatch.setattr(PulseServer, "wait", lambda self, seconds: not threading.Event().wait(0.01))
    with DeviceWatch(changes.release):
        assert not changes.acquire(timeout=0.2)
        seen[0] = state(device("a"), device("b"))
        assert changes.acquire(timeout=2) and not changes.acquire(timeout=0.2)
        seen[0] = None  # the server's death
        assert changes.acquire(timeout=2)
    assert not any(thread.name == "audio-watch" for thread in threading.enumerate())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads ALSA's files")
def test_without_a_server_alsas_files_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    cards = tmp_path / "cards"
    monkeypatch.setattr(watch, "ALSA_FILES", (str(cards),))
    none = signature(None)
    cards.write_text(" 0 [PCH ]: HDA-Intel")
    assert signature(None) != none


def test_stream_is_found_by_its_tag_or_number() -> None:
    def place(*streams: PulseStream, number: int | None = None) -> int | None:
        found = PulseState((), streams).stream("microphone", "5", number)
        return found and found.number

    ours, later, other = (PulseStream("microphone", n, 0, tag) for n, tag in ((1, "5"), (2, "5"), (3, "6")))
    assert place(ours, other) == 1 and place(ours, later, other) == 2 and place(other) is None
    plain = [PulseStream("microphone", number, 0) for number in (1, 2)]
    assert place(*plain) == 2 and place(*plain, number=1) == 1 and place(plain[1], number=1) == 2


def test_pipe_held_open_by_another_process_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        held = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]})).recv(1)"
        holder = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {held!r}])"
        popen = list_process.subprocess.Popen
        monkeypatch.setattr(
            list_process.subprocess, "Popen", lambda command, **how: popen([sys.executable, "-c", holder], **how)
        )
        monkeypatch.setattr(list_process, "READER_SECONDS", 0.1)
        child = ListProcess()
        child._process.wait()
        begun = time.monotonic()
        child.stop()
        assert time.monotonic() - begun < 2 and child._reader.is_alive() and child._reader.daemon
        server.accept()[0].close()  # which ends the other process
        child._reader.join()


def test_devices_of_one_make_keep_their_names_while_present() -> None:
    twins = {"usb.1": "Twin", "usb.2": "Twin", "other": "Other"}
    assert distinct_names("microphone", twins) == {"usb.1": "Twin", "usb.2": "Twin (2)", "other": "Other"}
    assert distinct_names("microphone", {"usb.2": "Twin"}) == {"usb.2": "Twin (2)"}
    assert distinct_names("microphone", {"usb.2": "Twin", "usb.3": "Twin"}) == {"usb.2": "Twin (2)", "usb.3": "Twin"}
    assert distinct_names("loudspeaker", {"usb.2": "Twin"}) == {"usb.2": "Twin"}


def server(*names: str) -> PulseState:
    devices = [
        PulseDevice("microphone", name.lower(), name, 48_000, 1, False, False, not number, "ABC".index(name))
        for number, name in enumerate(names)
    ]
    return PulseState(tuple(devices), ())


def with_streams(state: PulseState, slot: DeviceSlot, device: int, *others: PulseStream) -> PulseState:
    """With the slot's stream on a device, and other streams of this process."""
    return PulseState(state.devices, (PulseStream("microphone", 7, device, slot.active._opened.tag), *others))


@pytest.fixture
def slot(monkeypatch: pytest.MonkeyPatch) -> Iterator[DeviceSlot]:
    """On the device A, which the user chose, of A, B and C."""
    fake = FakeSoundDevice(("pulse", "ALSA", 32, 32))
    monkeypatch.setattr(portaudio_library, "load", lambda: fake)
    slot = DeviceSlot("microphone", "A", ManagedSource(lambda: None, lambda: None), [].append)
    state = server("A", "B", "C")
    slot.open(slot.find("A", state), True)
    slot.start_use(with_streams(state, slot, 0))
    yield slot
    slot.active.close()


def test_another_stream_of_this_process_is_no_move(slot: DeviceSlot) -> None:
    state = with_streams(server("A", "B"), slot, 0, PulseStream("microphone", 8, 1, "another"))
    slot.check(state, 0.1)
    assert not slot.needs_switch(state, 1.0, 0.0) and slot.active.name == "A"


def test_a_move_in_the_systems_settings_lasts_as_long_as_its_device(slot: DeviceSlot) -> None:
    moved = with_streams(server("A", "B", "C"), slot, 1)
    assert not slot.needs_switch(moved, 1.0, 0.0) and (slot.active.name, slot.cause) == ("B", "mixer")
    assert not slot.needs_switch(moved, 2.0, 0.0)
    assert slot.needs_switch(with_streams(server("A", "C"), slot, 2), 3.0, 0.0)  # back to the chosen one


def notified(*states: tuple[float, str]) -> list[tuple[str, str]]:
    notices: list[DeviceNotice] = []
    notifier = DeviceNotifier("microphone", notices.append)
    notifier.start("A")
    for now, name in states:
        notifier.update(now, name, DeviceStatus(""))
    return [(notice.change, notice.name) for notice in notices]


def test_losses_are_reported_sparingly() -> None:
    assert notified((0.0, ""), (0.9, ""), (1.0, "A"), (9.0, "A")) == []
    assert notified((0.0, ""), (1.1, ""), (5.0, "A"), (5.4, "A")) == [("lost", ""), ("back", "A")]
    assert len(notified(*[(at / 10, "AB"[at // 10 % 2]) for at in range(300)])) <= 8


def test_a_refusal_is_reported_once() -> None:
    notices: list[DeviceNotice] = []
    notifier = DeviceNotifier("microphone", notices.append)
    status = DeviceStatus("A", refused=True, problem="“A” is in use.")
    notifier.start("A")
    for at in range(10):
        notifier.update(at / 10, "B", status)
    status.cause = "default"
    for at in range(10, 20):
        notifier.update(at / 10, "C", status)
    assert [notice.sentence.partition(".")[0] for notice in notices] == [
        "“A” is in use",
        "The system's microphone is now “C”: the conversation continues with it",
    ]


@pytest.mark.parametrize("kind", ["microphone", "loudspeaker"])
def test_a_suspended_device_is_reported_once_it_lasts(kind: DeviceKind) -> None:
    notices: list[DeviceNotice] = []
    notifier = DeviceNotifier(kind, notices.append)
    notifier.start("A")
    for at, suspended in ((0.0, True), (1.5, False), (2.0, True), (3.9, True), (4.1, True), (9.0, True)):
        notifier.update_suspended(at, "A", suspended)
    assert [notice.change for notice in notices] == ["note"] and "suspended" in notices[0].sentence
    notifier.update_suspended(9.1, "A", False)
    notifier.update_suspended(9.2, "A", False)
    assert [(notice.kind, notice.change) for notice in notices] == [(kind, "note"), (kind, "back")]
