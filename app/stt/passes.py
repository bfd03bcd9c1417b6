"""The passes over a turn's sound: which stretch each decodes, and when the next one is due."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.stt.base import RATE

PASS_SECONDS = ((0.0, 0.24), (1.5, 0.4), (5.0, 0.64))
"""(Length of the window, new sound after which it is decoded again.) The first words come at once, since they tell
speech from laughter. A long window takes twice as long to decode as a short one, and its end is decoded in the pause
anyway. With 0.24 s up to 5 s and 0.4 s beyond, decoding took most of the app's processor time."""
PAUSE_PASS_SECONDS = 0.28
"""A pause is decoded once more at this length: the last word's fading end, or a soft word after it, came since."""
SILENT_SECONDS = 0.03
"""A pass that is under way when a pause is detected, and reaches so far into it, counts as the pause's first one."""
WINDOW_SECONDS = 10.0
"""A longer window is followed by one that starts..."""
OVERLAP_SECONDS = (3.0, 6.0)
"""... so long before its end, at the quietest place."""
LONGEST_SECONDS = 20.0
"""The most that one pass decodes, where passes were late: Whisper takes 22 s."""


@dataclass(frozen=True, slots=True)
class Window:
    """The turn's sound from sample `start` on (16 kHz, session time).

    `before`: the words up to sample `until`, some of which lie in the window.
    """

    start: int
    before: str = ""
    until: int = 0


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass over `window` up to sample `end`, started at session time `at`.

    `settles`: whether it is to settle the words of the pause that began at `pause`. `more`: there is sound after it.
    """

    turn: int
    window: Window
    end: int
    at: float
    settles: bool
    pause: float | None
    more: bool
    samples: np.ndarray

    @property
    def overlap(self) -> float:
        """Share of its sound that `window.before` has the words of."""
        return (self.window.until - self.window.start) / max(1, self.end - self.window.start)

    def covers(self, pause: float) -> bool:
        """Whether it was started in this pause, or reaches far enough into it."""
        return self.pause == pause or reaches_into(self.end, pause)


def next_due(length: int) -> float:
    """Seconds of new sound after which a window of `length` samples is decoded again."""
    return next(seconds for least, seconds in reversed(PASS_SECONDS) if length >= least * RATE)


def reaches_into(sample: int, pause: float) -> bool:
    """Whether a pass that ends at `sample` has enough of the pause that starts at `pause` to be its first one."""
    return sample >= (pause + SILENT_SECONDS) * RATE
