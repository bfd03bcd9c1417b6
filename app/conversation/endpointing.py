"""How long a pause must last before it is taken for the turn's end.

The probability that nothing follows a pause grows with its length. Its log-odds are those that sound and words gave
when the pause began, plus what the silence since then adds, which is less for a speaker whose pauses are long. The
turn is taken once the probability reaches a bound, so the wait falls smoothly as the turn seems more finished.
`app.training.turn_ends` fits the weights, on real callers and on synthetic pauses, and chooses the bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MOST_LOG_ODDS = 6.0
"""Nothing is believed more surely than this (0.25 % wrong)."""
LONGEST_WAIT, SHORTEST_WAIT = 1.8, 0.032
"""Seconds: a turn ends after the first whatever was said, and not before one window of silence. Of 316 pauses of the
development callers of 0.3 s and more 11 were longer than 1.6 s."""
TYPICAL_PAUSE = 0.45
"""Seconds: the median pause within a turn on the development callers, before anything is known of a speaker."""
TRUST_AFTER = 6
"""So many pauses of a speaker count as much as the typical one."""
REMEMBERED = 60
"""An earlier pause counts less the more have come since: about so many are remembered."""
PATIENCE_STEP = 2.0
"""What the patience dial adds at its end to the log-odds that are asked for."""


@dataclass(slots=True)
class PauseLengths:
    """A speaker's pauses within turns: the mean of their logarithms, and how many were heard."""

    mean_log: float = math.log(TYPICAL_PAUSE)
    count: int = 0

    def add(self, seconds: float) -> None:
        """Takes in a pause behind which the same turn went on."""
        self.count += 1
        weight = 1 / (min(self.count, REMEMBERED) + TRUST_AFTER)
        self.mean_log += weight * (math.log(max(0.05, seconds)) - self.mean_log)

    @property
    def slower(self) -> float:
        """How much longer than typical the pauses are, as a logarithm; 0 at first."""
        return self.mean_log - math.log(TYPICAL_PAUSE)


@dataclass(frozen=True, slots=True)
class EndWeights:
    """Weights of the log-odds that a turn is over, and `bound`, the log-odds from which it is taken to be.
    `unknown`: the share of pauses that were ends, which stands in until a pause has been judged.
    """

    always: float
    finished: float
    silence: float
    both: float
    slower: float
    bound: float
    unknown: float

    def log_odds(self, finished: float, silence: float, slower: float = 0.0) -> float:
        """Of a pause of `silence` seconds in a turn that is `finished` with this probability."""
        z = log_odds(finished)
        return (
            self.always
            + self.finished * z
            + self.silence * silence
            + self.both * z * silence
            + self.slower * slower * silence
        )

    def wait(self, finished: float, *, slower: float = 0.0, patience: float = 0.0) -> float:
        """Seconds of silence after which the turn is over. `patience` in [-1, 1]: 0 as fitted, 1 waits longest."""
        bound = self.bound + PATIENCE_STEP * patience
        low, high = SHORTEST_WAIT, LONGEST_WAIT * (1 + 0.5 * max(0.0, min(1.0, patience)))
        if self.log_odds(finished, low, slower) >= bound:
            return low
        for _ in range(12):  # to 1 ms
            middle = (low + high) / 2
            low, high = (low, middle) if self.log_odds(finished, middle, slower) >= bound else (middle, high)
        return high


def log_odds(probability: float) -> float:
    """Of a probability, bounded."""
    probability = min(1 - 1e-9, max(1e-9, probability))
    return min(MOST_LOG_ODDS, max(-MOST_LOG_ODDS, math.log(probability / (1 - probability))))
