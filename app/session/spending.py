"""Keeps what a session spends under the user's cap, and warns when it comes near.

First it asks less often, then it asks no back-end that costs money.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from app.backend.base import Backend
from app.conversation import events as e

Stage = Literal["free", "slow", "stop"]

SLOW_SHARE = 0.7
"""From this share of the cap on, the back-end is asked at pauses only: early requests are most of a turn's cost."""


class Budget:
    """Compares a conversation's cost with its cap, both in US dollars; a cap of 0 is none."""

    def __init__(self, cap: float = 0.0) -> None:
        self.cap = cap
        self.spent = 0.0

    @property
    def stage(self) -> Stage:
        """`free`: no limit yet; `slow`: ask at pauses only; `stop`: ask no back-end that costs."""
        if self.cap <= 0 or self.spent < self.cap * SLOW_SHARE:
            return "free"
        return "slow" if self.spent < self.cap else "stop"


class Spending:
    """US dollars spent against `cap` (0: no cap). Emits `BudgetChanged`, and a `Failure` that explains each limit."""

    def __init__(self, cap: float, emit: Callable[[e.Event], None], now: Callable[[], float]) -> None:
        self._budget = Budget(cap)
        self._stage = self._budget.stage
        self._emit = emit
        self._now = now

    @property
    def sparing(self) -> bool:
        """Whether back-ends are to be asked less often."""
        return self._stage != "free"

    def allows(self, backend: Backend) -> bool:
        """Whether a back-end may be asked at all."""
        return self._stage != "stop" or backend.traits.free

    def add(self, cost: float) -> None:
        """Count what a request cost."""
        self._budget.spent += cost
        self._update()

    def set_cap(self, dollars: float) -> None:
        """Change the cap."""
        self._budget.cap = max(0.0, dollars)
        self._update()

    def _update(self) -> None:
        stage, before = self._budget.stage, self._stage
        if stage == before:
            return
        self._stage = stage
        spent, cap, now = self._budget.spent, self._budget.cap, self._now()
        self._emit(e.BudgetChanged(now, stage, round(spent, 6), cap))
        if stage == "stop":
            consequence = (
                "models that cost are not asked any more. Raise the spending limit, or choose a model that runs on "
                "this machine."
            )
            self._emit(e.Failure(now, "backend", f"{_spent(spent, cap)}, so {consequence}", about="cap"))
        elif stage == "slow" and before == "free":
            consequence = "the model is asked less often from now on, so answers may begin later."
            self._emit(e.Failure(now, "backend", f"{_spent(spent, cap)}: {consequence}", about="cap"))


def _spent(spent: float, cap: float) -> str:
    return f"This conversation has cost ${spent:.2f} of the ${cap:.2f} that you allow"
