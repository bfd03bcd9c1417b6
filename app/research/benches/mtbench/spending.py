"""Counts what a run has cost, and stops it at its cap."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.session.errors import UserError


@dataclass(slots=True)
class Spending:
    """`dollars` so far, of `cap` (0: any sum). `out`: the run's folder."""

    cap: float
    out: Path
    dollars: float = 0.0

    def add(self, dollars: float | None) -> None:
        """Adds what a request has cost; None counts as nothing, since its price is not known."""
        self.dollars += dollars or 0.0

    def check(self) -> None:
        """Raises UserError once the cap is reached."""
        if self.cap and self.dollars >= self.cap:
            raise UserError(
                f"This run has cost ${self.dollars:.2f}, and its cap is ${self.cap:.2f}. What was answered stays in "
                f"{self.out}: start the command again with a higher --cap, and it goes on from there."
            )
