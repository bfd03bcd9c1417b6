"""Decides which seconds of a conversation are in view: those up to the live edge, or those that the user has moved
to.
"""

from __future__ import annotations

from app.gui.timeline_data.live_clock import LiveEdge
from app.gui.timeline_data.log import TimelineLog

USUAL_SECONDS = 30.0
LEAST_SECONDS, MOST_SECONDS = 2.0, 600.0
AHEAD_SHARE = 0.08
"""This share of the width is to the right of the live edge: what is being said spills into it."""


class ViewRange:
    """The visible part of `log`. It stays between the oldest second that is kept and the live edge."""

    def __init__(self, log: TimelineLog, edge: LiveEdge) -> None:
        self._log = log
        self._edge = edge
        self.following = True
        self.seconds = USUAL_SECONDS
        """How much of the conversation is in view, left of the live edge."""
        self.right = USUAL_SECONDS * AHEAD_SHARE
        """The second at the right end."""

    @property
    def whole(self) -> float:
        """Seconds from the left to the right end."""
        return self.seconds * (1 + AHEAD_SHARE)

    @property
    def left(self) -> float:
        """The second at the left end."""
        return self.right - self.whole

    @property
    def live_right(self) -> float:
        """The second at the right end while it follows."""
        return self._edge.at + self.seconds * AHEAD_SHARE

    def advance(self) -> None:
        """Moves the live edge to the present moment, and the range with it while it follows."""
        self._edge.move()
        if self.following:
            self.show(self.live_right, self.seconds)

    def follow(self) -> None:
        """Goes back to the live edge, and stays with it."""
        self.following = True
        self.advance()

    def pause(self) -> None:
        """Stays where it is while the conversation goes on."""
        self.following = False

    def last_seconds(self) -> None:
        """Follows the live edge with the usual half minute in view."""
        self.seconds = USUAL_SECONDS
        self.follow()

    def zoom(self, factor: float, share: float = 0.5) -> None:
        """Shows `factor` times as many seconds. While it does not follow, the second at this `share` of the width
        stays there.
        """
        seconds = min(MOST_SECONDS, max(LEAST_SECONDS, self.seconds * factor))
        if self.following:
            right = self._edge.at + seconds * AHEAD_SHARE
        else:
            right = self.right + (seconds - self.seconds) * (1 + AHEAD_SHARE) * (1 - share)
        self.show(right, seconds)

    def scroll(self, seconds: float) -> None:
        """Moves by so many seconds and pauses; at the live edge it follows again."""
        right = self.right + seconds
        if seconds > 0 and right >= self.live_right:
            self.follow()
            return
        self.pause()
        self.show(right, self.seconds)

    def to_start(self) -> None:
        """Goes to the oldest second that is kept."""
        self.pause()
        self.show(self._log.oldest + self.seconds, self.seconds)

    def reveal(self, second: float) -> None:
        """Brings a second into view."""
        if not self.left <= second <= self.right:
            self.pause()
            self.show(second + self.seconds / 2, self.seconds)

    def show(self, right: float, seconds: float) -> None:
        """Shows so many seconds, up to `right` as far as there is anything."""
        latest = self._edge.at + seconds * AHEAD_SHARE
        earliest = min(latest, self._log.oldest + seconds)
        self.seconds, self.right = seconds, min(latest, max(earliest, right))
