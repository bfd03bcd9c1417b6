"""Caps the cost of a conversation: first by asking less often, then by asking no back-end that costs money."""

from __future__ import annotations

from typing import Literal

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
