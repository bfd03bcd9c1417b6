"""The part of a session that the timeline shows. No Qt.

`LiveEdge` estimates the current session time between events. `ViewRange` follows it, or stays where the user has
scrolled to.
"""

from __future__ import annotations

from collections.abc import Callable

from app.gui.inspector.activity import Activity
from app.gui.widgets.formats import SessionTime

LAG_SECONDS = 0.085
"""How far the live edge trails the session: about one frame, so that all events before the edge are known."""

USUAL_SECONDS = 30.0
LEAST_SECONDS, MOST_SECONDS = 2.0, 600.0
AHEAD_SHARE = 0.08
"""Free space to the right of the live edge, for recent words, as a fraction of the duration to its left."""


class LiveEdge:
    """The current session time, which advances smoothly between events and never moves backwards.

    Call `update` with each event's time, and `move` before each repaint. `clock`: any monotonic clock, in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.time = SessionTime(clock)
        self.begin()

    def begin(self) -> None:
        """Restarts at 0 for a new session."""
        self.at = 0.0
        """The session time at the edge, in seconds."""
        self.time.begin()

    def update(self, at: float) -> None:
        """Records `at`, the session time of an event that has just arrived."""
        self.time.update(at)

    def move(self) -> None:
        """Moves the edge to the current time."""
        self.at = max(self.at, (self.time.now or 0.0) - LAG_SECONDS)


class ViewRange:
    """The visible time range of `activity`, which lies between the oldest time kept and the live edge."""

    def __init__(self, activity: Activity, edge: LiveEdge) -> None:
        self._activity = activity
        self._edge = edge
        self.following = True
        self.seconds = USUAL_SECONDS
        """Visible duration, not counting the free space to the right of the live edge."""
        self.right = USUAL_SECONDS * AHEAD_SHARE
        """The session time at the right edge of the view."""

    @property
    def whole(self) -> float:
        """The total visible duration in seconds, including the free space."""
        return self.seconds * (1 + AHEAD_SHARE)

    @property
    def left(self) -> float:
        """The session time at the left edge of the view."""
        return self.right - self.whole

    @property
    def live_right(self) -> float:
        """The session time at the right edge while following."""
        return self._edge.at + self.seconds * AHEAD_SHARE

    def advance(self) -> None:
        """Moves the live edge to the current time and, while following, moves the range along with it."""
        self._edge.move()
        if self.following:
            self.show(self.live_right, self.seconds)

    def follow(self, seconds: float | None = None) -> None:
        """Jumps to the live edge and follows it. `seconds`: the new visible duration; None leaves it unchanged."""
        self.following, self.seconds = True, seconds or self.seconds
        self.advance()

    def pause(self) -> None:
        """Stops following the live edge."""
        self.following = False

    def zoom(self, factor: float, share: float = 0.5) -> None:
        """Multiplies the visible duration by `factor`.

        While paused, the time at `share` of the width, from 0 (left) to 1 (right), stays in place.
        """
        seconds = min(MOST_SECONDS, max(LEAST_SECONDS, self.seconds * factor))
        if self.following:
            right = self._edge.at + seconds * AHEAD_SHARE
        else:
            right = self.right + (seconds - self.seconds) * (1 + AHEAD_SHARE) * (1 - share)
        self.show(right, seconds)

    def scroll(self, seconds: float) -> None:
        """Scrolls by `seconds` and pauses, or resumes following on reaching the live edge."""
        right = self.right + seconds
        if seconds > 0 and right >= self.live_right:
            self.follow()
            return
        self.pause()
        self.show(right, self.seconds)

    def to_start(self) -> None:
        """Scrolls to the oldest time kept and pauses."""
        self.pause()
        self.show(self._activity.oldest + self.seconds, self.seconds)

    def reveal(self, second: float) -> None:
        """Scrolls to `second` and pauses, unless that time is already visible."""
        if not self.left <= second <= self.right:
            self.pause()
            self.show(second + self.seconds / 2, self.seconds)

    def show(self, right: float, seconds: float) -> None:
        """Shows `seconds` seconds ending at `right`, clamped to the range that contains data."""
        latest = self._edge.at + seconds * AHEAD_SHARE
        earliest = min(latest, self._activity.oldest + seconds)
        self.seconds, self.right = seconds, min(latest, max(earliest, right))
