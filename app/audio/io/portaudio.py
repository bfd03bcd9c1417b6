"""The microphone and the loudspeaker: PortAudio's short blocks on one side, frames and samples on the other.

The callbacks run in PortAudio's thread and only copy between its block and a ring: no lock, event, log or
arithmetic on samples (but for a hush's two fades), for what waits there is heard as a crack. Knows nothing of sessions
or speech.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

import numpy as np

from app.audio.devices.listing import Device
from app.audio.io import portaudio_library
from app.audio.io.playback_position import Playback, PlaybackPosition
from app.audio.io.portaudio_stream import INPUT, OUTPUT, DeviceStream
from app.audio.io.resample import Resampler, to_mono
from app.audio.io.ring import Ring
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE

CAPTURE_SECONDS = 4.0
"""Room for the user's sound while the frame thread is held up: longer than any pause it should ever make."""

PLAYBACK_SECONDS = 60.0
"""Room for the app's voice: a synthesiser gives a whole paragraph at once, much faster than it is spoken."""

CUSHION_SECONDS = 0.02
"""How long the first samples of a talk wait before they are played, at first. A front-end writes 80 ms every 80 ms;
without a cushion each step that comes 1 ms late would be heard. Two blocks cover the frame thread's measured lateness
(10 ms at worst under load); more would delay every answer."""

CUSHION_STEP_SECONDS = 0.01
"""Where that wasn't enough, the next talks wait so much longer: each device's cushion grows as it needs."""

CUSHION_MOST_SECONDS = 0.08
"""A gap longer than this isn't unevenness, and no cushion would have helped."""

TAP_SECONDS = 2.0
"""How long what was played is kept for whoever wants to know it."""

RESAMPLER_SECONDS = 0.04
"""The cushion's surplus where samples are resampled: soxr holds this much back and gives in lumps."""

UNDERRUN_WITHIN_SECONDS = 0.5
"""Running dry is the normal end of a talk. It was an underrun if talk goes on sooner than this: a hiccup of
the synthesiser or the model. (A new talk that begins within it counts too: rare, and on the safe side.)"""

FADE_SECONDS = 0.005
"""In which a hush falls silent, and sounds again: a voice that is cut off clicks. Half a block."""

STALLED_SECONDS = 2.0
"""A device that has given nothing, or asked for nothing, for so long is lost: unloading a source in a sound server ends
no stream. Working devices pause for some tens of milliseconds; one behind Bluetooth may begin a second late."""

POLL_SECONDS = 0.0015
"""How often a reader looks when a block is due: a fiftieth of a frame."""

_cushions: dict[str, float] = {}
"""The cushion in seconds that each device was found to need, by name, for the life of the process."""


class _Opened:
    """What a microphone and a loudspeaker have in common: a stream that is open, or not."""

    _stream: DeviceStream | None = None

    def close(self, wait: float | None = None) -> None:
        """Let the device go; see `DeviceStream.close`."""
        raise NotImplementedError

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self.close()

    @property
    def device(self) -> Device | None:
        """The device in use."""
        stream = self._stream
        return stream.device if stream is not None else None

    @property
    def finished(self) -> bool:
        """Whether the device is gone."""
        stream = self._stream  # who opens devices may take it away between two looks
        return stream is None or stream.finished

    @property
    def token(self) -> str:
        """What the sound server's stream is marked with; see `PulseStream`."""
        stream = self._stream
        return stream.token if stream is not None else ""

    @property
    def latency(self) -> float:
        """Seconds between the callback and the air, as the device states it."""
        stream = self._stream
        return stream.latency if stream is not None else 0.0


