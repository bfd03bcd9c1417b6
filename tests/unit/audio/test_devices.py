"""Finding devices by name, and noticing those that come and go, over stand-ins for PortAudio and the system."""

import importlib
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from app.audio.devices import list_process, portaudio_library, pulse, watch
from app.audio.devices.list_process import ListProcess
from app.audio.devices.listing import find_device, list_devices
from app.audio.devices.managed_source import ManagedSource
from app.audio.devices.messages import DeviceNotifier, DeviceStatus
from app.audio.devices.pulse import PulseDevice, PulseServer, PulseState, PulseStream, distinct_names
from app.audio.devices.slot import DeviceSlot
from app.audio.devices.watch import DeviceWatch, signature, windows_names
from app.audio.io.base import DeviceError
from app.conversation.events import DeviceKind, DeviceNotice
from tests.support.raising import raising
from tests.support.tables import cases
from tests.unit.audio.fake_sounddevice import FakeSoundDevice, PortAudioError

ROWS = (
    ("HDA Intel PCH: ALC257", "ALSA", 2, 2),
    ("USB Headset: Audio", "ALSA", 1, 2),
    ("USB Camera: Audio", "ALSA", 2, 0, 16_000),
    ("pulse", "ALSA", 32, 32, 44_100),
)
MIC, SPEAKER = ("Mic", "ALSA", 1, 0), ("Speaker", "ALSA", 0, 2)


@pytest.fixture
def plug(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeSoundDevice]:
    def plug(*rows: tuple, **options) -> FakeSoundDevice:
        fake = FakeSoundDevice(*rows, **options)
        monkeypatch.setattr(portaudio_library, "load", lambda: fake)
        return fake

    monkeypatch.setattr(pulse, "query", lambda: None)  # ignores this machine's sound server
    return plug


def test_devices_are_listed_and_found_by_name(plug) -> None:
    plug(*ROWS, default=(2, 1))
    devices = list_devices()
    assert [device.name for device in devices] == [row[0] for row in ROWS]
    camera = devices[2]
    assert (camera.inputs, camera.outputs, camera.default_rate, camera.host_api) == (2, 0, 16_000, "ALSA")
    assert [device.is_default_input for device in devices] == [False, False, True, False]
    assert [device.is_default_output for device in devices] == [False, True, False, False]
    plug(*ROWS, MIC, ("Mic 2", "ALSA", 1, 0))
    assert find_device("microphone", "mic").name == "Mic"  # exact, ignoring case, before part of a name
    assert find_device("microphone", "camera").name == "USB Camera: Audio"
    assert find_device("loudspeaker", " usb ").name == "USB Headset: Audio"  # the camera has no output


@pytest.mark.parametrize(
    ("rows", "default", "microphone", "loudspeaker"),
    [(ROWS, (2, 1), "USB Camera: Audio", "USB Headset: Audio"), ((SPEAKER, MIC), (-1, -1), "Mic", "Speaker")],
    ids=["default", "first without a default"],
)
def test_no_name(plug, rows, default, microphone: str, loudspeaker: str) -> None:
    plug(*rows, default=default)
    assert (find_device("microphone").name, find_device("loudspeaker").name) == (microphone, loudspeaker)


MANY = [(f"Mic {index}", "ALSA", 1, 0) for index in range(9)]


@cases(
    "rows, kind, name, words",
    (ROWS, "microphone", "usb", "“usb” could be any of “USB Headset: Audio”, “USB Camera: Audio”.*the microphone"),
    (ROWS, "microphone", "USB Hedset Audio", "no microphone named “USB Hedset Audio”.*“USB Headset: Audio”"),
    (MANY, "microphone", "zzzzzz", "There is “Mic 0”, .*“Mic 5” and 3 more"),
    ((), "microphone", None, "No microphone was found.*Plug one in"),
    ((SPEAKER,), "microphone", "Mic", "No microphone was found.*Plug one in"),
    ((MIC,), "loudspeaker", None, "No loudspeaker was found.*Plug in"),
)
def test_what_is_not_found_is_told_with_what_there_is(plug, rows, kind: str, name: str | None, words: str) -> None:
    plug(*rows)
    with pytest.raises(DeviceError, match=words) as caught:
        find_device(kind, name)
    assert "pulse" not in str(caught.value)


