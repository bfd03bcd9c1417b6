"""Finding devices by name, and the error messages when that fails, over a stand-in for PortAudio."""

import importlib
import os
import sys
from collections.abc import Callable

import pytest

from app.audio.devices import portaudio_library, pulse
from app.audio.devices.listing import find_device, list_devices
from app.audio.io.base import DeviceError
from tests.support.raising import raising
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


def test_list(plug) -> None:
    plug(*ROWS, default=(2, 1))
    devices = list_devices()
    assert [device.name for device in devices] == [row[0] for row in ROWS]
    camera = devices[2]
    assert (camera.inputs, camera.outputs, camera.default_rate, camera.host_api) == (2, 0, 16_000, "ALSA")
    assert [device.is_default_input for device in devices] == [False, False, True, False]
    assert [device.is_default_output for device in devices] == [False, True, False, False]


@pytest.mark.parametrize(
    ("rows", "default", "microphone", "loudspeaker"),
    [(ROWS, (2, 1), "USB Camera: Audio", "USB Headset: Audio"), ((SPEAKER, MIC), (-1, -1), "Mic", "Speaker")],
    ids=["default", "first without a default"],
)
def test_no_name(plug, rows, default, microphone: str, loudspeaker: str) -> None:
    plug(*rows, default=default)
    assert (find_device("microphone").name, find_device("loudspeaker").name) == (microphone, loudspeaker)


def test_names(plug) -> None:
    plug(*ROWS, MIC, ("Mic 2", "ALSA", 1, 0))
    assert find_device("microphone", "mic").name == "Mic"  # exact, ignoring case, before part of a name
    assert find_device("microphone", "camera").name == "USB Camera: Audio"
    assert find_device("loudspeaker", " usb ").name == "USB Headset: Audio"  # the camera has no output


MANY = [(f"Mic {index}", "ALSA", 1, 0) for index in range(9)]


@pytest.mark.parametrize(
    ("rows", "kind", "name", "words"),
    [
        (ROWS, "microphone", "usb", "“usb” could be any of “USB Headset: Audio”, “USB Camera: Audio”.*the microphone"),
        (ROWS, "microphone", "USB Hedset Audio", "no microphone named “USB Hedset Audio”.*“USB Headset: Audio”"),
        (MANY, "microphone", "zzzzzz", "There is “Mic 0”, .*“Mic 5” and 3 more"),
        ((), "microphone", None, "No microphone was found.*Plug one in"),
        ((SPEAKER,), "microphone", "Mic", "No microphone was found.*Plug one in"),
        ((MIC,), "loudspeaker", None, "No loudspeaker was found.*Plug in"),
    ],
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


@pytest.mark.parametrize(
    ("platform", "error", "words"),
    [
        ("linux", OSError("PortAudio library not found"), "PortAudio.*sudo apt install libportaudio2"),
        ("win32", OSError("PortAudio library not found"), "PortAudio.*Install the app again"),
        (sys.platform, ImportError("no"), "pip install"),
        (sys.platform, ValueError("x"), "sound system"),
    ],
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


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PortAudioError("Device unavailable", -9985), "in use by another program"),
        (PortAudioError("Invalid device", -9996), "is gone"),
        (PortAudioError("Host error", -9999, (2, -2147024891, "")), "doesn't let this app use"),
        (PortAudioError("Host error", -9999, (0, -13, "Permission denied")), "doesn't let this app use"),
        (PortAudioError("Something odd", -1), "Something odd"),
        (PortAudioError(), "couldn't be opened"),
    ],
)
def test_portaudio_errors_in_words(error: PortAudioError, words: str) -> None:
    sentence = str(portaudio_library.explain(error, "microphone", "Mic"))
    assert words in sentence and "microphone “Mic”" in sentence and sentence.endswith(".")
