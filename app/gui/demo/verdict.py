"""Says in a few words which side was heard first."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.demo.base import Side

NOTICED_SECONDS = 0.05
"""Sides that are heard closer together than this count as equally fast."""
TIMES_FROM = 1.5
"""From this factor on the difference is given as one."""
LEAST_SECONDS = 0.1
"""A factor of less than this would say nothing."""


class Verdict(QObject):
    """All methods return text in the user's language."""

    def name(self, side: Side) -> str:
        """A side's name."""
        return self.tr("Cascade") if side == "cascade" else self.tr("Tandem")

    def words(self, cascade: float | None, tandem: float | None) -> str:
        """Who was heard first, and by how much; times in seconds, None where a side was not heard."""
        if cascade is None or tandem is None:
            return ""
        if abs(cascade - tandem) < NOTICED_SECONDS:
            return self.tr("Both were equally fast")
        first, other = min(cascade, tandem), max(cascade, tandem)
        name = self.name("tandem" if tandem < cascade else "cascade")
        if first >= LEAST_SECONDS and other / first >= TIMES_FROM:
            return self.tr("{0}: {1} times as fast").format(name, f"{other / first:.1f}")
        return self.tr("{0}: {1} s sooner").format(name, f"{other - first:.2f}")
