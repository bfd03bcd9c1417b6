"""Notices sound that was lost before it reached the app, which not every driver reports.

A frame that comes late although none was waiting has been preceded by a gap: all later frames come late by as much,
and the session's time, which counts frames, falls behind.
"""

from __future__ import annotations

from collections import deque
from itertools import takewhile

from app.conversation.frame import FRAME_SECONDS
from app.session.clock import SLEPT_SECONDS

LOOK_SECONDS = 1.0
"""All frames must have been late for this long: a thread or driver that was only held up catches up sooner."""

REMEMBERED_SECONDS = 10.0
"""What frames are compared with. Two clocks 300 ppm apart drift by 3 ms meanwhile, 4 % of a frame."""


class LostSound:
    """Takes every frame's arrival, and says how many are missing before it."""

    def __init__(self) -> None:
        self._lags: deque[tuple[float, float]] = deque()
        """When a frame arrived with none waiting behind it, and how much later than its number says; the oldest first.
        """

    def missing(self, now: float, index: int, backlog: int) -> int:
        """Return how many frames were lost before the frame `index`, which arrived `now` with `backlog` more behind
        it.
        """
        if backlog:
            return 0  # it waited here, and lateness says nothing about the device
        lag = now - index * FRAME_SECONDS
        if self._lags and lag - self._lags[-1][1] > SLEPT_SECONDS:
            self._lags.clear()  # the clock of the session begins again as well
        self._lags.append((now, lag))
        while self._lags[0][0] < now - REMEMBERED_SECONDS:
            self._lags.popleft()
        since = now - LOOK_SECONDS
        before = min((lag for _, lag in takewhile(lambda one: one[0] < since, self._lags)), default=None)
        if before is None:
            return 0
        middle = now - LOOK_SECONDS / 2
        earlier = min((lag for at, lag in self._lags if since <= at < middle), default=None)
        later = min(lag for at, lag in self._lags if at >= middle)
        if earlier is None or earlier - later > FRAME_SECONDS / 2:
            return 0  # the frames after a pause catch up, or it isn't seen yet whether they do
        lost = int((min(earlier, later) - before) / FRAME_SECONDS)
        if lost <= 0:
            return 0
        self._lags.clear()
        self._lags.append((now, lag - lost * FRAME_SECONDS))
        return lost
