"""Devices that can be plugged and unplugged, over a stand-in for PortAudio as on Windows, without a sound server."""

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from app.audio.devices import list_process, manager, portaudio_library, pulse, watch
from app.audio.devices.listing import Device, list_devices
from app.audio.devices.manager import DeviceManager
from app.audio.devices.pulse import PulseServer
from app.conversation.events import DeviceNotice
from tests.unit.audio.fake_sounddevice import FakeSoundDevice, FakeStream, PortAudioError

API = "Windows WASAPI"
HEADSET, BUILT_IN, CALL = ("Headset", API, 1, 0), ("Built-in", API, 2, 0), ("Call", API, 1, 0, 16_000)
SPEAKER = ("Speaker", API, 0, 2)


class AudioRig:
    """The devices that are plugged in: PortAudio lists them when it is restarted. Open streams run by themselves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fake = FakeSoundDevice()
        self.rows: list[tuple] = [HEADSET, BUILT_IN, SPEAKER]
        self.default = (0, 2)
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
        monkeypatch.setattr(manager, "ABSENT_RETRY_SECONDS", 0.3)
        monkeypatch.setattr(manager, "TICK_SECONDS", 0.03)
        self._runner = threading.Thread(target=self._run, daemon=True)
        self._runner.start()

    def plug(self, *rows: tuple, default: tuple[int, int]) -> None:
        self.rows, self.default = list(rows), default

    def lose(self, kind: str) -> None:
        self.open(kind).vanish()

    def open(self, kind: str) -> FakeStream:
        return next(s for s in reversed(self.fake.streams) if s.kind == kind and s.calls == ["start"])

    def stop(self) -> None:
        self._leave.set()
        self._runner.join()

    def name_of(self, stream: FakeStream) -> str:
        return self.fake._devices[stream.options["device"]]["name"]

    def refuse(self, name: str, code: int) -> None:
        names = self.fake._devices
        self.fake.refuse = lambda options: (
            PortAudioError("x", code) if names[options["device"]]["name"] == name else None
        )

    def listed(self) -> list[Device] | None:
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


@contextlib.contextmanager
def session(microphone: str = "", loudspeaker: str = "") -> Iterator[DeviceManager]:
    devices = DeviceManager(microphone, loudspeaker)
    with devices.sink, devices.source:
        yield devices


def wait_until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def notices_of(devices: DeviceManager, count: int) -> list[DeviceNotice]:
    notices = notices_during(devices, 5, count)
    assert len(notices) == count, notices
    return notices


def notices_during(devices: DeviceManager, seconds: float, most: float = math.inf) -> list[DeviceNotice]:
    notices: list[DeviceNotice] = []
    deadline = time.monotonic() + seconds
    while len(notices) < most and time.monotonic() < deadline:
        devices.source.read_frame(0.02)
        notices += devices.notices()
    return notices
