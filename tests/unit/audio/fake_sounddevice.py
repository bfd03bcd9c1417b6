"""A stand-in for the module sounddevice: devices are data, and the test calls the callback itself."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

BLOCK = 480
INVALID_CHANNELS, INVALID_RATE = -9998, -9997
"""Error codes of portaudio.h."""


class PortAudioError(Exception):
    """(message, code[, host error]), as sounddevice raises it."""


def ramp(start: int, count: int) -> np.ndarray:
    return (np.arange(start, start + count) % 30_000 / 32_768).astype(np.float32)


def accept_only(rate: int, channels: int) -> Callable[[dict], Exception | None]:
    """For `FakeSoundDevice.refuse`: a device that accepts one format."""

    def refuse(options: dict) -> Exception | None:
        if options["samplerate"] != rate:
            return PortAudioError("Invalid sample rate", INVALID_RATE)
        if options["channels"] != channels:
            return PortAudioError("Invalid number of channels", INVALID_CHANNELS)
        return None

    return refuse


class FakeStream:
    """A stream that runs when `tick` is called. `owner` accepts or refuses its format and device."""

    def __init__(self, owner: FakeSoundDevice, kind: str, **options) -> None:
        self.owner, self.kind, self.options = owner, kind, options
        self.calls: list[str] = []
        owner.attempts.append((options["samplerate"], options["channels"]))
        error = owner.refuse(options)
        if error is not None:
            raise error
        self.latency = 0.04
        owner.streams.append(self)

    def start(self) -> None:
        self.calls.append("start")

    def stop(self) -> None:
        self.calls.append("stop")

    def abort(self) -> None:
        self.calls.append("abort")

    def close(self) -> None:
        self.calls.append("close")
        self.options["finished_callback"]()

    def tick(self, block: np.ndarray | None = None) -> np.ndarray:
        """Calls the callback once, with `block` of shape (n, channels) captured or to be filled; returns the block."""
        frames, channels = self.options["blocksize"], self.options["channels"]
        if block is None:
            block = np.full((frames, channels), np.nan, np.float32)
        assert block.shape == (frames, channels)
        self.options["callback"](block, frames, None, None)
        return block

    def vanish(self) -> None:
        self.options["finished_callback"]()


class FakeSoundDevice:
    """Replaces `portaudio_library.load()`. Devices: (name, host API, inputs, outputs[, default rate])."""

    PortAudioError = PortAudioError

    def __init__(self, *rows: tuple, default: tuple[int, int] = (-1, -1), default_api: int = 0) -> None:
        self.set_devices(*rows, default=default, default_api=default_api)
        self.attempts: list[tuple[int, int]] = []
        self.streams: list[FakeStream] = []
        self.refuse: Callable[[dict], Exception | None] = lambda options: None
        self.restarts = 0
        self.on_restart: Callable[[], None] = lambda: None

    def set_devices(self, *rows: tuple, default: tuple[int, int] = (-1, -1), default_api: int = 0) -> None:
        names = list(dict.fromkeys(row[1] for row in rows))
        self._devices = [
            {
                "name": row[0],
                "hostapi": names.index(row[1]),
                "max_input_channels": row[2],
                "max_output_channels": row[3],
                "default_samplerate": float(row[4] if len(row) > 4 else 48_000),
            }
            for row in rows
        ]
        self._apis = []
        for number, name in enumerate(names):
            own = [index for index, info in enumerate(self._devices) if info["hostapi"] == number]
            self._apis.append(
                {
                    "name": name,
                    "devices": own,
                    "default_input_device": default[0] if default[0] in own else -1,
                    "default_output_device": default[1] if default[1] in own else -1,
                }
            )
        self.default = SimpleNamespace(hostapi=default_api)

    def query_devices(self) -> list[dict]:
        return self._devices

    def query_hostapis(self) -> tuple[dict, ...]:
        return tuple(self._apis)

    def InputStream(self, **options) -> FakeStream:
        return FakeStream(self, "input", **options)

    def OutputStream(self, **options) -> FakeStream:
        return FakeStream(self, "output", **options)

    def WasapiSettings(self, auto_convert: bool) -> tuple[str, bool]:
        return ("wasapi", auto_convert)

    def _terminate(self) -> None:
        self.restarts += 1

    def _initialize(self) -> None:
        self.on_restart()
