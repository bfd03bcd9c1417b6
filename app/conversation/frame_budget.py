"""Counts how late the frame loop's steps end."""

from __future__ import annotations

import bisect
import itertools
from dataclasses import dataclass, field

from app.conversation.frame import FRAME_MS

_LATE_EDGES_MS = (*(n * 0.5 for n in range(1, 2 * FRAME_MS)), *(float(n) for n in range(FRAME_MS, 1001, 5)))
"""Upper edges of the histogram, finer where steps are in time."""


@dataclass(slots=True)
class FrameBudget:
    """Histogram of how late each 80 ms step ended after its frame; a step that ended within a frame was in time for the
    next. `dropped`: frames that were skipped to catch up; `gaps`: how often the loudspeaker ran dry.
    """

    steps: int = 0
    late: int = 0
    worst_ms: float = 0.0
    dropped: int = 0
    gaps: int = 0
    _counts: list[int] = field(default_factory=lambda: [0] * (len(_LATE_EDGES_MS) + 1))

    def note(self, late_ms: float) -> None:
        """Records that a step ended this late."""
        self.steps += 1
        self.late += late_ms > FRAME_MS
        self.worst_ms = max(self.worst_ms, late_ms)
        self._counts[bisect.bisect_left(_LATE_EDGES_MS, late_ms)] += 1

    def quantile_ms(self, share: float) -> float | None:
        """The quantile of the lateness, to the histogram's half a millisecond; None without steps."""
        if not self.steps:
            return None
        place = bisect.bisect_left(list(itertools.accumulate(self._counts)), share * self.steps)
        return min(self.worst_ms, _LATE_EDGES_MS[place]) if place < len(_LATE_EDGES_MS) else self.worst_ms
