"""Computes how long a pause must last before it ends the turn.

The probability that nothing follows a pause grows with its length. Its log-odds are those that sound and words gave
when the pause began, plus a term for the silence since then, which is smaller for a speaker whose pauses are long. The
turn ends once the probability reaches a bound, so the wait gets smoothly shorter the more finished the turn seems.
`app.research.training.endpointing` fits the weights on real callers and on synthetic pauses, and chooses the bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MOST_LOG_ODDS = 6.0
"""Log-odds are limited to this (0.25 % wrong)."""
LONGEST_WAIT, SHORTEST_WAIT = 1.8, 0.032
"""Seconds: a turn ends after the longest wait whatever was said, and not before one window of silence. Of 316 pauses
of the development callers of 0.3 s and more, 11 were longer than 1.6 s."""
TYPICAL_PAUSE = 0.45
"""Seconds: the median pause within a turn of the development callers; assumed of a new speaker."""
TRUST_AFTER = 6
"""Weight of the typical pause, in pauses of the speaker."""
REMEMBERED = 60
"""About this many of the last pauses count."""
PATIENCE_STEP = 2.0
"""Added to the bound's log-odds at full patience."""


@dataclass(slots=True)
class PauseLengths:
    """A speaker's pauses within turns: the mean of their logarithms and their number."""

    mean_log: float = math.log(TYPICAL_PAUSE)
    count: int = 0

    def add(self, seconds: float) -> None:
        """Adds a pause after which the same turn continued."""
        self.count += 1
        weight = 1 / (min(self.count, REMEMBERED) + TRUST_AFTER)
        self.mean_log += weight * (math.log(max(0.05, seconds)) - self.mean_log)

    @property
    def slower(self) -> float:
        """How much longer than typical the pauses are, as a logarithm; 0 at first."""
        return self.mean_log - math.log(TYPICAL_PAUSE)


@dataclass(frozen=True, slots=True)
class EndWeights:
    """Weights of the log-odds that a turn is over; `bound`: the log-odds from which it ends. `unknown`: the share of
    pauses that were ends, used until a pause has been judged.
    """

    always: float
    finished: float
    silence: float
    both: float
    slower: float
    bound: float
    unknown: float

    def log_odds(self, finished: float, silence: float, slower: float = 0.0) -> float:
        """Log-odds that a pause of `silence` seconds ends a turn that was judged `finished` with this probability."""
        z = log_odds(finished)
        return (
            self.always
            + self.finished * z
            + self.silence * silence
            + self.both * z * silence
            + self.slower * slower * silence
        )

    def wait(self, finished: float, *, slower: float = 0.0, patience: float = 0.0) -> float:
        """Seconds of silence that end the turn. `patience` in [-1, 1]: 0 as fitted, 1 waits longest."""
        bound = self.bound + PATIENCE_STEP * patience
        low, high = SHORTEST_WAIT, LONGEST_WAIT * (1 + 0.5 * max(0.0, min(1.0, patience)))
        if self.log_odds(finished, low, slower) >= bound:
            return low
        for _ in range(12):  # to 1 ms
            middle = (low + high) / 2
            low, high = (low, middle) if self.log_odds(finished, middle, slower) >= bound else (middle, high)
        return high


def log_odds(probability: float) -> float:
    """Log-odds of a probability, limited to ±MOST_LOG_ODDS."""
    probability = min(1 - 1e-9, max(1e-9, probability))
    return min(MOST_LOG_ODDS, max(-MOST_LOG_ODDS, math.log(probability / (1 - probability))))
