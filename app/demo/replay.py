"""Shows two recorded sides in step: both questions begin at the same moment, and every event comes at its own time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from app.conversation.frame import SAMPLE_RATE
from app.demo.base import SIDES, DemoQuestion, Side
from app.demo.record import Pair, Take
from app.demo.side import SideState

LEAD_SECONDS = 0.6
"""Of silence before the question."""
TROUBLE_SECONDS = 3.0
"""How long a side's trouble can be read, behind the question."""


class Replay:
    """`states` at `now`, in seconds since the replay began; the question begins at `LEAD_SECONDS`."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.now = 0.0
        self.states: Mapping[Side, SideState] = {side: SideState() for side in SIDES}
        self._takes: dict[Side, Take] = {"cascade": pair.cascade, "tandem": pair.tandem}
        self._next = dict.fromkeys(SIDES, 0)
        for side, take in self._takes.items():
            self.states[side].ask(take.start, take.question.seconds)

    @property
    def question(self) -> DemoQuestion:
        """What is asked."""
        return self.pair.tandem.question

    @property
    def seconds(self) -> float:
        """How long it is."""
        return LEAD_SECONDS + max(
            take.seconds + (TROUBLE_SECONDS if take.heard is None else 0.0) for take in self._takes.values()
        )

    def session_time(self, side: Side) -> float:
        """The time of a side's session that is shown now."""
        return self.now - LEAD_SECONDS + self._takes[side].start

    def advance(self, now: float) -> None:
        """Goes on to `now`; never back."""
        self.now = max(self.now, now)
        for side, take in self._takes.items():
            until, state = self.session_time(side), self.states[side]
            while self._next[side] < len(take.events) and take.events[self._next[side]].at <= until:
                state.apply(take.events[self._next[side]])
                self._next[side] += 1
            if take.heard is None and self.now >= LEAD_SECONDS + take.question.seconds:
                state.trouble = take.trouble  # also of a session that could not start

    def mix(self) -> np.ndarray:
        """The sound of all of it, float32 (n, 2) at 24 kHz: the question in the middle, each side's voice on its own
        side.
        """
        out = np.zeros((round(self.seconds * SAMPLE_RATE), 2), np.float32)
        lead = round(LEAD_SECONDS * SAMPLE_RATE)
        for channel, take in enumerate(self._takes.values()):
            for samples in (take.question.samples, take.sound):
                part = samples[: len(out) - lead]
                out[lead : lead + len(part), channel] += part
        return np.clip(out, -1.0, 1.0)
