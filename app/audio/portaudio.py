"""The microphone and the loudspeaker: PortAudio's 20 ms blocks on one side, frames and samples on the other.

The callbacks run in PortAudio's thread and only copy between its block and a ring: no lock, event, log or
arithmetic on samples, for what waits there is heard as a crack. Knows nothing of sessions or speech.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

import numpy as np

from app.audio import native
from app.audio.playcount import PlayCount
from app.audio.resample import Resampler, to_mono
from app.audio.ring import Ring
from app.audio.stream import INPUT, OUTPUT, DeviceStream
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE

CAPTURE_SECONDS = 4.0
"""Room for the user's sound while the frame thread is held up: longer than any pause it should ever make."""

PLAYBACK_SECONDS = 60.0
"""Room for the app's voice: a synthesiser gives a whole paragraph at once, much faster than it is spoken."""

CUSHION_SECONDS = 0.04
"""How long the first samples of a talk wait before they are played. A front-end writes 80 ms every 80 ms;
without a cushion each step that comes 1 ms late would be heard. Two blocks cover the frame thread's measured
lateness (10 ms at worst under load) with room for an uneven step; more would delay every answer."""

RESAMPLER_SECONDS = 0.04
"""The cushion's surplus where samples are resampled: soxr holds this much back and gives in lumps."""

ENOUGH_SECONDS = 0.12
"""With a frame and the cushion queued already, waiting gains nothing."""

UNDERRUN_WITHIN_SECONDS = 0.5
"""Running dry is the normal end of a talk. It was an underrun if talk goes on sooner than this: a hiccup of
the synthesiser or the model. (A new talk that begins within it counts too: rare, and on the safe side.)"""

STALLED_SECONDS = 3.0
"""A source that was unloaded in the sound server ends no stream: nothing comes any more. No working device
pauses this long."""

POLL_SECONDS = 0.0015
"""How often a reader looks when a block is due: a fiftieth of a frame."""


