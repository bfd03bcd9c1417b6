"""What is left of the app's own voice: quiets it where nobody else speaks, and measures how much it is.

Both look at powers only, 10 or 20 ms at a time: `near` is the microphone's sound, `far` what the loudspeaker played,
`out` what came out of the canceller. Knows nothing of how the canceller works, or of voice detectors.
"""

from __future__ import annotations

import numpy as np

from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE

FAR_ACTIVE = 10 ** (-50 / 10)
"""Power of the far end (its range is digital silence to -10 dBFS) above which something sounds: -50 dBFS."""

BLOCK = SAMPLE_RATE // 100
BLOCKS = FRAME_SAMPLES // BLOCK
TINY = 1e-12


class ResidualEchoGate:
    """Lets out only what is nearly as loud as the microphone's sound was lately, while the loudspeaker sounds.

    The echo's residue is 20 dB and more below the echo; somebody who speaks over it isn't. So 20 ms that are less than
    `OPENS` below the loudest 10 ms of the last moments open the gate, and then it stays open for `HOLD_BLOCKS`. Until
    the canceller has had `COLD_SECONDS` of echo to learn from they must be nearer. All else is `CLOSED` quieter; while
    the loudspeaker is silent nothing is changed. It is for where there is an echo (see `EchoPresence`), and is begun
    when one is found.

    The figures were found by trial in simulated rooms (`tests.support.room_talks`): 20 to 250 ms, -6 to -20 dB.
    """

    OPENS = 10 ** (-10 / 10)
    OPENS_COLD = 10 ** (-6 / 10)
    COLD_SECONDS = 5.0
    WARMING_SECONDS = 1.0
    """Behind a pause, and behind words of the user above all, the canceller has to find back for so long."""
    CLOSED = 10 ** (-30 / 20)
    DECAY = 10 ** (-15 / 10 * BLOCK / SAMPLE_RATE)
    """The remembered loudness falls by 15 dB a second: over the gaps between words, not over a pause."""
    HOLD_BLOCKS = 35
    LOOK_BACK = 4
    """Blocks before the one that opened the gate which are let out with it, in so far as the frame holds them: a word
    begins softly."""
    TAIL_BLOCKS = 60
    """The echo goes on for 0.6 s behind its origin: 0.25 s of latency and a room's tail."""

    def __init__(self) -> None:
        self.begin()

    def begin(self, *, known: bool = False) -> None:
        """The canceller has everything to learn, or knows the way from an earlier talk."""
        self._active_seconds = self.COLD_SECONDS if known else 0.0
        self._since_pause = 0.0
        self._tail = self._hold = 0
        self._peak = 0.0
        self._gain = 1.0
        self._before = 0.0

    def pass_through(self, near: np.ndarray, far: np.ndarray, out: np.ndarray) -> np.ndarray:
        """`out` with its residue quieted: three float32 (1920,) in, one out (the same one if nothing is to do)."""
        sounding = powers(far, BLOCK) > FAR_ACTIVE
        if not sounding.any() and not self._tail:
            self._peak, self._hold, self._gain, self._since_pause = 0.0, 0, 1.0, 0.0
            return out
        near_power, out_power = powers(near, BLOCK), powers(out, BLOCK)
        opened = np.zeros(BLOCKS, bool)
        for n in range(BLOCKS):
            self._tail = self.TAIL_BLOCKS if sounding[n] else max(0, self._tail - 1)
            self._active_seconds += BLOCK / SAMPLE_RATE if sounding[n] else 0.0
            self._since_pause += BLOCK / SAMPLE_RATE
            self._peak = max(self._peak * self.DECAY, near_power[n])
            # Two blocks together: a single one can be a click.
            level = 0.5 * (out_power[n] + self._before)
            self._before = out_power[n]
            if not self._tail:
                opened[n] = True  # nothing sounds yet
            elif level > self._opens() * self._peak:
                self._hold = self.HOLD_BLOCKS
                opened[max(0, n - self.LOOK_BACK) : n + 1] = True
            else:
                self._hold = max(0, self._hold - 1)
                opened[n] = opened[n] or self._hold > 0
        goals = np.where(opened, 1.0, self.CLOSED)
        if self._gain == 1.0 and opened.all():
            return out
        # Opens at once, closes over 10 ms: linear from block's end to block's end.
        starts = np.concatenate([[self._gain], goals[:-1]])
        starts = np.maximum(starts, goals)
        ramp = np.linspace(0.0, 1.0, BLOCK, dtype=np.float32)
        gains = starts[:, None] + (goals - starts)[:, None] * ramp
        self._gain = float(goals[-1])
        return (out * gains.reshape(-1)).astype(np.float32)

    def _opens(self) -> float:
        """The share of the microphone's loudest power that opens the gate."""
        cold = self._active_seconds < self.COLD_SECONDS or self._since_pause < self.WARMING_SECONDS
        return self.OPENS_COLD if cold else self.OPENS


