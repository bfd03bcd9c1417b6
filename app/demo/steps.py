"""The order of the demo's steps, and when it advances automatically.

Reads no clock: callers pass the time in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Step = Literal["start", "preparing", "question", "ask", "figures"]
"""The steps of the demo:

- `start`: waits for a visitor
- `preparing`: waits for the recording of the next question
- `question`: replays both sides' answers
- `ask`: lets the visitor ask a question
- `figures`: shows the response times
"""

HOLD_SECONDS = 1.8
"""How long (s) a finished replay stays on screen."""
ASK_SECONDS = 18.0
"""How long (s) a visitor may be idle at `ask` before the figures are shown."""
IDLE_SECONDS = 30.0
"""How long (s) the figures are shown without any input before the start page is shown for the next visitor."""


@dataclass(slots=True)
class Steps:
    """The demo's state machine.

    - `questions`: the number of questions
    - `visitors`: False for an unattended demo, which skips `ask`
    - `step`: the current step
    - `number`: the index of the current question, from 0
    """

    questions: int
    visitors: bool = True
    step: Step = "start"
    number: int = 0
    _since: float = 0.0
    _touched: float = 0.0
    _length: float = 0.0

    def touch(self, now: float) -> None:
        """Records visitor activity, such as a key press, mouse input or speech."""
        self._touched = max(self._touched, now)

    def begin(self, now: float) -> None:
        """Starts the demo at the first question."""
        self.number = 0
        self._go("preparing", now)

    def play(self, now: float, seconds: float) -> None:
        """Starts the replay of the prepared question, which lasts `seconds`."""
        self._length = seconds
        self._go("question", now)

    def next(self, now: float) -> None:
        """Advances to the next step immediately."""
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
        """Advances if the current step has timed out; returns whether it did."""
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