class Microphone:
    """An `AudioSource` over a microphone; `name` as for `find_input`, None for the default one.

    Opening raises `DeviceError` with a sentence when there is none, it is busy or refused.
    """

    def __init__(self, name: str | None = None) -> None:
        self.name = name or "default microphone"
        self._ring = self._pending = Ring(1)  # until a stream is open, so that the counters always answer
        self._rate, self._channels = SAMPLE_RATE, 1
        self._wanted = name
        self._stream: DeviceStream | None = None

    def __enter__(self) -> Self:
        stream = DeviceStream(INPUT, self._wanted)
        self.name = stream.device.name
        self._silent_for = 0.0
        self._seen = 0
        stream.start(self._prepare)
        self._stream = stream
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            stream, self._stream = self._stream, None
            stream.close(drain=False)

    @property
    def latency(self) -> float:
        """Seconds from the air to the callback, as the device states it."""
        return self._stream.latency if self._stream else 0.0

    @property
    def overruns(self) -> int:
        """Samples lost because the frame thread was away for longer than `CAPTURE_SECONDS`."""
        return self._to_ours(self._ring.counts().lost)

    @property
    def backlog(self) -> int:
        """Whole frames that wait."""
        return self._waiting() // FRAME_SAMPLES

    def read_frame(self, timeout: float) -> np.ndarray | None:
        """The next frame, float32 of shape (1920,), or None after `timeout` seconds; see `AudioSource`."""
        stream = self._open_stream()
        now = time.perf_counter()
        give_up = now + timeout
        while True:
            frame = self._take()
            if frame is not None:
                self._silent_for = 0.0
                return frame
            if stream.finished:
                raise native.gone(INPUT, self.name)
            if now >= give_up:
                return None
            missing = (FRAME_SAMPLES - self._waiting()) / SAMPLE_RATE
            time.sleep(max(0.0, min(max(missing - POLL_SECONDS, POLL_SECONDS), give_up - now)))
            before, now = now, time.perf_counter()
            self._watch(now - before)

    def drop_to_newest(self) -> int:
        """Forget all waiting frames but the newest; how many were dropped."""
        self._pump()
        dropped = max(0, self.backlog - 1)
        samples = dropped * FRAME_SAMPLES
        samples -= self._pending.skip(samples) if self._pending is not self._ring else 0
        if samples:
            self._ring.skip(round(samples * self._rate / SAMPLE_RATE) * self._channels)
        return dropped

    def _prepare(self, rate: int, channels: int, block: int) -> Any:
        self._rate, self._channels = rate, channels
        self._ring = Ring(int(CAPTURE_SECONDS * rate) * channels)
        if (rate, channels) == (SAMPLE_RATE, 1):
            self._pending = self._ring
        else:
            self._pending = Ring(int(CAPTURE_SECONDS * SAMPLE_RATE))
            self._resampler = Resampler(rate, SAMPLE_RATE)
            self._raw = np.empty(block * 5 * channels, np.float32)
        return self._on_block

    def _on_block(self, block: np.ndarray, frames: int, times: Any, status: Any) -> None:
        # PortAudio's thread. The block is contiguous, so that the flat view costs no copy.
        self._ring.write(block.reshape(-1))

    def _take(self) -> np.ndarray | None:
        self._pump()
        if self._pending.queued < FRAME_SAMPLES:
            return None
        frame = np.empty(FRAME_SAMPLES, np.float32)
        got = self._pending.read_into(frame)
        while got < FRAME_SAMPLES:  # the callback came round just now: the newer samples are there
            got += self._pending.read_into(frame[got:])
        # Floating-point devices and resampling may overshoot.
        return np.clip(frame, -1.0, 1.0, out=frame)

    def _pump(self) -> None:
        """Convert what the device has given, where it isn't 24 kHz mono: on the reader's side."""
        if self._pending is self._ring:
            return
        while self._pending.queued < FRAME_SAMPLES and (got := self._ring.read_into(self._raw)):
            block = self._raw[:got].reshape(-1, self._channels)
            self._pending.write(self._resampler.push(to_mono(block)))

    def _waiting(self) -> int:
        """24 kHz samples that wait, converted or not."""
        waiting = self._pending.queued
        if self._pending is not self._ring:
            waiting += self._to_ours(self._ring.queued)
        return waiting

    def _to_ours(self, device_samples: int) -> int:
        return device_samples // self._channels * SAMPLE_RATE // self._rate

    def _watch(self, waited: float) -> None:
        """Notice a device that has gone silent without a word."""
        written = self._ring.counts().written
        # Capped, for a computer that slept wakes with one very long wait.
        self._silent_for = self._silent_for + min(waited, 0.2) if written == self._seen else 0.0
        self._seen = written
        if self._silent_for > STALLED_SECONDS:
            raise native.gone(INPUT, self.name)

    def _open_stream(self) -> DeviceStream:
        if self._stream is None:
            raise ValueError("a Microphone is read inside its `with`")
        return self._stream


