"""The timeline's items: turns, requests, words, faults and levels. No Qt.

All times are in seconds since the start of the session.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal, TypeVar

import numpy as np

from app.conversation.events import SpeechDecided
from app.conversation.frame import FRAME_MS, FRAME_SECONDS
from app.conversation.record.revisions import Revision

Backend = tuple[str, str]
"""The names of a back-end and its model."""

Fault = Literal["late", "dropped", "lost", "underrun", "skipped", "failure"]

ROWS = (1, 2, 3)
"""The possible row counts of a request lane; its height determines which is used."""

DRIFT_SECONDS = 10.0
"""Length of the sliding window whose minimum lateness is attributed to drift of the sound card's clock."""


@dataclass(slots=True)
class Word:
    """A word and its estimated time. It may still change unless it is `settled`."""

    at: float
    text: str
    settled: bool = True


@dataclass(slots=True, eq=False)
class Speech:
    """A turn of either speaker.

    `gaps`: start and end of each pause; the last pause may still be open.
    `known_until`: the time up to which its words are known.
    """

    turn: int
    start: float
    end: float | None = None
    gaps: list[tuple[float, float | None]] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    known_until: float = 0.0

    @property
    def text(self) -> str:
        """All words so far, separated by spaces."""
        return " ".join(word.text for word in self.words)

    def close_gap(self, at: float) -> None:
        """Ends the last gap if it is still open."""
        if self.gaps and self.gaps[-1][1] is None:
            self.gaps[-1] = (self.gaps[-1][0], at)

    def close(self, at: float) -> None:
        """Ends the turn and any open gap."""
        self.close_gap(at)
        self.end = max(at, self.start)


@dataclass(slots=True, eq=False)
class UserTurn(Speech):
    """A user turn. `reason`: why it ended, or empty."""

    speech_end: float | None = None
    reason: str = ""
    backchannel: bool = False


@dataclass(slots=True, eq=False)
class Answer(Speech):
    """An assistant turn.

    - `corrections`: the time, new revision and kind of each switch between revisions.
    - `decisions`: what the voice decided, from the end of the user's turn on.
    """

    interrupted: bool = False
    corrections: list[tuple[float, int, str]] = field(default_factory=list)
    decisions: list[SpeechDecided] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class RequestBar:
    """The period during which a request was active in one of the two lanes.

    A secondary request that is handed over has a bar in each lane; `handed_over` is set on the first one.

    - `fed_until`: when its newest words reached the front-end
    - `named`: whether its model differs from the previous bar's
    - `rows`: the bar's row for each possible number of rows
    """

    request: Revision
    start: float
    secondary: bool
    end: float | None = None
    handed_over: bool = False
    fed_until: float | None = None
    named: bool = False
    rows: dict[int, int] = field(default_factory=dict)

    def close(self, at: float) -> None:
        """Ends the bar at `at`."""
        self.end = max(at, self.start)

    @property
    def backend(self) -> Backend:
        """The request's back-end and model."""
        return self.request.backend, self.request.model

    @property
    def first(self) -> float | None:
        """The time from which the answer's words were available in this lane, or None if they never were."""
        at = self.request.first_words_at
        if at is None or (self.handed_over and self.end is not None and at > self.end):
            return None
        return max(at, self.start)

    @property
    def past(self) -> bool:
        """Whether this request has been superseded by a newer one."""
        request = self.request
        return not self.handed_over and (request.superseded_at is not None or request.end_reason == "superseded")


@dataclass(slots=True, eq=False)
class Moment:
    """An item without a duration."""

    start: float

    @property
    def end(self) -> float:
        """Equal to `start`."""
        return self.start


@dataclass(slots=True, eq=False)
class Partial(Moment):
    """A partial transcript, or the final one if `final` is set."""

    stable: str
    unstable: str
    final: bool = False


@dataclass(slots=True, eq=False)
class Fed(Moment):
    """The number of a revision's words that reached the front-end in one frame, and how long they had waited."""

    revision: int
    backend: Backend
    words: int
    waited_ms: float