def test_windows_lists_each_device_once_with_wasapis_default(plug) -> None:
    plug(
        ("Microphone (Realtek High Defini", "MME", 2, 0),
        ("Speakers (Realtek High Defini", "MME", 0, 2),
        ("Microphone (Realtek High Definition Audio)", "Windows WASAPI", 2, 0),
        ("Headset (USB)", "Windows WASAPI", 1, 0),
        ("Speakers (Realtek High Definition Audio)", "Windows WASAPI", 0, 2),
        default=(3, 4),
    )
    assert len(list_devices()) == 3
    assert find_device("microphone").name == "Headset (USB)"
    assert find_device("loudspeaker", "speakers").host_api == "Windows WASAPI"


def test_same_name_under_two_host_apis_means_the_default(plug) -> None:
    plug(("Scarlett", "JACK", 2, 2), ("Scarlett", "ALSA", 2, 2), default=(1, 1), default_api=1)
    assert find_device("microphone", "scarlett").index == 1
    assert find_device("microphone", "scarl").index == 0


def test_restart_lists_new_devices(plug) -> None:
    fake = plug(MIC)
    fake.on_restart = lambda: fake.set_devices(("New", "ALSA", 1, 0))
    portaudio_library.count_stream(+1)
    try:
        assert not portaudio_library.restart()  # not while a stream is open
    finally:
        portaudio_library.count_stream(-1)
    assert fake.restarts == 0
    assert portaudio_library.restart()
    assert find_device("microphone").name == "New"


def test_failed_restart_can_be_repeated(plug, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = plug(MIC)
    calls: list[str] = []

    def initialize() -> None:
        calls.append("initialize")
        if len(calls) == 2:
            raise PortAudioError("Host error", -9999)

    monkeypatch.setattr(portaudio_library, "_initialised", True)
    monkeypatch.setattr(fake, "_terminate", lambda: calls.append("terminate"))
    monkeypatch.setattr(fake, "_initialize", initialize)
    with pytest.raises(DeviceError, match="couldn't be started again"):
        portaudio_library.restart()
    assert portaudio_library.restart() and calls == ["terminate", "initialize", "initialize"]


def test_unreadable_list(plug, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = plug(MIC)
    monkeypatch.setattr(fake, "query_devices", raising(PortAudioError("PortAudio not initialized", -10_000)))
    with pytest.raises(DeviceError, match="couldn't be listed"):
        list_devices()


@cases(
    "platform, error, words",
    ("linux", OSError("PortAudio library not found"), "PortAudio.*sudo apt install libportaudio2"),
    ("win32", OSError("PortAudio library not found"), "PortAudio.*Install the app again"),
    (sys.platform, ImportError("no"), "pip install"),
    (sys.platform, ValueError("x"), "sound system"),
)
def test_portaudio_cannot_load(monkeypatch: pytest.MonkeyPatch, platform: str, error: Exception, words: str) -> None:
    monkeypatch.setattr(importlib, "import_module", raising(error))
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(DeviceError, match=words):
        list_devices()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only ALSA and JACK print there")
def test_output_of_c_libraries_is_hidden_and_stderr_restored(capfd: pytest.CaptureFixture[str]) -> None:
    with portaudio_library.quiet_stderr():
        os.write(2, b"ALSA lib pcm.c: Unknown PCM\n")
    os.write(2, b"ours\n")
    assert capfd.readouterr().err == "ours\n"


@cases(
    "error, words",
    (PortAudioError("Device unavailable", -9985), "in use by another program"),
    (PortAudioError("Invalid device", -9996), "is gone"),
    (PortAudioError("Host error", -9999, (2, -2147024891, "")), "doesn't let this app use"),
    (PortAudioError("Host error", -9999, (0, -13, "Permission denied")), "doesn't let this app use"),
    (PortAudioError("Something odd", -1), "Something odd"),
    (PortAudioError(), "couldn't be opened"),
)
def test_portaudio_errors_in_words(error: PortAudioError, words: str) -> None:
    sentence = str(portaudio_library.explain(error, "microphone", "Mic"))
    assert words in sentence and "microphone “Mic”" in sentence and sentence.endswith(".")


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