class Loudspeaker:
    """An `AudioSink` over a loudspeaker; `name` as for `find_output`, None for the default one.

    The first samples of a talk wait `CUSHION_SECONDS`. On leaving the `with`, what is queued is forgotten;
    wait for `queued == 0` first to have it heard. Opening raises `DeviceError` as `Microphone` does.

    Where the device refuses 24 kHz, samples are resampled on the writer's side. The resampler then holds back
    the last 40 ms, which count as queued; an empty `write` lets them go.
    """

    keeps_time = False

    def __init__(self, name: str | None = None) -> None:
        self.name = name or "default loudspeaker"
        self.underruns = 0
        self._wanted = name
        self._ring = Ring(1)  # until a stream is open, so that the counters always answer
        self._count = PlayCount(self._ring, SAMPLE_RATE)
        self._stream: DeviceStream | None = None

    def __enter__(self) -> Self:
        stream = DeviceStream(OUTPUT, self._wanted)
        self.name = stream.device.name
        stream.start(self._prepare)
        self._stream = stream
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            stream, self._stream = self._stream, None
            self._ring.discard()
            stream.close(drain=True)

    @property
    def latency(self) -> float:
        """Seconds from the callback to the air, as the device states it."""
        return self._stream.latency if self._stream else 0.0

    @property
    def written(self) -> int:
        """24 kHz samples that `write` was given."""
        return self._count.look().written

    @property
    def played(self) -> int:
        """24 kHz samples that the device has taken."""
        return self._count.look().played

    @property
    def queued(self) -> int:
        """24 kHz samples that wait."""
        return self._count.look().queued

    @property
    def flushed(self) -> int:
        """24 kHz samples that `flush` took back."""
        return self._count.look().flushed

    @property
    def overruns(self) -> int:
        """24 kHz samples pushed out by newer ones: more than `PLAYBACK_SECONDS` were queued."""
        return self._count.look().overruns

    def write(self, samples: np.ndarray) -> None:
        """Queue float32 samples of shape (n,); never waits. See `AudioSink`."""
        stream = self._open_stream()
        if stream.finished:
            raise native.gone(OUTPUT, self.name)
        self._count.wrote(samples.size)
        if self._resampler is None:
            self._ring.write(samples)
        elif samples.size:
            self._ring.write(self._resampler.push(np.ascontiguousarray(samples, np.float32)))
            self._held_back = True
        elif self._held_back:
            self._ring.write(self._resampler.finish())
            self._held_back = False

    def flush(self) -> int:
        """Forget what is queued; how many 24 kHz samples. The device falls silent after its own buffer."""
        self._open_stream()
        queued = self.queued
        if self._resampler is not None:
            self._resampler.clear()
            self._held_back = False
        self._ring.discard()
        self._count.flushed()
        return queued

    def _prepare(self, rate: int, channels: int, block: int) -> Any:
        self._ring = Ring(int(PLAYBACK_SECONDS * rate))
        self._count = PlayCount(self._ring, rate)
        self._resampler = None if rate == SAMPLE_RATE else Resampler(SAMPLE_RATE, rate)
        self._held_back = False
        # The callback's own state, counted in the device's samples: its clock needs no system call.
        self._playing = False
        self._clock = 0
        self._waited = 0
        self._dry_at: int | None = None
        self._flushed_seen = 0
        surplus = 0.0 if self._resampler is None else RESAMPLER_SECONDS
        self._cushion = round((CUSHION_SECONDS + surplus) * rate)
        self._enough = round((ENOUGH_SECONDS + surplus) * rate)
        self._soon = round(UNDERRUN_WITHIN_SECONDS * rate)
        return self._on_block

    def _on_block(self, block: np.ndarray, frames: int, times: Any, status: Any) -> None:
        # PortAudio's thread. `block` has shape (frames, channels); every channel gets the same.
        self._clock += frames
        if not self._playing and not self._may_start(frames):
            block.fill(0.0)
            return
        got = self._ring.read_into(block[:, 0])
        if got < frames:
            block[got:, 0] = 0.0
            self._playing = False
            counts = self._ring.counts()
            # After a flush silence is what was asked for.
            self._dry_at = self._clock if counts.flushed == self._flushed_seen else None
            self._flushed_seen = counts.flushed
        if block.shape[1] > 1:
            block[:, 1:] = block[:, :1]

    def _may_start(self, frames: int) -> bool:
        counts = self._ring.counts()
        if not counts.queued:
            self._waited = 0
            return False
        if self._dry_at is not None:
            self.underruns += self._clock - self._dry_at <= self._soon
            self._dry_at = None
        self._waited += frames
        self._flushed_seen = counts.flushed
        self._playing = counts.queued >= self._enough or self._waited > self._cushion
        if self._playing:
            self._waited = 0
        return self._playing

    def _open_stream(self) -> DeviceStream:
        if self._stream is None:
            raise ValueError("a Loudspeaker is used inside its `with`")
        return self._stream
