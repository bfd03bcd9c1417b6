"""One PortAudio stream: opened in the first shape that the device accepts, closed without ever hanging.

Knows nothing of what its callback does with the samples.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from app.audio.devices import listing, pulse
from app.audio.devices.listing import Device
from app.audio.io import portaudio_library
from app.audio.io.errors import DeviceError
from app.conversation.frame import SAMPLE_RATE

BLOCK_SECONDS = 0.01
"""Blocks of a whole frame come in bunches through a sound server (0 and 100 ms apart); of 10 ms, evenly (measured: 19
of 20 within 3 ms). Shared-mode WASAPI's own period is 10 ms, too."""

SAFE_BLOCK_SECONDS = 0.02
"""For a device that didn't keep up with the short ones."""

WASAPI_ROOM_SECONDS = 0.5
"""What Windows keeps of a microphone's sound while Python is busy elsewhere. It comes as soon as with the least room of
30 ms, which loses all that is beyond it without a word (measured: 470 of 500 ms)."""

_slow: set[str] = set()
"""Names of the devices that need `SAFE_BLOCK_SECONDS`, for the life of the process."""

CLOSE_SECONDS = 2.0
"""How long a driver may take to let go. One whose server has died may never; the app goes on without it."""

INPUT, OUTPUT = "microphone", "loudspeaker"


_tokens = itertools.count(1)


class DeviceStream:
    """A started stream on a device.

    `rate` (hertz) and `channels` say which shape the device took; `block` is the callback's size in samples
    per channel. `finished` turns True when the stream ends without having been closed: the device is gone.
    """

    def __init__(self, kind: str, name: str | None, device: Device | None = None) -> None:
        """`kind`: INPUT or OUTPUT; `name` as for `find_input`; `device` if it was found already.

        Without a name the sound server, where there is one, chooses the device, and may change it later on.
        Raises `DeviceError`.
        """
        self.kind = kind
        self.finished = False
        self.token = str(next(_tokens))
        """What the sound server's stream is marked with; see `PulseStream`."""
        self._closing = False
        self.device = device or _find(kind, name)
        self._aim = {} if name is None else _aim(kind, self.device.pulse_name)

    def start(self, prepare: Callable[[int, int, int], Callable[..., None]]) -> None:
        """Open and start; `prepare(rate, channels, block)` makes the callback for each shape tried."""
        sounddevice = portaudio_library.load()
        make = sounddevice.InputStream if self.kind == INPUT else sounddevice.OutputStream
        refused: Exception | None = None
        seconds = SAFE_BLOCK_SECONDS if self.device.name in _slow else BLOCK_SECONDS
        with portaudio_library.LOCK, portaudio_library.environment(self._aim | pulse.mark(self.token)):
            for rate, channels in shapes(self.kind, self.device):
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
                            latency=self._latency(),
                            extra_settings=self._settings(sounddevice),
                            callback=callback,
                            finished_callback=self._on_finished,
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
                        break  # no other shape helps
                    continue
                self._stream = stream
                self.latency = float(stream.latency)
                portaudio_library.count_stream(+1)
                return
        raise portaudio_library.explain(refused, self.kind, self.device.name) from refused

    def close(self, drain: bool, wait: float | None = None) -> None:
        """Stop, with `drain` only after the device's own buffer has been played; waits at most `CLOSE_SECONDS`.

        `wait`: another number of seconds to wait; the stream is closed behind it all the same.
        """
        self._closing = True
        closer = threading.Thread(
            target=self._close, args=(drain and not self.finished,), name="audio-close", daemon=True
        )
        closer.start()
        closer.join(CLOSE_SECONDS if wait is None else wait)

    def _close(self, drain: bool) -> None:
        # Outside the lock: a driver that hangs here must not take every later stream with it.
        if drain:
            self._stream.stop()
        else:
            self._stream.abort()
        self._stream.close()
        portaudio_library.count_stream(-1)  # one that hangs stays counted: PortAudio can't be restarted under it

    def _on_finished(self) -> None:
        # Runs in PortAudio's thread: one assignment.
        if not self._closing:
            self.finished = True

    def _latency(self) -> str | float:
        if self.kind == INPUT and self.device.host_api == listing.WASAPI:
            return WASAPI_ROOM_SECONDS
        return "low"

    def _settings(self, sounddevice: Any) -> Any:
        if self.device.host_api == listing.WASAPI:
            # Shared mode refuses every rate but the mixer's own, unless Windows may convert.
            return sounddevice.WasapiSettings(auto_convert=True)
        return None


def remember_slow(name: str) -> bool:
    """From now on the device of this name gets longer blocks; False if it has them already."""
    if name in _slow:
        return False
    _slow.add(name)
    return True


def _aim(kind: str, pulse_name: str) -> dict[str, str]:
    """The environment that makes the sound server's ALSA plugins connect to this device of its."""
    if not pulse_name:
        return {}
    # PulseAudio's plugin reads the first, PipeWire's the second.
    return {"PULSE_SOURCE" if kind == INPUT else "PULSE_SINK": pulse_name, "PIPEWIRE_NODE": pulse_name}


def shapes(kind: str, device: Device) -> Iterator[tuple[int, int]]:
    """(rate, channels) to try, best first: ours, then what the device says it has."""
    most = device.inputs if kind == INPUT else device.outputs
    tried: list[tuple[int, int]] = []
    for rate in (SAMPLE_RATE, device.default_rate):
        for channels in (1, min(2, most), most):
            if (rate, channels) not in tried:
                tried.append((rate, channels))
                yield rate, channels


def _find(kind: str, name: str | None) -> Device:
    find = listing.find_input if kind == INPUT else listing.find_output
    try:
        return find(name)
    except DeviceError:
        # It may have been plugged in since PortAudio looked.
        if not listing.refresh():
            raise
        return find(name)
