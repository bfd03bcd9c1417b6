"""A PortAudio stream that is opened with the first format the device accepts and closed without hanging."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any, Self

from app.audio.devices import listing, portaudio_library, pulse
from app.audio.devices.listing import Device
from app.audio.io.base import DeviceError
from app.conversation.events import DeviceKind
from app.conversation.frame import SAMPLE_RATE

BLOCK_SECONDS = 0.01
"""Block length. Through a sound server, blocks of a whole frame arrive in bursts (0 and 100 ms apart), whereas blocks
of 10 ms arrive evenly (measured: 95 % within 3 ms). The period of shared-mode WASAPI is also 10 ms."""

SAFE_BLOCK_SECONDS = 0.02
"""Block length for a device that couldn't keep up with short blocks."""

WASAPI_BUFFER_SECONDS = 0.5
"""Length of the Windows buffer that holds microphone audio while Python is busy. It adds no latency compared with the
minimum of 30 ms, but a buffer that short silently drops everything that doesn't fit (measured: 470 of 500 ms)."""

_slow: set[str] = set()
"""Names of the devices that need `SAFE_BLOCK_SECONDS`; kept for the process lifetime."""

CLOSE_SECONDS = 2.0
"""How long to wait for a driver to close a stream. It may never return if its server has died, so the app continues."""

_tags = itertools.count(1)


class DeviceStream:
    """A started stream on a device.

    `rate` (Hz) and `channels` describe the format that the device accepted; `block` is the callback's block size in
    samples per channel. `finished` becomes True if the stream ends without being closed, i.e. if the device is gone.
    """

    def __init__(self, kind: DeviceKind, name: str | None, device: Device | None = None) -> None:
        """Finds the device. `name`: see `find_device`; `device`: the result, if already known. Raises `DeviceError`.

        Without a name, the sound server (if there is one) chooses the device and may change it later.
        """
        self.kind = kind
        self.finished = False
        self.tag = str(next(_tags))
        """Identifies the sound server's stream; see `PulseStream`."""
        self._closing = False
        self.device = device or _find(kind, name)
        self._target = {} if name is None else _target_environment(kind, self.device.pulse_name)

    def start(self, prepare: Callable[[int, int, int], Callable[..., None]], *, prepared: bool = False) -> None:
        """Opens and starts the stream. Raises `DeviceError`.

        `prepare(rate, channels, block)` creates the callback for each format tried. `prepared`: see `StreamOwner`.
        """
        sounddevice = portaudio_library.load()
        make = sounddevice.InputStream if self.kind == "microphone" else sounddevice.OutputStream
        slow = prepared or self.device.name in _slow
        seconds = SAFE_BLOCK_SECONDS if slow else BLOCK_SECONDS
        environment = self._target | pulse.tag_environment(self.tag)
        refused: Exception = DeviceError()
        with portaudio_library.LOCK, portaudio_library.environment(environment):
            for rate, channels in formats(self.kind, self.device, stereo=prepared):
                self.rate, self.channels, self.block = rate, channels, round(rate * seconds)
                callback = prepare(self.rate, self.channels, self.block)
                stream = None
                try:
                    with portaudio_library.quiet_stderr():
                        stream = make(
                            samplerate=rate,
                            blocksize=self.block,
                            device=self.device.index,
                            channels=channels,
                            dtype="float32",
                            callback=callback,
                            finished_callback=self._on_finished,
                            **self._host_options(sounddevice, "high" if prepared else "low"),
                        )
                        stream.start()
                except sounddevice.PortAudioError as error:
                    if stream is not None:
                        self._closing = True
                        stream.close()
                        self._closing = self.finished = False
                    refused = error
                    if portaudio_library.code_of(error) in (
                        portaudio_library.UNAVAILABLE,
                        portaudio_library.INVALID_DEVICE,
                    ):
                        break  # no other format helps
                    continue
                self._stream = stream
                self.latency = float(stream.latency)
                portaudio_library.count_stream(+1)
                return
        raise portaudio_library.explain(refused, self.kind, self.device.name) from refused

    def close(self, drain: bool, wait: float | None = None) -> None:
        """Stops and closes the stream. If `drain` is set, the device's own buffer is played first.

        Waits at most `wait` seconds (default: `CLOSE_SECONDS`); closing then continues in the background.
        """
        self._closing = True
        closer = threading.Thread(
            target=self._close, args=(drain and not self.finished,), name="audio-close", daemon=True
        )
        closer.start()
        closer.join(CLOSE_SECONDS if wait is None else wait)

    def _close(self, drain: bool) -> None:
        # Not under the lock, so that a hanging driver can't block later streams.
        if drain:
            self._stream.stop()
        else:
            self._stream.abort()
        self._stream.close()
        portaudio_library.count_stream(-1)  # a hanging stream stays counted, since it prevents a restart of PortAudio

    def _on_finished(self) -> None:
        # Runs on PortAudio's thread, so it only makes one assignment.
        if not self._closing:
            self.finished = True

    def _host_options(self, sounddevice: Any, latency: str) -> dict[str, Any]:
        if self.device.host_api != listing.WASAPI:
            return {"latency": latency, "extra_settings": None}
        return {
            "latency": WASAPI_BUFFER_SECONDS if self.kind == "microphone" else latency,
            # Shared mode only accepts the mixer's own rate unless Windows may convert.
            "extra_settings": sounddevice.WasapiSettings(auto_convert=True),
        }


