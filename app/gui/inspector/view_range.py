"""Decides which seconds of a conversation the timeline shows. No Qt.

`LiveEdge` estimates the present second between two events; `ViewRange` follows it, or stays where the user has moved
it.
"""

from __future__ import annotations

from collections.abc import Callable

from app.gui.inspector.activity import Activity
from app.gui.widgets.formats import SessionTime

LAG_SECONDS = 0.085
"""The edge stays one frame behind the session, so that everything up to it is already known."""

USUAL_SECONDS = 30.0
LEAST_SECONDS, MOST_SECONDS = 2.0, 600.0
AHEAD_SHARE = 0.08
"""This share of the width is to the right of the live edge: what is being said spills into it."""


class LiveEdge:
    """The present second, which moves evenly between two events and never back.

    Takes each event's time with `update`, and is moved once a picture with `move`. `clock`: any steady one, in
    seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.time = SessionTime(clock)
        self.begin()

    def begin(self) -> None:
        """Restarts at 0: a new session starts."""
        self.at = 0.0
        """The edge, in seconds of the session."""
        self.time.begin()

    def update(self, at: float) -> None:
        """Takes the session time of an event that has just come."""
        self.time.update(at)

    def move(self) -> None:
        """Moves the edge to the present."""
        self.at = max(self.at, (self.time.now or 0.0) - LAG_SECONDS)


class ViewRange:
    """The visible seconds of `activity`, between the oldest second that is kept and the live edge."""

    def __init__(self, activity: Activity, edge: LiveEdge) -> None:
        self._activity = activity
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
        """Moves the live edge to the present, and the range with it while it follows."""
        self._edge.move()
        if self.following:
            self.show(self.live_right, self.seconds)

    def follow(self, seconds: float | None = None) -> None:
        """Goes back to the live edge and stays with it; `seconds`: how much to show."""
        self.following, self.seconds = True, seconds or self.seconds
        self.advance()

    def pause(self) -> None:
        """Stays where it is while the conversation continues."""
        self.following = False

    def zoom(self, factor: float, share: float = 0.5) -> None:
        """Shows `factor` times as many seconds. While paused, the second at this `share` of the width stays there."""
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
        """Goes to the oldest second that is kept, and pauses."""
        self.pause()
        self.show(self._activity.oldest + self.seconds, self.seconds)

    def reveal(self, second: float) -> None:
        """Brings a second into view."""
        if not self.left <= second <= self.right:
            self.pause()
            self.show(second + self.seconds / 2, self.seconds)

    def show(self, right: float, seconds: float) -> None:
        """Shows so many seconds, up to `right` as far as there is anything."""
        latest = self._edge.at + seconds * AHEAD_SHARE
        earliest = min(latest, self._activity.oldest + seconds)
        self.seconds, self.right = seconds, min(latest, max(earliest, right))
