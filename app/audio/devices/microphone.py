"""The microphone, which assembles PortAudio's short blocks into frames.

The callback runs on PortAudio's thread and only copies its block into a ring buffer. It never locks, signals, logs or
computes, because a late callback is audible.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from app.audio.devices import portaudio_library
from app.audio.devices.listing import Device
from app.audio.devices.portaudio_stream import StreamOwner
from app.audio.io.resample import Resampler, to_mono
from app.audio.io.ring import Ring
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE

CAPTURE_SECONDS = 4.0
"""Capacity of the capture buffer: longer than the frame thread should ever be delayed."""

STALLED_SECONDS = 2.0
"""A device that has neither delivered nor requested samples for this long is considered lost, because unloading a
source in a sound server doesn't end its streams. Working devices pause for tens of ms; Bluetooth may start a second
late."""

POLL_SECONDS = 0.0015
"""Polling interval while a block is due: 1/50 of a frame."""


LOUD = 0.05
"""Peak amplitude of a block (10 ms) in which somebody may be talking: -26 dBFS."""


class Microphone(StreamOwner):
    """An `AudioSource` for a microphone. Opening raises `DeviceError` if it is missing, busy or not permitted."""

    kind = "microphone"

    def __init__(self, name: str | None = None, device: Device | None = None) -> None:
        super().__init__(name, device)
        self.xruns = 0
        """How often PortAudio reported that samples were lost before they reached the callback."""
        self.loud_blocks = 0
        """How many blocks were loud while the microphone was muted. Nothing else is kept of them."""
        self._muted = self._just_muted = False
        self._zeros_due = 0  # samples buffered before muting, which become zeros
        self._early: np.ndarray = np.zeros(0, np.float32)  # part of the incomplete frame, returned by `ahead`
        self._ring = self._converted = Ring(1)  # until a stream is open, so that the counters always work
        self._rate, self._channels = SAMPLE_RATE, 1
        self._block = 0

    @property
    def position(self) -> int:
        """Samples delivered since the device was opened. The count increases as long as the device works."""
        return self._ring.counts().written

    @property
    def muted(self) -> bool:
        """Whether the callback writes zeros. Muting also zeroes the samples already buffered. Any thread may set it."""
        return self._muted

    @muted.setter
    def muted(self, muted: bool) -> None:
        self._muted = muted
        self._just_muted = self._just_muted or muted

    @property
    def overruns(self) -> int:
        """Samples lost because they weren't read within `CAPTURE_SECONDS`, or before they reached the callback.

        PortAudio doesn't count the latter, so each of its reports counts as one block.
        """
        return self._to_24_khz(self._ring.counts().lost) + self.xruns * self._block

    @property
    def backlog(self) -> int:
        return self.waiting // FRAME_SAMPLES

    @property
    def waiting(self) -> int:
        """The number of buffered samples at 24 kHz, including those not converted yet."""
        waiting = len(self._early) + self._converted.queued
        if self._converted is not self._ring:
            waiting += self._to_24_khz(self._ring.queued)
        return waiting

    def read_frame(self, timeout: float) -> np.ndarray | None:
        stream = self._open_stream()
        now = time.perf_counter()
        deadline = now + timeout
        while True:
            frame = self.take()
            if frame is not None:
                self._silent_for = 0.0
                return frame
            if stream.finished:
                raise portaudio_library.gone("microphone", self.name)
            if now >= deadline:
                return None
            missing = (FRAME_SAMPLES - self.waiting) / SAMPLE_RATE
            time.sleep(max(0.0, min(max(missing - POLL_SECONDS, POLL_SECONDS), deadline - now)))
            before, now = now, time.perf_counter()
            self._check_stalled(now - before)

    def take(self) -> np.ndarray | None:
        """Returns the next frame if a whole one is buffered, else None. Never blocks or raises."""
        self._update()
        got = len(self._early)
        if got + self._converted.queued < FRAME_SAMPLES:
            return None
        frame = np.empty(FRAME_SAMPLES, np.float32)
        frame[:got], self._early = self._early, self._early[:0]
        while got < FRAME_SAMPLES:  # repeats only if the callback overwrites samples being read
            got += self._converted.read_into(frame[got:])
        zeros, self._zeros_due = self._zeros_due, max(0, self._zeros_due - FRAME_SAMPLES)
        return _finish(frame, zeros)

    def ahead(self) -> np.ndarray:
        self._update()
        room = min(self._converted.queued, FRAME_SAMPLES - 1 - len(self._early))
        if room > 0:
            more = np.empty(room, np.float32)
            got = self._converted.read_into(more)
            self._early = np.concatenate([self._early, more[:got]])
        return _finish(self._early.copy(), self._zeros_due)

    def drop_to_newest(self) -> int:
        self._convert()
        dropped = max(0, self.backlog - 1)
        self._skip(dropped * FRAME_SAMPLES)
        return dropped

    def drop_to_now(self) -> None:
        """Drops all buffered samples but the last 1,920, so that the next frame ends with the newest sample."""
        self._convert()
        self._skip(max(0, self.waiting - FRAME_SAMPLES))

    def _skip(self, samples: int) -> None:
        early = min(samples, len(self._early))
        self._early = self._early[early:]
        samples -= early
        samples -= self._converted.skip(samples) if self._converted is not self._ring else 0
        if samples:
            self._ring.skip(round(samples * self._rate / SAMPLE_RATE) * self._channels)

    def _prepare(self, rate: int, channels: int, block: int) -> Callable[..., None]:
        self._rate, self._channels = rate, channels
        self._block = block * SAMPLE_RATE // rate
        self._silent_for = 0.0
        self._last_position = 0
        self._zeros = np.zeros(block * channels, np.float32)
        self._ring = Ring(int(CAPTURE_SECONDS * rate) * channels)
        self._early = self._early[:0]
        if (rate, channels) == (SAMPLE_RATE, 1):
            self._converted = self._ring
        else:
            self._converted = Ring(int(CAPTURE_SECONDS * SAMPLE_RATE))
            self._resampler = Resampler(rate, SAMPLE_RATE)
            self._raw = np.empty(block * 5 * channels, np.float32)
        return self._on_block

    def _on_block(self, block: np.ndarray, frames: int, times: Any, status: Any) -> None:
        # PortAudio's thread. The block is contiguous, so flattening doesn't copy.
        if self._muted:
            self.loud_blocks += int(np.abs(block).max(initial=0.0) > LOUD)
        self._ring.write(self._zeros if self._muted else block.reshape(-1))
        if status:
            self.xruns += 1

    def _update(self) -> None:
        """Applies muting to the buffered samples and converts them."""
        if self._just_muted:
            self._just_muted = False
            # Includes the samples buffered by the resampler.
            self._zeros_due = self.waiting + (0 if self._converted is self._ring else SAMPLE_RATE // 20)
        self._convert()

    def _convert(self) -> None:
        """Converts samples to 24 kHz mono on the reader's thread if the device delivers another format."""
        if self._converted is self._ring:
            return
        while self._converted.queued < FRAME_SAMPLES and (got := self._ring.read_into(self._raw)):
            block = self._raw[:got].reshape(-1, self._channels)
            self._converted.write(self._resampler.push(to_mono(block)))

    def _to_24_khz(self, device_samples: int) -> int:
        return device_samples // self._channels * SAMPLE_RATE // self._rate

    def _check_stalled(self, waited: float) -> None:
        """Raises `DeviceGone` if the device has stopped delivering samples without ending its stream."""
        position = self.position
        # Capped, since the first wait after the computer wakes up appears very long.
        self._silent_for = self._silent_for + min(waited, 0.2) if position == self._last_position else 0.0
        self._last_position = position
        if self._silent_for > STALLED_SECONDS:
            raise portaudio_library.gone("microphone", self.name)


def _finish(samples: np.ndarray, zeros: int) -> np.ndarray:
    """Zeroes the first `zeros` samples and clips to [-1, 1], in place. Float devices and resampling can overshoot."""
    samples[:zeros] = 0.0
    return np.clip(samples, -1.0, 1.0, out=samples)
