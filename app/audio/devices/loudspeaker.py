"""The loudspeaker, which plays samples in PortAudio's short blocks and prebuffers adaptively at the start of speech.

The callback runs on PortAudio's thread and only copies from a ring buffer into its block. It never locks, signals, logs
or computes (apart from the fades of a pause), because a late callback is audible. `StereoClip` uses its own stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import soxr

from app.audio.devices import portaudio_library
from app.audio.devices.listing import Device
from app.audio.devices.portaudio_stream import StreamOwner
from app.audio.io.resample import Resampler
from app.audio.io.ring import Playback, PlaybackCounters, PlaybackPosition, Ring
from app.conversation.frame import FRAME_SECONDS, SAMPLE_RATE


class StereoClip(StreamOwner):
    """A stereo sound that plays while its context is open.

    Entering opens the loudspeaker and starts playing `samples`, float32 (n, 2) at 24 kHz; leaving stops playback.
    Entering raises `DeviceError`. A mono loudspeaker plays the mean of both channels.
    """

    kind = "loudspeaker"
    prepared = True

    def __init__(self, samples: np.ndarray, name: str | None = None) -> None:
        super().__init__(name)
        self._samples = samples
        self._next = 0

    def _prepare(self, rate: int, channels: int, block: int) -> Callable[..., None]:
        clip = self._samples if rate == SAMPLE_RATE else soxr.resample(self._samples, SAMPLE_RATE, rate)
        mixed = clip.mean(axis=1, keepdims=True) if channels == 1 else clip
        self._clip = np.ascontiguousarray(mixed, np.float32)
        self._next = 0
        return self._on_block

    def _discard(self) -> None:
        self._next = len(self._clip)

    # PortAudio's thread

    def _on_block(self, block: np.ndarray, frames: int, times: Any, status: Any) -> None:
        part = self._clip[self._next : self._next + frames]
        block.fill(0.0)
        block[: len(part), : part.shape[1]] = part
        self._next += len(part)


PLAYBACK_SECONDS = 60.0
"""Capacity of the playback buffer. A synthesiser may deliver a whole paragraph much faster than it is played."""

PREBUFFER_SECONDS = 0.02
"""Initial prebuffering delay at the start of speech. A front-end writes 80 ms of audio every 80 ms, and without this
delay a write only 1 ms late would be audible. Two blocks cover the frame thread's measured jitter (at most 10 ms under
load); more would delay every answer."""

PREBUFFER_STEP_SECONDS = 0.01
"""How much a device's prebuffering delay increases after an underrun."""

PREBUFFER_MOST_SECONDS = 0.08
"""Maximum prebuffering delay. A longer gap isn't jitter, and prebuffering wouldn't prevent it."""

TAP_SECONDS = 2.0
"""How much played audio is buffered for the echo canceller."""

RESAMPLER_SECONDS = 0.04
"""Additional prebuffering if samples are resampled, because soxr buffers this much and outputs it in bursts."""

UNDERRUN_WITHIN_SECONDS = 0.5
"""An empty queue normally means the end of speech. If speech continues within this time, the synthesiser or model was
late, and the gap counts as an underrun. (So does new speech that starts this soon, which is rare and harmless.)"""

FADE_SECONDS = 0.005
"""Length of the fades around a pause, which prevent clicks: half a block."""

_prebuffer_seconds: dict[str, float] = {}
"""Prebuffering delay (in seconds) that each device has needed so far, keyed by name; kept for the process lifetime."""


