"""What all painters of the timeline share: the conversation, the colours, the letters, the lanes and the scale."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor

from app.gui.timeline_data.log import TimelineLog
from app.gui.timeline_data.spans import Backend
from app.gui.timeline_drawing.style import Colours, Lanes, Letters

SPILL_PX = 460
"""Labels and words reach so far to the right of what they belong to."""
REACH_PX = 8
"""Marks reach so far to the left of their time."""


@dataclass(frozen=True, slots=True, eq=False)
class Canvas:
    """Absolute pixels: second 0 is at pixel 0, and there are `scale` pixels a second."""

    log: TimelineLog
    colours: Colours
    letters: Letters
    lanes: Lanes
    scale: float

    def backend_colour(self, backend: Backend) -> QColor:
        """The colour of a model."""
        return self.colours.backend(backend) if any(backend) else self.colours.dim
