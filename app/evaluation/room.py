"""A simulated desk: what the loudspeaker plays comes back into the microphone, later, quieter and with a tail.

Two devices with clocks of their own, in blocks of 10 ms as the app's; time passes only as frames are read, so that a
talk in a room is the same each time. Knows nothing of cancellers or sessions: `Room` gives a source, a sink and a tap.

The model: the echo path is a direct sound and an exponentially decaying Gaussian tail (J.-D. Polack, "La
transmission de l'energie sonore dans les salles", 1988), with three early reflections 3 dB to 9 dB below the direct
sound, 4 to 18 ms behind it (a table's top, a screen, a wall at the height of a desk). Direct and reverberant energy
are equal: a microphone at the critical distance, 0.057 sqrt(V / RT60) = 0.66 m in 40 cubic metres at RT60 = 0.3 s
(H. Kuttruff, "Room Acoustics", ch. 5).
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

import numpy as np

from app.audio.io.base import EndOfAudio
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE

BLOCK = 240
"""What a device takes or gives at once, if nothing else is said: 10 ms."""

CUSHION = 960
"""As the app's loudspeaker does: the first samples of a talk wait 40 ms."""

FADE = 120
"""As the app's loudspeaker does: a hush falls silent in 5 ms."""

HOP = 480
"""So much time passes at once where a frame is looked at while it is under way: 20 ms."""

_TAPS = 32
_PHASES = 512


def echo_path(rt60: float, attenuation_db: float, seed: int) -> np.ndarray:
    """The impulse response from loudspeaker to microphone, without its delay: float64 of shape (rt60 * 24000,).

    `rt60`: seconds until the tail has fallen by 60 dB. `attenuation_db`: the whole response's gain for white noise,
    so -6 makes the echo 6 dB quieter than what is played.
    """
    rng = np.random.default_rng(seed)
    length = max(480, round(rt60 * SAMPLE_RATE))
    decay = 10.0 ** (-3.0 * np.arange(length) / (rt60 * SAMPLE_RATE))
    path = rng.standard_normal(length) * decay
    path[:48] = 0.0  # the tail begins 2 ms behind the direct sound: nothing is nearer
    path /= np.sqrt(np.sum(path**2))
    path[0] = 1.0
    for milliseconds, level in ((rng.uniform(4, 6), -3.0), (rng.uniform(7, 11), -6.0), (rng.uniform(12, 18), -9.0)):
        path[round(milliseconds * SAMPLE_RATE / 1000)] += rng.choice((-1.0, 1.0)) * 10 ** (level / 20)
    return path * (10 ** (attenuation_db / 20) / np.sqrt(np.sum(path**2)))