class Loudspeaker(StreamOwner, PlaybackCounters):
    """An `AudioSink` for a loudspeaker. Raises `DeviceError` on opening, like `Microphone`.

    Speech is prebuffered for `prebuffer_seconds`. Leaving the context discards queued samples; to play them, wait for
    `queued == 0` first.

    If the device doesn't support 24 kHz, samples are resampled on the writer's thread. The resampler buffers the last
    40 ms, which count as queued until an empty `write` plays them.

    Implements `PausesPlayback`. Faded samples count as played; the silence between the fades isn't counted.
    """

    kind = "loudspeaker"
    keeps_time = False

    def __init__(self, name: str | None = None, device: Device | None = None) -> None:
        super().__init__(name, device)
        self.xruns = 0
        """How often PortAudio reported an underrun of the device's buffer during speech."""
        self.position = 0
        """Samples requested by the device, at its own rate. The count increases as long as the device works."""
        self.tap = Ring(1)
        """The last `TAP_SECONDS` of audio sent to the device, at its `rate`, including silence."""
        self.rate = SAMPLE_RATE
        self._gaps = self._gaps_seen = 0
        self._gap = 0  # length of the last gap
        self._paused = False
        self._ring = Ring(1)  # until a stream is open, so that the counters always work
        self._counters = PlaybackPosition(self._ring, SAMPLE_RATE)

    @property
    def underruns(self) -> int:
        """How often speech was interrupted by silence, because samples were late or the device's buffer ran empty."""
        return self._gaps + self.xruns

    @property
    def prebuffer_seconds(self) -> float:
        """Current prebuffering delay at the start of speech, in seconds."""
        return _prebuffer_seconds.get(self.name, PREBUFFER_SECONDS)

    def playback(self) -> Playback:
        return self._counters.playback()

    def write(self, samples: np.ndarray) -> None:
        stream = self._open_stream()
        if stream.finished:
            raise portaudio_library.gone("loudspeaker", self.name)
        if self._gaps != self._gaps_seen:
            self._grow_prebuffer()
        self._counters.add_written(samples.size)
        if self._resampler is None:
            self._ring.write(samples)
        elif samples.size:
            self._ring.write(self._resampler.push(np.ascontiguousarray(samples, np.float32)))
            self._held_back = True
        elif self._held_back:
            self._ring.write(self._resampler.finish())
            self._held_back = False

    def flush(self) -> int:
        """Discards queued samples and returns how many (at 24 kHz). The device still plays its own buffer."""
        self._open_stream()
        queued = self.queued
        if self._resampler is not None:
            self._resampler.clear()
            self._held_back = False
        self._ring.discard()
        self._counters.mark_flush()
        self._paused = False
        return queued

    def pause_playback(self) -> None:
        self._paused = True

    def resume_playback(self) -> None:
        self._paused = False

    def _discard(self) -> None:
        self._ring.discard()

    def _prepare(self, rate: int, channels: int, block: int) -> Callable[..., None]:
        self.rate = rate
        self._ring = Ring(int(PLAYBACK_SECONDS * rate))
        self.tap = Ring(int(TAP_SECONDS * rate))
        self._counters = PlaybackPosition(self._ring, rate)
        self._resampler = None if rate == SAMPLE_RATE else Resampler(SAMPLE_RATE, rate)
        self._held_back = False
        # State of the callback, which measures time in device samples to avoid system calls.
        self._playing = self._faded_out = self._paused = False
        self._fade_out = np.linspace(1.0, 0.0, min(round(FADE_SECONDS * rate), block), dtype=np.float32)
        self._fade_in = self._fade_out[::-1].copy()
        self.position = 0
        self._waited = 0
        self._empty_since: int | None = None
        self._flushed_seen = 0
        self._longest_gap = round(UNDERRUN_WITHIN_SECONDS * rate)
        self._set_prebuffer()
        return self._on_block

    def _set_prebuffer(self) -> None:
        seconds = self.prebuffer_seconds + (0.0 if self._resampler is None else RESAMPLER_SECONDS)
        self._prebuffer = round(seconds * self.rate)
        self._enough = round((FRAME_SECONDS + seconds) * self.rate)

    def _grow_prebuffer(self) -> None:
        """Increases the prebuffering delay if that could have prevented the last gap."""
        self._gaps_seen = self._gaps
        if self._gap <= PREBUFFER_MOST_SECONDS * self.rate:
            longer = round(self.prebuffer_seconds + PREBUFFER_STEP_SECONDS, 3)
            _prebuffer_seconds[self.name] = min(longer, PREBUFFER_MOST_SECONDS)
            self._set_prebuffer()

    # PortAudio's thread

    def _on_block(self, block: np.ndarray, frames: int, times: Any, status: Any) -> None:
        # `block` has shape (frames, channels); all channels get the same samples.
        self.position += frames
        if self._paused:
            self._play_pause(block)
        elif self._playing or self._may_start(frames):
            if status and self._playing:
                self.xruns += 1
            got = self._ring.read_into(block[:, 0])
            if got < frames:
                block[got:, 0] = 0.0
                self._playing = False
                counts = self._ring.counts()
                # Silence after a flush is intentional.
                self._empty_since = self.position if counts.flushed == self._flushed_seen else None
                self._flushed_seen = counts.flushed
            if self._faded_out:
                self._faded_out = False
                block[: self._fade_in.size, 0] *= self._fade_in
            if block.shape[1] > 1:
                block[:, 1:] = block[:, :1]
        else:
            block.fill(0.0)
        self.tap.write(block[:, 0])

    def _play_pause(self, block: np.ndarray) -> None:
        """Plays silence, preceded by a fade-out in the first block. Keeps the queued samples."""
        block.fill(0.0)
        if self._faded_out or not self._playing:
            return
        self._faded_out = True
        got = self._ring.read_into(block[: self._fade_out.size, 0])
        block[:got, 0] *= self._fade_out[:got]
        block[got:, 0] = 0.0
        if block.shape[1] > 1:
            block[:, 1:] = block[:, :1]

    def _may_start(self, frames: int) -> bool:
        counts = self._ring.counts()
        if not counts.queued:
            self._waited = 0
            return False
        if self._empty_since is not None:
            self._gap = self.position - self._empty_since
            self._gaps += self._gap <= self._longest_gap
            self._empty_since = None
        self._waited += frames
        self._flushed_seen = counts.flushed
        self._playing = counts.queued >= self._enough or self._waited > self._prebuffer
        if self._playing:
            self._waited = 0
        return self._playing
