"""Simulates a desk: the loudspeaker's output returns to the microphone delayed, attenuated and reverberated.

Both devices have their own clocks and work in blocks of 10 ms, like the app's. Time advances only as frames are read,
so a conversation in a room is reproducible. `Room` has a source, a sink and a tap for an echo canceller.

The echo path is a direct sound and an exponentially decaying Gaussian tail (J.-D. Polack, "La transmission de l'energie
sonore dans les salles", 1988), with three early reflections 3 dB to 9 dB below the direct sound, 4 to 18 ms after it
(from a desk top, a screen and a wall behind the desk). Direct and reverberant energy are equal: a microphone at the
critical distance, 0.057 sqrt(V / RT60) = 0.66 m in 40 cubic metres at RT60 = 0.3 s (H. Kuttruff, "Room Acoustics", ch.
5).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from app.audio.io.base import EndOfAudio
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE

TAPS = 32
_PHASES = 512


def reverberation(rt60: float, rng: np.random.Generator) -> np.ndarray:
    """Makes a tail of unit energy that decays by 60 dB within `rt60` seconds: float64 of shape (rt60 * 24000,)."""
    length = max(480, round(rt60 * SAMPLE_RATE))
    tail = rng.standard_normal(length) * 10.0 ** (-3.0 * np.arange(length) / (rt60 * SAMPLE_RATE))
    return tail / np.sqrt(np.sum(tail**2))


def echo_path(rt60: float, attenuation_db: float, seed: int) -> np.ndarray:
    """Makes an impulse response from loudspeaker to microphone, without its delay: float64 of shape (rt60 * 24000,).

    `rt60`: seconds until the tail has decayed by 60 dB. `attenuation_db`: gain of the whole response for white noise,
    so -6 makes the echo 6 dB quieter than what is played.
    """
    rng = np.random.default_rng(seed)
    path = reverberation(rt60, rng)
    path[:48] = 0.0  # the tail begins 2 ms after the direct sound
    path /= np.sqrt(np.sum(path**2))
    path[0] = 1.0
    for milliseconds, level in ((rng.uniform(4, 6), -3.0), (rng.uniform(7, 11), -6.0), (rng.uniform(12, 18), -9.0)):
        path[round(milliseconds * SAMPLE_RATE / 1000)] += rng.choice((-1.0, 1.0)) * 10 ** (level / 20)
    return path * (10 ** (attenuation_db / 20) / np.sqrt(np.sum(path**2)))


class Convolver:
    """Filters a stream by an impulse response with overlap-add, in blocks of any length up to `most`."""

    def __init__(self, path: np.ndarray, most: int) -> None:
        self._most = most
        self._size = len(path) + most
        self._spectrum = np.fft.rfft(path, self._size)
        self._tail: np.ndarray = np.zeros(self._size)

    def push(self, samples: np.ndarray) -> np.ndarray:
        """Filters `samples` (n,): float64 of shape (n,)."""
        count = len(samples)
        assert count <= self._most
        if count and samples.any():
            self._tail += np.fft.irfft(np.fft.rfft(samples, self._size) * self._spectrum, self._size)
        out = self._tail[:count].copy()
        self._tail[: -count or None] = self._tail[count:]
        if count:
            self._tail[-count:] = 0.0
        return out


def _kernels() -> np.ndarray:
    """Kaiser-windowed sincs for every 512th of a sample: float64 of shape (513, 32). Beta 8 attenuates by 80 dB."""
    at = np.arange(TAPS)[None, :] - (TAPS // 2 - 1) - np.arange(_PHASES + 1)[:, None] / _PHASES
    window = np.i0(8.0 * np.sqrt(np.maximum(0.0, 1.0 - (at / (TAPS / 2)) ** 2))) / np.i0(8.0)
    return np.sinc(at) * window


_KERNELS = _kernels()


def read_at(samples: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Interpolates `samples` (n,) at fractional `positions` (m,), each at least 16 from both ends."""
    whole = np.floor(positions).astype(np.int64)
    phase = (positions - whole) * _PHASES
    low = phase.astype(np.int64)
    share = (phase - low)[:, None]
    kernel = _KERNELS[low] * (1.0 - share) + _KERNELS[low + 1] * share
    around = np.lib.stride_tricks.sliding_window_view(samples, TAPS)[whole - (TAPS // 2 - 1)]
    return np.einsum("ij,ij->i", around, kernel)


BLOCK = 240
"""Default block length of a device: 10 ms."""

PREBUFFER = 960
"""Samples are queued for 40 ms before playback starts, twice as long as in the app's loudspeaker."""

FADE = 120
"""A pause fades out in 5 ms, as in the app's loudspeaker."""

HOP = 480
"""Time step of a source that exposes incomplete frames: 20 ms."""


def random_rooms(count: int, seed: int) -> list[dict[str, Any]]:
    """Returns the arguments of random rooms. They are drawn independently, except that three attenuations alternate."""
    rng = np.random.default_rng((seed, 2))
    return [
        {
            "delay_seconds": round(float(rng.uniform(0.02, 0.25)), 4),
            "attenuation_db": (-6.0, -12.0, -20.0)[n % 3],
            "rt60": round(float(rng.uniform(0.3, 0.5)), 2),
            "noise_dbfs": round(float(rng.uniform(-65.0, -50.0)), 1),
            "drift_ppm": float(rng.choice((-100.0, 0.0, 100.0))),
            "seed": 100 * seed + n,
        }
        for n in range(count)
    ]


class NoOpContext:
    """A context manager that does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        return None


class RoomSink(NoOpContext):
    """The loudspeaker: an `AudioSink` that plays blocks from its queue at the pace of its own clock.

    `stops`: the times in seconds at which it was silenced, by a flush or by a pause that was not resumed. `underruns`:
    how often the queue ran empty.
    """

    name = "room's loudspeaker"
    keeps_time = False
    overruns = 0

    def __init__(self, room: Room) -> None:
        self.written = self.flushed = self.played = self.underruns = 0
        self.stops: list[float] = []
        self.playback_pauses = 0
        self._paused = self._silenced = False
        self._room = room
        self._queue: np.ndarray = np.zeros(0, np.float32)
        self._playing = False
        self._waited = 0

    @property
    def queued(self) -> int:
        return len(self._queue)

    def write(self, samples: np.ndarray) -> None:
        self.written += len(samples)
        self._queue = np.concatenate([self._queue, samples.astype(np.float32)])

    def flush(self) -> int:
        thrown = len(self._queue)
        self.flushed += thrown
        self._queue = self._queue[:0]
        if not self._paused:
            self.stops.append(self._room.now)
        self._paused = False
        return thrown

    def pause_playback(self) -> None:
        if not self._paused:
            self._paused = True
            self.playback_pauses += 1
            self.stops.append(self._room.now + FADE / SAMPLE_RATE)

    def resume_playback(self) -> None:
        if self._paused:
            self._paused = False
            self.stops.pop()

    def block(self) -> np.ndarray:
        """Returns the next block to play: float32 (room.block,), silence if nothing is queued."""
        size = self._room.block
        out = np.zeros(size, np.float32)
        if self._paused:
            if self._playing and not self._silenced:
                self._silenced = True
                self._fill(out[:FADE])
                out[:FADE] *= np.linspace(1.0, 0.0, FADE)
            return out
        if not self._playing:
            self._waited = self._waited + size if len(self._queue) else 0
            self._playing = self._waited > PREBUFFER
        if self._playing:
            got = self._fill(out)
            if got < size:
                self._playing, self._waited = False, 0
                self.underruns += 1
        if self._silenced:
            self._silenced = False
            out[:FADE] *= np.linspace(0.0, 1.0, FADE)
        return out

    def _fill(self, out: np.ndarray) -> int:
        got = min(len(out), len(self._queue))
        out[:got] = self._queue[:got]
        self._queue = self._queue[got:]
        self.played += got
        return got


class RoomTap:
    """A `Tap` on the loudspeaker's blocks."""

    rate = SAMPLE_RATE

    def __init__(self) -> None:
        self.generation = 0
        self._blocks: list[np.ndarray] = []

    def put(self, block: np.ndarray) -> None:
        """Adds a played block."""
        self._blocks.append(block)

    def take(self) -> np.ndarray:
        taken, self._blocks = self._blocks, []
        return np.concatenate(taken) if taken else np.zeros(0, np.float32)


class RoomSource(NoOpContext):
    """The microphone: an `AudioSource`. Reading a frame takes 80 ms of the room's time."""

    name = "room's microphone"
    overruns = backlog = 0

    def __init__(self, room: Room) -> None:
        self._room = room

    def read_frame(self, timeout: float) -> np.ndarray | None:
        return self._room.next_frame()

    def drop_to_newest(self) -> int:
        return 0


class HopSource(RoomSource):
    """A microphone that exposes the incomplete frame. Time advances in steps of 20 ms, up to `read_frame`'s timeout."""

    def __init__(self, room: Room) -> None:
        super().__init__(room)
        self._begun: np.ndarray = np.zeros(0, np.float32)

    def read_frame(self, timeout: float) -> np.ndarray | None:
        left = round(timeout * SAMPLE_RATE)
        while len(self._begun) < FRAME_SAMPLES:
            if left <= 0:
                return None
            left -= HOP
            self._begun = np.concatenate([self._begun, self._room.let_pass(HOP)])
        frame, self._begun = self._begun, self._begun[:0]
        return frame

    def ahead(self) -> np.ndarray:
        return self._begun.copy()

    def mute(self) -> None:
        """Zeros the incomplete frame."""
        self._begun = np.zeros_like(self._begun)


class Room:
    """A room for `frames` frames of 80 ms; all times are in seconds by the microphone's clock, from 0.

    - `delay_seconds`: from when the loudspeaker takes a sample until its direct sound is in a microphone frame,
      including both devices' buffers and the air
    - `attenuation_db`, `rt60`: see `echo_path`; an attenuation of None means headphones without an echo
    - `noise_dbfs`: RMS level of the room's white noise
    - `drift_ppm`: how much faster the loudspeaker's clock runs than the microphone's
    - `block`: number of samples that the loudspeaker takes at a time
    - `moves_at`: when the microphone is moved, which changes the echo path
    - `by_hops`: whether the microphone exposes incomplete frames
    - `keep`: whether to record what was `played` (by the loudspeaker's clock), the microphone's audio (`near`), and the
      `echo` in it
    """

    def __init__(
        self,
        frames: int,
        *,
        delay_seconds: float = 0.08,
        attenuation_db: float | None = -10.0,
        rt60: float = 0.3,
        noise_dbfs: float = -65.0,
        drift_ppm: float = 0.0,
        block: int = BLOCK,
        moves_at: float | None = None,
        seed: int = 0,
        by_hops: bool = False,
        keep: bool = False,
    ) -> None:
        self.block = block
        self.sink, self.tap = RoomSink(self), RoomTap()
        self.source = HopSource(self) if by_hops else RoomSource(self)
        self.keep = keep
        self.played: list[np.ndarray] = []
        self.near: list[np.ndarray] = []
        self.echo: list[np.ndarray] = []
        self.sounding: list[float] = []
        """Peak amplitude of each played block, by the loudspeaker's clock."""
        self._passed, self._end = 0, frames * FRAME_SAMPLES
        self._speed = 1.0 + drift_ppm * 1e-6
        self._delay = delay_seconds * SAMPLE_RATE
        self._rng = np.random.default_rng((seed, 1))
        self._noise = 10 ** (noise_dbfs / 20)
        self._moves_at = moves_at
        self._convolver, self._later = (
            None
            if attenuation_db is None
            else Convolver(echo_path(rt60, attenuation_db, seed + more), FRAME_SAMPLES + 2 * block)
            for more in (0, 1000)
        )
        self._blocks = 0
        # The echo at the microphone, by the loudspeaker's clock; `_base` is the index of its first sample.
        self._air: np.ndarray = np.zeros(SAMPLE_RATE)
        self._base = -SAMPLE_RATE
        self._said: list[tuple[int, np.ndarray]] = []

    @property
    def noise_power(self) -> float:
        """Mean square of the room's noise."""
        return self._noise**2

    @property
    def now(self) -> float:
        """Elapsed seconds."""
        return self._passed / SAMPLE_RATE

    def say(self, samples: np.ndarray, at: float) -> None:
        """Adds the user's voice, starting at `at` seconds: float32 (n,), as it arrives at the microphone."""
        self._said.append((round(at * SAMPLE_RATE), samples))

    def next_frame(self) -> np.ndarray:
        """Advances time by 80 ms; returns the microphone's frame, float32 (1920,)."""
        return self.let_pass(FRAME_SAMPLES)

    def let_pass(self, count: int) -> np.ndarray:
        """Advances time by `count` samples; returns the microphone's audio, float32 (count,)."""
        if self._passed >= self._end:
            raise EndOfAudio
        start, end = self._passed, self._passed + count
        handed = []
        while self._blocks * self.block <= end * self._speed:
            block = self.sink.block()
            self._blocks += 1
            handed.append(block)
            self.tap.put(block)
            self.sounding.append(float(np.abs(block).max()))
        near = self._noise * self._rng.standard_normal(count)
        if self._convolver is not None:
            echo = self._echo(handed, start, end)
            near += echo
            if self.keep:
                self.echo.append(echo.astype(np.float32))
        for at, samples in self._said:
            low, high = max(start, at), min(end, at + len(samples))
            if low < high:
                near[low - start : high - start] += samples[low - at : high - at]
        self._passed = end
        out = np.clip(near, -1.0, 1.0).astype(np.float32)
        if self.keep:
            self.played += handed
            self.near.append(out.copy())
        return out

    def loudest(self, begin: float, end: float) -> float:
        """Returns the peak amplitude played between two times, in seconds of the microphone's clock."""
        first, last = (round(at * self._speed * SAMPLE_RATE / self.block) for at in (begin, end))
        return max(self.sounding[first:last], default=0.0)

    def _echo(self, handed: list[np.ndarray], start: int, end: int) -> np.ndarray:
        assert self._convolver is not None
        if self._moves_at is not None and self.now >= self._moves_at:
            self._convolver, self._later, self._moves_at = self._later, self._convolver, None
        assert self._convolver is not None
        sound = np.concatenate(handed) if handed else np.zeros(0)
        wet = self._convolver.push(sound) if handed else sound
        self._air = np.concatenate([self._air, wet])
        if self._speed == 1.0:
            first = start - round(self._delay) - self._base
            return self._shorten(self._air[first : first + end - start], first)
        positions = (np.arange(start, end) - self._delay) * self._speed - self._base
        first = int(positions[0]) - TAPS
        return self._shorten(read_at(self._air, positions), first)

    def _shorten(self, echo: np.ndarray, first: int) -> np.ndarray:
        echo = echo.copy()
        if first > SAMPLE_RATE:
            self._air = self._air[first:]
            self._base += first
        return echo