class Microphone(_Opened):
    """An `AudioSource` over a microphone; `name` as for `find_input`, None for the default one.

    Opening raises `DeviceError` with a sentence when there is none, it is busy or refused. `device`: what the name was
    found to mean, if it was looked for already.
    """

    def __init__(self, name: str | None = None, device: Device | None = None) -> None:
        self.name = name or "default microphone"
        self.slips = 0
        """How often PortAudio said that samples were lost before the callback got them."""
        self._found = device
        self._muted = self._forget = False
        self._blank = 0
        self._begun = np.zeros(0, np.float32)  # the frame under way, as far as it was looked at ahead
        self._ring = self._pending = Ring(1)  # until a stream is open, so that the counters always answer
        self._rate, self._channels = SAMPLE_RATE, 1
        self._block = 0
        self._wanted = name

    def __enter__(self) -> Self:
        with portaudio_library.LOCK:  # or another thread restarts PortAudio between finding and opening
            stream = DeviceStream(INPUT, self._wanted, self._found)
            self.name = stream.device.name
            self._silent_for = 0.0
            self._seen = 0
            stream.start(self._prepare)
        self._stream = stream
        return self

    def close(self, wait: float | None = None) -> None:
        """Let the device go; see `DeviceStream.close`. What waits can still be taken."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close(drain=False, wait=wait)

    @property
    def heard(self) -> int:
        """Samples that the device has given since it was opened: while it works this rises."""
        return self._ring.counts().written

    @property
    def muted(self) -> bool:
        """While True the callback writes zeros, and what waits from before is zeros, too. Any thread may set it."""
        return self._muted

    @muted.setter
    def muted(self, muted: bool) -> None:
        self._muted = muted
        self._forget = self._forget or muted

    @property
    def overruns(self) -> int:
        """Samples lost because the frame thread was away for longer than `CAPTURE_SECONDS`, or before they got here.

        Of the latter PortAudio tells no number: each time counts as a block.
        """
        return self._to_ours(self._ring.counts().lost) + self.slips * self._block

    @property
    def backlog(self) -> int:
        """Whole frames that wait."""
        return self.waiting // FRAME_SAMPLES

    def read_frame(self, timeout: float) -> np.ndarray | None:
        """The next frame, float32 of shape (1920,), or None after `timeout` seconds; see `AudioSource`."""
        stream = self._open_stream()
        now = time.perf_counter()
        give_up = now + timeout
        while True:
            frame = self.take()
            if frame is not None:
                self._silent_for = 0.0
                return frame
            if stream.finished:
                raise portaudio_library.gone(INPUT, self.name)
            if now >= give_up:
                return None
            missing = (FRAME_SAMPLES - self.waiting) / SAMPLE_RATE
            time.sleep(max(0.0, min(max(missing - POLL_SECONDS, POLL_SECONDS), give_up - now)))
            before, now = now, time.perf_counter()
            self._watch(now - before)

    def drop_to_newest(self) -> int:
        """Forget all waiting frames but the newest; how many were dropped."""
        self._pump()
        dropped = max(0, self.backlog - 1)
        self._skip(dropped * FRAME_SAMPLES)
        return dropped

    def drop_to_now(self) -> None:
        """Forget all that waits but one frame's worth, so that the next frame ends with the newest sample."""
        self._pump()
        self._skip(max(0, self.waiting - FRAME_SAMPLES))

    def _skip(self, samples: int) -> None:
        begun = min(samples, len(self._begun))
        self._begun = self._begun[begun:]
        samples -= begun
        samples -= self._pending.skip(samples) if self._pending is not self._ring else 0
        if samples:
            self._ring.skip(round(samples * self._rate / SAMPLE_RATE) * self._channels)

    def _prepare(self, rate: int, channels: int, block: int) -> Any:
        self._rate, self._channels = rate, channels
        self._block = block * SAMPLE_RATE // rate
        self._zeros = np.zeros(block * channels, np.float32)
        self._ring = Ring(int(CAPTURE_SECONDS * rate) * channels)
        self._begun = self._begun[:0]
        if (rate, channels) == (SAMPLE_RATE, 1):
            self._pending = self._ring
        else:
            self._pending = Ring(int(CAPTURE_SECONDS * SAMPLE_RATE))
            self._resampler = Resampler(rate, SAMPLE_RATE)
            self._raw = np.empty(block * 5 * channels, np.float32)
        return self._on_block

    def _on_block(self, block: np.ndarray, frames: int, times: Any, status: Any) -> None:
        # PortAudio's thread. The block is contiguous, so that the flat view costs no copy.
        self._ring.write(self._zeros if self._muted else block.reshape(-1))
        if status:
            self.slips += 1

    def take(self) -> np.ndarray | None:
        """The next frame if a whole one waits; never waits itself, and raises nothing."""
        self._look()
        got = len(self._begun)
        if got + self._pending.queued < FRAME_SAMPLES:
            return None
        frame = np.empty(FRAME_SAMPLES, np.float32)
        frame[:got], self._begun = self._begun, self._begun[:0]
        while got < FRAME_SAMPLES:  # once, unless the callback comes round just now: the newer samples are there
            got += self._pending.read_into(frame[got:])
        blank, self._blank = self._blank, max(0, self._blank - FRAME_SAMPLES)
        return _fit(frame, blank)

    def ahead(self) -> np.ndarray:
        """See `ShowsAhead`."""
        self._look()
        room = min(self._pending.queued, FRAME_SAMPLES - 1 - len(self._begun))
        if room > 0:
            more = np.empty(room, np.float32)
            more = more[: self._pending.read_into(more)]
            self._begun = np.concatenate([self._begun, more])
        return _fit(self._begun.copy(), self._blank)

    def _look(self) -> None:
        """What concerns all that waits: it was muted, or isn't 24 kHz mono."""
        if self._forget:
            self._forget = False
            # The resampler holds some back, too.
            self._blank = self.waiting + (0 if self._pending is self._ring else SAMPLE_RATE // 20)
        self._pump()

    def _pump(self) -> None:
        """Convert what the device has given, where it isn't 24 kHz mono: on the reader's side."""
        if self._pending is self._ring:
            return
        while self._pending.queued < FRAME_SAMPLES and (got := self._ring.read_into(self._raw)):
            block = self._raw[:got].reshape(-1, self._channels)
            self._pending.write(self._resampler.push(to_mono(block)))

    @property
    def waiting(self) -> int:
        """24 kHz samples that wait, converted or not."""
        waiting = len(self._begun) + self._pending.queued
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
            raise portaudio_library.gone(INPUT, self.name)

    def _open_stream(self) -> DeviceStream:
        stream = self._stream
        if stream is None:
            raise ValueError("a Microphone is read inside its `with`")
        return stream


def _fit(samples: np.ndarray, blank: int) -> np.ndarray:
    """`samples` themselves, the first `blank` zero, within [-1, 1]: floating-point devices and resampling overshoot."""
    samples[:blank] = 0.0
    return np.clip(samples, -1.0, 1.0, out=samples)


class Loudspeaker(_Opened):
    """An `AudioSink` over a loudspeaker; `name` as for `find_output`, None for the default one.

    The first samples of a talk wait `cushion_seconds`. On leaving the `with`, what is queued is forgotten;
    wait for `queued == 0` first to have it heard. Opening raises `DeviceError` as `Microphone` does.

    Where the device refuses 24 kHz, samples are resampled on the writer's side. The resampler then holds back
    the last 40 ms, which count as queued; an empty `write` lets them go.

    It `Hushes`: the fades' samples count as played, silence in between as nothing.
    """

    keeps_time = False

    def __init__(self, name: str | None = None, device: Device | None = None) -> None:
        self.name = name or "default loudspeaker"
        self.slips = 0
        """How often PortAudio said that the device ran dry in the middle of talk."""
        self.clock = 0
        """Samples, at the device's rate, that it has asked for: while it works this rises."""
        self.tap = Ring(1)
        """What was handed to the device, silence included, at its `rate`: the last `TAP_SECONDS`."""
        self.rate = SAMPLE_RATE
        self._found = device
        self._gaps = 0
        self._gaps_seen = 0
        self._gap = 0
        self._hushed = False
        self._wanted = name
        self._ring = Ring(1)  # until a stream is open, so that the counters always answer
        self._count = PlaybackPosition(self._ring, SAMPLE_RATE)

    def __enter__(self) -> Self:
        with portaudio_library.LOCK:  # or another thread restarts PortAudio between finding and opening
            stream = DeviceStream(OUTPUT, self._wanted, self._found)
            self.name = stream.device.name
            stream.start(self._prepare)
        self._stream = stream
        return self

    def close(self, wait: float | None = None) -> None:
        """Forget what is queued and let the device go; see `DeviceStream.close`."""
        stream, self._stream = self._stream, None
        if stream is not None:
            self._ring.discard()
            stream.close(drain=True, wait=wait)

    @property
    def underruns(self) -> int:
        """How often talk was interrupted by silence, for want of samples or by the device itself."""
        return self._gaps + self.slips

    @property
    def cushion_seconds(self) -> float:
        """How long the first samples of a talk wait, as of now."""
        return _cushions.get(self.name, CUSHION_SECONDS)

    def look(self) -> Playback:
        """All counters at one moment."""
        return self._count.look()

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
            raise portaudio_library.gone(OUTPUT, self.name)
        if self._gaps != self._gaps_seen:
            self._grow_cushion()
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
        self._hushed = False
        return queued

    def hush(self) -> None:
        """See `Hushes`."""
        self._hushed = True

    def unhush(self) -> None:
        """See `Hushes`."""
        self._hushed = False

    def _prepare(self, rate: int, channels: int, block: int) -> Any:
        self.rate = rate
        self._ring = Ring(int(PLAYBACK_SECONDS * rate))
        self.tap = Ring(int(TAP_SECONDS * rate))
        self._count = PlaybackPosition(self._ring, rate)
        self._resampler = None if rate == SAMPLE_RATE else Resampler(SAMPLE_RATE, rate)
        self._held_back = False
        # The callback's own state, counted in the device's samples: its clock needs no system call.
        self._playing = self._silenced = self._hushed = False
        self._fall = np.linspace(1.0, 0.0, min(round(FADE_SECONDS * rate), block), dtype=np.float32)
        self._rise = self._fall[::-1].copy()
        self.clock = 0
        self._waited = 0
        self._dry_at: int | None = None
        self._flushed_seen = 0
        self._soon = round(UNDERRUN_WITHIN_SECONDS * rate)
        self._set_cushion()
        return self._on_block

    def _set_cushion(self) -> None:
        surplus = 0.0 if self._resampler is None else RESAMPLER_SECONDS
        self._cushion = round((self.cushion_seconds + surplus) * self.rate)
        self._enough = round((FRAME_SECONDS + self.cushion_seconds + surplus) * self.rate)

    def _grow_cushion(self) -> None:
        """After a gap that a longer cushion would have bridged, the device gets one."""
        self._gaps_seen = self._gaps
        if self._gap <= CUSHION_MOST_SECONDS * self.rate:
            longer = round(self.cushion_seconds + CUSHION_STEP_SECONDS, 3)
            _cushions[self.name] = min(longer, CUSHION_MOST_SECONDS)
            self._set_cushion()

    def _on_block(self, block: np.ndarray, frames: int, times: Any, status: Any) -> None:
        # PortAudio's thread. `block` has shape (frames, channels); every channel gets the same.
        self.clock += frames
        if self._hushed:
            self._keep_silent(block)
        elif self._playing or self._may_start(frames):
            if status and self._playing:
                self.slips += 1
            got = self._ring.read_into(block[:, 0])
            if got < frames:
                block[got:, 0] = 0.0
                self._playing = False
                counts = self._ring.counts()
                # After a flush silence is what was asked for.
                self._dry_at = self.clock if counts.flushed == self._flushed_seen else None
                self._flushed_seen = counts.flushed
            if self._silenced:
                self._silenced = False
                block[: self._rise.size, 0] *= self._rise
            if block.shape[1] > 1:
                block[:, 1:] = block[:, :1]
        else:
            block.fill(0.0)
        self.tap.write(block[:, 0])

    def _keep_silent(self, block: np.ndarray) -> None:
        """Of a hush the first block falls silent; what is queued stays."""
        block.fill(0.0)
        if self._silenced or not self._playing:
            return
        self._silenced = True
        got = self._ring.read_into(block[: self._fall.size, 0])
        block[:got, 0] *= self._fall[:got]
        block[got:, 0] = 0.0
        if block.shape[1] > 1:
            block[:, 1:] = block[:, :1]

    def _may_start(self, frames: int) -> bool:
        counts = self._ring.counts()
        if not counts.queued:
            self._waited = 0
            return False
        if self._dry_at is not None:
            self._gap = self.clock - self._dry_at
            self._gaps += self._gap <= self._soon
            self._dry_at = None
        self._waited += frames
        self._flushed_seen = counts.flushed
        self._playing = counts.queued >= self._enough or self._waited > self._cushion
        if self._playing:
            self._waited = 0
        return self._playing

    def _open_stream(self) -> DeviceStream:
        stream = self._stream
        if stream is None:
            raise ValueError("a Loudspeaker is used inside its `with`")
        return stream