class StreamOwner:
    """The base class of `Microphone`, `Loudspeaker` and `StereoClip`, which finds, opens and closes a device.

    `name`: see `find_device`, None for the default device; `device`: the device, if already found.
    """

    kind: DeviceKind
    prepared = False
    """Whether all samples are available before playback starts. If so, stereo is preferred, and a higher latency is
    used to make interruptions less likely.
    """

    def __init__(self, name: str | None = None, device: Device | None = None) -> None:
        self.name = name or f"default {self.kind}"
        self._requested = name
        self._found = device
        self._stream: DeviceStream | None = None

    def __enter__(self) -> Self:
        with portaudio_library.LOCK:  # PortAudio must not be restarted between finding and opening
            stream = DeviceStream(self.kind, self._requested, self._found)
            self.name = stream.device.name
            stream.start(self._prepare, prepared=self.prepared)
        self._stream = stream
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self, wait: float | None = None) -> None:
        """Closes the device if it is open; see `DeviceStream.close`. Captured samples can still be read."""
        stream, self._stream = self._stream, None
        if stream is not None:
            self._discard()
            stream.close(drain=self.kind == "loudspeaker" and not self.prepared, wait=wait)

    def _prepare(self, rate: int, channels: int, block: int) -> Callable[..., None]:
        """Creates the callback for this format."""
        raise NotImplementedError

    def _discard(self) -> None:
        """Discards samples queued for playback."""

    # Another thread may close the device between two reads of `_stream`.

    @property
    def finished(self) -> bool:
        """Whether the device is gone."""
        stream = self._stream
        return stream is None or stream.finished

    @property
    def tag(self) -> str:
        """Identifies the sound server's stream; see `PulseStream`."""
        stream = self._stream
        return stream.tag if stream is not None else ""

    @property
    def latency(self) -> float:
        """Latency between the callback and the microphone or loudspeaker in seconds, as reported by the device."""
        stream = self._stream
        return stream.latency if stream is not None else 0.0

    def _open_stream(self) -> DeviceStream:
        stream = self._stream
        if stream is None:
            raise ValueError(f"a {type(self).__name__} is used inside its `with`")
        return stream


def use_longer_blocks(name: str) -> bool:
    """Makes the device `name` open with longer blocks in future. Returns False if it already does."""
    if name in _slow:
        return False
    _slow.add(name)
    return True


def formats(kind: DeviceKind, device: Device, *, stereo: bool = False) -> list[tuple[int, int]]:
    """Returns the (rate, channels) pairs to try, best first: our rate, then the device's default rate."""
    most = device.channels(kind)
    counts = (min(2, most), 1, most) if stereo else (1, min(2, most), most)
    return list(dict.fromkeys((rate, channels) for rate in (SAMPLE_RATE, device.default_rate) for channels in counts))


def _target_environment(kind: DeviceKind, pulse_name: str) -> dict[str, str]:
    """Returns the environment variables that make the sound server's ALSA plugins connect to this device."""
    if not pulse_name:
        return {}
    # PulseAudio's plugin reads the first, PipeWire's the second.
    return {"PULSE_SOURCE" if kind == "microphone" else "PULSE_SINK": pulse_name, "PIPEWIRE_NODE": pulse_name}


def _find(kind: DeviceKind, name: str | None) -> Device:
    try:
        return listing.find_device(kind, name)
    except DeviceError:
        # The device may have been plugged in after PortAudio listed the devices.
        if not portaudio_library.restart():
            raise
        return listing.find_device(kind, name)
