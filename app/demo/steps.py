"""In which order the demo goes on, and when it does so by itself. Pure: time is passed in, in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Step = Literal["start", "preparing", "question", "ask", "figures"]
"""`start`: waits for a visitor. `preparing`: the next question is not recorded yet. `question`: both sides answer it.
`ask`: the visitor's own question. `figures`: how long each side took.
"""

HOLD_SECONDS = 1.8
"""How long a question's end stays in view."""
ASK_SECONDS = 18.0
"""A visitor who has asked nothing for so long is shown the figures."""
IDLE_SECONDS = 30.0
"""Without input for so long, the next visitor's start page is shown."""


@dataclass(slots=True)
class Steps:
    """`questions`: how many there are. `visitors` False: nobody is there, so that nothing is waited for.

    `step` is the present one, and `number` the question's, from 0.
    """

    questions: int
    visitors: bool = True
    step: Step = "start"
    number: int = 0
    _since: float = 0.0
    _touched: float = 0.0
    _length: float = 0.0

    def touch(self, now: float) -> None:
        """Notes that somebody is there, by a key, the mouse or their voice."""
        self._touched = max(self._touched, now)

    def begin(self, now: float) -> None:
        """Starts from the first question."""
        self.number = 0
        self._go("preparing", now)

    def play(self, now: float, seconds: float) -> None:
        """The question that was waited for begins, and takes so long."""
        self._length = seconds
        self._go("question", now)

    def next(self, now: float) -> None:
        """Goes on at once."""
        match self.step:
            case "start":
                self.begin(now)
            case "preparing" | "question" if self.number + 1 < self.questions:
                self.number += 1
                self._go("preparing", now)
            case "preparing" | "question":
                self._go("ask" if self.visitors else "figures", now)
            case "ask":
                self._go("figures", now)
            case "figures":
                self.begin(now)

    def tick(self, now: float) -> bool:
        """Goes on by itself where it is time to; returns whether it has."""
        idle = now - max(self._since, self._touched)
        due = {
            "question": now - self._since >= self._length + HOLD_SECONDS,
            "ask": idle >= ASK_SECONDS,
            "figures": self.visitors and idle >= IDLE_SECONDS,
        }.get(self.step, False)
        if due and self.step == "figures":
            self._go("start", now)  # for the next visitor
        elif due:
            self.next(now)
        return due

    def _go(self, step: Step, now: float) -> None:
        self.step, self._since = step, now