class _Convolver:
    """Streams samples through an impulse response: overlap-add, any block length up to `most`."""

    def __init__(self, path: np.ndarray, most: int) -> None:
        self._most = most
        self._size = len(path) + most
        self._spectrum = np.fft.rfft(path, self._size)
        self._tail = np.zeros(self._size)

    def push(self, samples: np.ndarray) -> np.ndarray:
        """As many samples as came in: float64 of shape (n,)."""
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
    """Kaiser-windowed sincs for every 512th of a sample: float64 of shape (513, 32); beta 8 is below -80 dB."""
    at = np.arange(_TAPS)[None, :] - (_TAPS // 2 - 1) - np.arange(_PHASES + 1)[:, None] / _PHASES
    window = np.i0(8.0 * np.sqrt(np.maximum(0.0, 1.0 - (at / (_TAPS / 2)) ** 2))) / np.i0(8.0)
    return np.sinc(at) * window


_KERNELS = _kernels()


def _at_positions(samples: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """`samples` (n,) read at fractional `positions` (m,), each at least 16 from both ends."""
    whole = np.floor(positions).astype(np.int64)
    phase = (positions - whole) * _PHASES
    low = phase.astype(np.int64)
    share = (phase - low)[:, None]
    kernel = _KERNELS[low] * (1.0 - share) + _KERNELS[low + 1] * share
    around = np.lib.stride_tricks.sliding_window_view(samples, _TAPS)[whole - (_TAPS // 2 - 1)]
    return np.einsum("ij,ij->i", around, kernel)


class RoomSink:
    """The loudspeaker: an `AudioSink` that takes a block from its queue whenever its own clock says so.

    `stops`: the seconds at which it fell silent since somebody wanted it: what was queued was thrown away, or kept back
    (`hushes` times; a hush that is taken back is none of the stops). `underruns` counts every time it ran dry.
    """

    name = "room's loudspeaker"
    keeps_time = False
    overruns = 0

    def __init__(self, room: Room) -> None:
        self.written = self.flushed = self.played = self.underruns = 0
        self.stops: list[float] = []
        self.hushes = 0
        self._hushed = self._silenced = False
        self._room = room
        self._queue = np.zeros(0, np.float32)
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
        if not self._hushed:
            self.stops.append(self._room.now)
        self._hushed = False
        return thrown

    def hush(self) -> None:
        if not self._hushed:
            self._hushed = True
            self.hushes += 1
            self.stops.append(self._room.now + FADE / SAMPLE_RATE)

    def unhush(self) -> None:
        if self._hushed:
            self._hushed = False
            self.stops.pop()

    def block(self) -> np.ndarray:
        """The next block that the device hands to the air: float32 (room.block,), silence where nothing waits."""
        size = self._room.block
        out = np.zeros(size, np.float32)
        if self._hushed:
            if self._playing and not self._silenced:
                self._silenced = True
                self._fill(out[:FADE])
                out[:FADE] *= np.linspace(1.0, 0.0, FADE)
            return out
        if not self._playing:
            self._waited = self._waited + size if len(self._queue) else 0
            self._playing = self._waited > CUSHION
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class RoomTap:
    """What the loudspeaker was handed, block by block: a `Tap`. `late`: blocks that the next look misses still."""

    rate = SAMPLE_RATE

    def __init__(self) -> None:
        self.generation = 0
        self.late = 0
        self._blocks: list[np.ndarray] = []

    def put(self, block: np.ndarray) -> None:
        """The loudspeaker was handed `block`."""
        self._blocks.append(block)

    def take(self) -> np.ndarray:
        due = len(self._blocks) - self.late
        taken, self._blocks = self._blocks[:due], self._blocks[due:]
        return np.concatenate(taken) if taken else np.zeros(0, np.float32)


class RoomSource:
    """The microphone: an `AudioSource`. Reading a frame lets 80 ms pass in the room."""

    name = "room's microphone"
    overruns = backlog = 0

    def __init__(self, room: Room) -> None:
        self._room = room

    def read_frame(self, timeout: float) -> np.ndarray | None:
        return self._room.next_frame()

    def drop_to_newest(self) -> int:
        return 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class HopSource(RoomSource):
    """The microphone, which shows the frame under way: 20 ms pass at once, as long as `read_frame` may wait."""

    def __init__(self, room: Room) -> None:
        super().__init__(room)
        self._begun = np.zeros(0, np.float32)

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
        """What has come of the frame under way becomes zeros."""
        self._begun = np.zeros_like(self._begun)


class Room:
    """`frames` frames of 80 ms in a room; all times are seconds by the microphone's clock, from 0.

    `delay_seconds`: from the moment the loudspeaker is handed a sample until its direct sound stands in the
    microphone's frame: both devices' buffers and the air. `attenuation_db`, `rt60`: see `echo_path`; None for
    headphones, which leave no echo. `noise_dbfs`: root mean square of the room's white noise. `drift_ppm`: how much
    faster the loudspeaker's clock runs than the microphone's. `block`: samples that the loudspeaker takes at once.
    `drive`: how far a full-scale sample is driven into the loudspeaker's tanh (0: it is linear; 1: 5 % of harmonics at
    full scale). `moves_at`: the second at which somebody moves the microphone: from then on the echo's path is another
    one. `by_hops`: the microphone shows its frames while they are under way. `played`, `near`, `echo`: what sounded so
    far, by the loudspeaker's clock, in the microphone, and the echo in it alone (with `keep` only).
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
        drive: float = 0.0,
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
        """Peak of each block that the loudspeaker was handed, by its own clock."""
        self._passed, self._end = 0, frames * FRAME_SAMPLES
        self._speed = 1.0 + drift_ppm * 1e-6
        self._delay = delay_seconds * SAMPLE_RATE
        self._rng = np.random.default_rng((seed, 1))
        self._noise = 10 ** (noise_dbfs / 20)
        self._drive = drive
        self._moves_at = moves_at
        self._convolver, self._later = (
            None
            if attenuation_db is None
            else _Convolver(echo_path(rt60, attenuation_db, seed + more), FRAME_SAMPLES + 2 * block)
            for more in (0, 1000)
        )
        self._blocks = 0
        # The sound at the microphone by the loudspeaker's clock; `_base` is the index of its first sample.
        self._air = np.zeros(SAMPLE_RATE)
        self._base = -SAMPLE_RATE
        self._said: list[tuple[int, np.ndarray]] = []

    @property
    def noise_power(self) -> float:
        """Mean square of the room's noise."""
        return self._noise**2

    @property
    def now(self) -> float:
        """Seconds that have passed."""
        return self._passed / SAMPLE_RATE

    def say(self, samples: np.ndarray, at: float) -> None:
        """The user's own sound, float32 (n,) as the microphone would take it, beginning at second `at`."""
        self._said.append((round(at * SAMPLE_RATE), samples))

    def next_frame(self) -> np.ndarray:
        """Lets 80 ms pass; the microphone's frame, float32 (1920,)."""
        return self.let_pass(FRAME_SAMPLES)

    def let_pass(self, count: int) -> np.ndarray:
        """Lets so many samples' time pass; what the microphone hears, float32 (count,)."""
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
        """The largest sample that the loudspeaker was handed between two seconds, by the microphone's clock."""
        first, last = (round(at * self._speed * SAMPLE_RATE / self.block) for at in (begin, end))
        return max(self.sounding[first:last], default=0.0)

    def _echo(self, handed: list[np.ndarray], start: int, end: int) -> np.ndarray:
        assert self._convolver is not None
        if self._moves_at is not None and self.now >= self._moves_at:
            self._convolver, self._later, self._moves_at = self._later, self._convolver, None
        assert self._convolver is not None
        sound = np.concatenate(handed) if handed else np.zeros(0)
        if self._drive:
            sound = np.tanh(self._drive * sound) / self._drive
        wet = self._convolver.push(sound) if handed else sound
        self._air = np.concatenate([self._air, wet])
        if self._speed == 1.0:
            first = start - round(self._delay) - self._base
            return self._shorten(self._air[first : first + end - start], first)
        positions = (np.arange(start, end) - self._delay) * self._speed - self._base
        first = int(positions[0]) - _TAPS
        return self._shorten(_at_positions(self._air, positions), first)

    def _shorten(self, echo: np.ndarray, first: int) -> np.ndarray:
        echo = echo.copy()
        if first > SAMPLE_RATE:
            self._air = self._air[first:]
            self._base += first
        return echo
