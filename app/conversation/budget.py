"""A cap on what a conversation may cost: restarts become rare first, then nothing that costs is asked. Pure."""

from __future__ import annotations

from typing import Literal

Stage = Literal["free", "slow", "stop"]

SLOW_SHARE = 0.7
"""From this share of the cap on, the brain is asked at pauses only: of what a turn costs most is guessing early."""


class Budget:
    """`cap` in US dollars; 0: none. `spent` counts from the conversation's start."""

    def __init__(self, cap: float = 0.0) -> None:
        self.cap = cap
        self.spent = 0.0

    @property
    def stage(self) -> Stage:
        """What may still be asked."""
        if self.cap <= 0 or self.spent < self.cap * SLOW_SHARE:
            return "free"
        return "slow" if self.spent < self.cap else "stop"