@dataclass(slots=True, eq=False)
class Taken(Moment):
    """Tokens of a revision that the front-end consumed in one frame.

    `tokens`: consumed in this frame. `taken`: consumed in total. `waiting`: still queued.
    """

    revision: int
    backend: Backend
    tokens: int
    taken: int
    waiting: int


@dataclass(slots=True, eq=False)
class Swap(Moment):
    """A change of the answering model, or of the front-end if `what` is "frontend"."""

    what: Literal["chosen", "fallback", "handed", "frontend"]
    name: str
    backend: Backend | None = None


@dataclass(slots=True, eq=False)
class Trouble(Moment):
    """A fault. `amount`: milliseconds or a count. A failure has an amount of 0 and a user-facing `sentence`."""

    what: Fault
    amount: float
    sentence: str = ""


Thing = UserTurn | Answer | RequestBar | Partial | Fed | Taken | Swap | Trouble


T = TypeVar("T", bound=Thing)
by_start = attrgetter("start")


def between(things: list[T], earliest: float, latest: float) -> list[T]:
    """Returns the `things` that overlap the interval from `earliest` to `latest`. `things` must be sorted by start."""
    last = bisect_right(things, latest, key=by_start)
    if things and isinstance(things[0], Moment):  # binary search, since half an hour has tens of thousands of them
        return things[bisect_left(things, earliest, hi=last, key=by_start) : last]
    return [thing for thing in things[:last] if thing.end is None or thing.end >= earliest]


class Levels:
    """A ring buffer of both speakers' levels in dBFS over the last `frames` frames."""

    def __init__(self, frames: int) -> None:
        self._frames = np.full(frames, -1)
        self._levels = np.zeros((2, frames), np.float32)
        self._newest = -1

    def add(self, at: float, user_dbfs: float, assistant_dbfs: float) -> None:
        """Adds the frame that ended at `at` (seconds). Frames older than the buffer are ignored."""
        frame, size = round(at / FRAME_SECONDS) - 1, len(self._frames)
        if frame >= max(0, self._newest - size + 1):
            self._newest = max(self._newest, frame)
            self._frames[frame % size] = frame
            self._levels[:, frame % size] = user_dbfs, assistant_dbfs

    def between(self, earliest: float, latest: float) -> tuple[np.ndarray, np.ndarray]:
        """Returns the midpoints (n,), in seconds, and levels (2, n), in dBFS, of the known frames in an interval.

        The first row of levels is the user's, the second the assistant's.
        """
        first = max(0, self._newest - len(self._frames) + 1, int(earliest / FRAME_SECONDS))
        frames = np.arange(first, min(self._newest, int(latest / FRAME_SECONDS)) + 1)
        frames = frames[self._frames[frames % len(self._frames)] == frames]
        return (frames + 0.5) * FRAME_SECONDS, self._levels[:, frames % len(self._frames)]


class Lateness:
    """Detects late frames: those whose processing finished after the next frame was due.

    `LevelMeasured.late_ms` is relative to the session's clock, which is aligned with the audio only once, at the first
    frame. The sound card's clock drifts relative to the computer's, so the minimum lateness changes over minutes
    without any delay in the frame loop. That drift is subtracted.
    """

    def __init__(self) -> None:
        self._first: float | None = None
        self._usual = float("inf")
        self._lately: deque[tuple[float, float]] = deque()
        """(time, lateness) pairs, ascending in both. The first has the minimum lateness of the last `DRIFT_SECONDS`."""

    def over(self, at: float, late_ms: float) -> float:
        """Returns how many milliseconds the frame at `at` delayed the next one; 0 or negative if it was on time."""
        while self._lately and self._lately[-1][1] >= late_ms:
            self._lately.pop()
        self._lately.append((at, late_ms))
        while at - self._lately[0][0] > DRIFT_SECONDS:
            self._lately.popleft()
        least = self._lately[0][1]
        self._first = at if self._first is None else self._first
        if at < self._first + DRIFT_SECONDS:
            self._usual = min(self._usual, least)
        return late_ms - (least - self._usual) - FRAME_MS
