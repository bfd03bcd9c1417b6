"""Measures how much the echo is attenuated, and whether what remains may be taken for the user."""

from __future__ import annotations

import numpy as np

from app.audio.echo.power import FAR_ACTIVE, HOP, powers
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS

HOPS = FRAME_SAMPLES // HOP
WINDOW = 300
"""Hops of 20 ms that are evaluated together: 6 s."""

MOST_LAG = 20
"""Hops by which an echo may come after its origin: 0.4 s."""

EVALUATE_EVERY = 12
"""Frames between two evaluations: about a second."""

TINY = 1e-12


class EchoMeter:
    """`erle_db`: echo return loss enhancement, None if unknown; `echo_remains`: enough to be taken for the user.

    There is an echo where the loudness of near follows that of far, a little later (correlation of the logarithms,
    above `FOLLOWS`). Hops in which near is much louder than far's usual share of it are a voice, and don't count.
    Powers are reduced by the noise floor, the level that a tenth of the hops stay below.
    """

    FOLLOWS = 0.5
    LEAST_ACTIVE = 60
    """Hops with an active far end that an evaluation needs: 1.2 s of the 6."""
    CONVERGING_SECONDS = 3.0
    SPEECH_OVER_NOISE = 10 ** (12 / 10)
    AUDIBLE = 10 ** (-55 / 10)
    """From here on voice detectors take sound for speech: a residual of -44 dBFS did trigger Silero in trials."""
    RAISE_AFTER, CLEAR_AFTER = 3, 4
    """Evaluations in a row that raise or clear `echo_remains`."""
    FORGET = 0.7
    """Weight that the sums keep at the next evaluation: a memory of about 3 s."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Starts over: the two sounds are aligned differently from now on."""
        self.erle_db: float | None = None
        self.echo_remains = False
        self._near, self._far, self._out = (np.full(WINDOW, TINY) for _ in range(3))
        self._frames = 0
        self._active_seconds = 0.0
        self._sum_near = self._sum_out = 0.0
        self._raised = self._cleared = 0

    def update(self, near: np.ndarray, far: np.ndarray, out: np.ndarray) -> None:
        """Takes one frame of each, float32 (1920,)."""
        for history, samples in ((self._near, near), (self._far, far), (self._out, out)):
            history[:-HOPS] = history[HOPS:]
            history[-HOPS:] = powers(samples, HOP)
        self._frames += 1
        self._active_seconds += FRAME_SECONDS if self._far[-HOPS:].max() > FAR_ACTIVE else 0.0
        if self._frames % EVALUATE_EVERY == 0:
            self._evaluate()

    def _evaluate(self) -> None:
        if np.count_nonzero(self._far > FAR_ACTIVE) < self.LEAST_ACTIVE:
            return  # too little has sounded: the last result stays
        lag, follows = _lag_of(self._near, self._far)
        far = self._far[: WINDOW - lag]
        near, out = self._near[lag:], self._out[lag:]
        floor, out_floor = np.percentile(self._near, 10), np.percentile(self._out, 10)
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
        left = max(float((out[alone] - min(out_floor, floor)).sum()), 0.05 * floor * np.count_nonzero(alone), TINY)
        self._sum_out = self.FORGET * self._sum_out + left
        self.erle_db = round(float(10.0 * np.log10(max(self._sum_near, TINY) / self._sum_out)), 1)
        loud = np.percentile(out[active], 90)
        audible = loud > max(self.AUDIBLE, self.SPEECH_OVER_NOISE * min(out_floor, floor))
        self._judge(bool(audible) and _correlation(out, far) > self.FOLLOWS)

    def _judge(self, remains: bool) -> None:
        if self._active_seconds < self.CONVERGING_SECONDS:
            return
        self._raised = self._raised + 1 if remains else 0
        self._cleared = 0 if remains else self._cleared + 1
        if self._raised >= self.RAISE_AFTER:
            self.echo_remains = True
        elif self._cleared >= self.CLEAR_AFTER:
            self.echo_remains = False


def _lag_of(near: np.ndarray, far: np.ndarray) -> tuple[int, float]:
    """By how many hops near's loudness follows far's best, and how well: correlation in [-1, 1]."""
    correlations = [_correlation(near[lag:], far[: len(far) - lag]) for lag in range(MOST_LAG + 1)]
    best = int(np.argmax(correlations))
    return best, correlations[best]


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Correlation of two loudnesses in decibels, not less than -75 dBFS; 0 if one is constant."""
    a, b = (np.log10(np.maximum(x, 10**-7.5)) for x in (one, other))
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 1e-9 else 0.0