HOP = SAMPLE_RATE // 50
HOPS = FRAME_SAMPLES // HOP
WINDOW = 300
"""Hops of 20 ms that are looked at together: 6 s."""

MOST_LAG = 20
"""Hops by which an echo may come after its origin: 0.4 s."""

LOOK_EVERY = 12
"""Frames between two looks: about a second."""


class EchoMeter:
    """How much of the app's own voice is taken out, and whether enough remains to be taken for the user.

    There is an echo where the loudness of near follows that of far, a little later (correlation of the logarithms,
    above `FOLLOWS`). Hops in which near is much louder than far's usual share of it are somebody speaking, and don't
    count. Powers are less the noise floor, which is the level that a tenth of the hops stay below.
    """

    FOLLOWS = 0.5
    LEAST_ACTIVE = 60
    """Hops with an active far end without which a look tells nothing: 1.2 s of the 6."""
    CONVERGING_SECONDS = 3.0
    SPEECH_OVER_NOISE = 10 ** (12 / 10)
    AUDIBLE = 10 ** (-55 / 10)
    """What voice detectors begin to take for speech: residue at -44 dBFS did set Silero off in trials."""
    RAISE_LOOKS, CLEAR_LOOKS = 3, 4
    FORGET = 0.7
    """Weight that a look's sums keep at the next one: a memory of about 3 s."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """The two sounds were aligned anew."""
        self.erle_db: float | None = None
        self.echo_remains = False
        self._near, self._far, self._out = (np.full(WINDOW, TINY) for _ in range(3))
        self._frames = 0
        self._active_seconds = 0.0
        self._sum_near = self._sum_out = 0.0
        self._raised = self._cleared = 0

    def measure(self, near: np.ndarray, far: np.ndarray, out: np.ndarray) -> None:
        """One frame of each, float32 (1920,)."""
        for ring, samples in ((self._near, near), (self._far, far), (self._out, out)):
            ring[:-HOPS] = ring[HOPS:]
            ring[-HOPS:] = powers(samples, HOP)
        self._frames += 1
        self._active_seconds += FRAME_SECONDS if self._far[-HOPS:].max() > FAR_ACTIVE else 0.0
        if self._frames % LOOK_EVERY == 0:
            self._look()

    def _look(self) -> None:
        if np.count_nonzero(self._far > FAR_ACTIVE) < self.LEAST_ACTIVE:
            return  # nothing has sounded: what was known stays
        lag, follows = _lag_of(self._near, self._far)
        far = self._far[: WINDOW - lag]
        near, out = self._near[lag:], self._out[lag:]
        floor, left_floor = np.percentile(self._near, 10), np.percentile(self._out, 10)
        active = far > FAR_ACTIVE
        echo = near[active].mean() - floor
        if follows < self.FOLLOWS or echo < floor:
            self.erle_db = None  # headphones, or nothing but noise
            self._sum_near = self._sum_out = 0.0
            self._judge(False)
            return
        share = near / np.maximum(far, TINY)
        usual = np.percentile(share[active], 30)
        alone = active & (share < 6.0 * usual)
        self._sum_near = self.FORGET * self._sum_near + max(0.0, float((near[alone] - floor).sum()))
        left = max(float((out[alone] - min(left_floor, floor)).sum()), 0.05 * floor * np.count_nonzero(alone), TINY)
        self._sum_out = self.FORGET * self._sum_out + left
        self.erle_db = round(float(10.0 * np.log10(max(self._sum_near, TINY) / self._sum_out)), 1)
        loud = np.percentile(out[active], 90)
        audible = loud > max(self.AUDIBLE, self.SPEECH_OVER_NOISE * min(left_floor, floor))
        self._judge(bool(audible) and _correlation(out, far) > self.FOLLOWS)

    def _judge(self, remains: bool) -> None:
        """Raises the verdict after some looks in a row, and takes it back after some more."""
        if self._active_seconds < self.CONVERGING_SECONDS:
            return
        self._raised = self._raised + 1 if remains else 0
        self._cleared = 0 if remains else self._cleared + 1
        if self._raised >= self.RAISE_LOOKS:
            self.echo_remains = True
        elif self._cleared >= self.CLEAR_LOOKS:
            self.echo_remains = False


def powers(samples: np.ndarray, size: int) -> np.ndarray:
    """Mean square of each `size` samples: float64 of shape (n / size,)."""
    return np.einsum("ij,ij->i", *([samples.reshape(-1, size)] * 2), dtype=np.float64) / size


def _lag_of(near: np.ndarray, far: np.ndarray) -> tuple[int, float]:
    """By how many hops near's loudness follows far's best, and how well: correlation in [-1, 1]."""
    found = [_correlation(near[lag:], far[: len(far) - lag]) for lag in range(MOST_LAG + 1)]
    best = int(np.argmax(found))
    return best, found[best]


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Correlation of two loudnesses in decibels, not less than -75 dBFS; 0 where one doesn't change."""
    a, b = (np.log10(np.maximum(x, 10**-7.5)) for x in (one, other))
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 1e-9 else 0.0
