"""Defines what the timeline shows: turns, requests, words, faults and levels, all in seconds of the session. No Qt."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal, TypeVar

import numpy as np

from app.conversation.frame import FRAME_MS, FRAME_SECONDS
from app.conversation.revisions import Revision

Backend = tuple[str, str]
"""A back-end and its model."""

Fault = Literal["late", "dropped", "lost", "underrun", "skipped", "failure"]

ROWS = (1, 2, 3)
"""The numbers of rows that a lane of requests may have, depending on its height."""

DRIFT_SECONDS = 10.0
"""The least lateness within this time is taken for drift of the sound card's clock."""


@dataclass(slots=True)
class Word:
    """A word and its time. It may still change while it is not `settled`."""

    at: float
    text: str
    settled: bool = True


@dataclass(slots=True, eq=False)
class Speech:
    """What one side said without giving up the floor.

    `gaps`: from when until when that side was silent in it; the last one may be open.
    `known_until`: up to this second its words are known.
    """

    turn: int
    start: float
    end: float | None = None
    gaps: list[tuple[float, float | None]] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    known_until: float = 0.0

    @property
    def text(self) -> str:
        """All words so far."""
        return " ".join(word.text for word in self.words)

    def close_gap(self, at: float) -> None:
        """Ends the last gap, if it is open."""
        if self.gaps and self.gaps[-1][1] is None:
            self.gaps[-1] = (self.gaps[-1][0], at)

    def close(self, at: float) -> None:
        """Ends the speech and its last gap."""
        self.close_gap(at)
        self.end = max(at, self.start)


@dataclass(slots=True, eq=False)
class UserTurn(Speech):
    """A turn of the user. `reason`: what ended it."""

    speech_end: float | None = None
    reason: str = ""
    backchannel: bool = False


@dataclass(slots=True, eq=False)
class Answer(Speech):
    """A turn of the assistant. `corrections`: when it switched to which revision, and how."""

    interrupted: bool = False
    corrections: list[tuple[float, int, str]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Request(Revision):
    """A request to a model. `spoken`: the voice has spoken words of its answer. `place`: its place among all."""

    spoken: bool = False
    place: int = 0


@dataclass(slots=True, eq=False)
class RequestBar:
    """The time in which a request was on one of the two lanes.

    A secondary request that is handed over has two bars, one on each lane; `handed_over` marks the first one.
    `fed_until`: when its newest words reached the front-end.
    `named`: the model differs from that of the bar before it.
    `rows`: its row, by the number of rows that are shown.
    """

    request: Request
    start: float
    secondary: bool
    end: float | None = None
    handed_over: bool = False
    fed_until: float | None = None
    named: bool = False
    rows: dict[int, int] = field(default_factory=dict)

    def close(self, at: float) -> None:
        """Ends the bar."""
        self.end = max(at, self.start)

    @property
    def backend(self) -> Backend:
        """The back-end and the model of the request."""
        return self.request.backend, self.request.model

    @property
    def first(self) -> float | None:
        """When its first words came on this lane; None if there were none."""
        at = self.request.first_words_at
        if at is None or (self.handed_over and self.end is not None and at > self.end):
            return None
        return max(at, self.start)

    @property
    def past(self) -> bool:
        """Whether a newer request has replaced it."""
        request = self.request
        return not self.handed_over and (request.superseded_at is not None or request.end_reason == "superseded")


@dataclass(slots=True, eq=False)
class Moment:
    """Something without a duration."""

    start: float

    @property
    def end(self) -> float:
        """The same as `start`."""
        return self.start


@dataclass(slots=True, eq=False)
class Partial(Moment):
    """A transcript so far, or the `final` one."""

    stable: str
    unstable: str
    final: bool = False


@dataclass(slots=True, eq=False)
class Fed(Moment):
    """Words of a revision reached the front-end at this frame."""

    revision: int
    backend: Backend
    words: int
    waited_ms: float


@dataclass(slots=True, eq=False)
class Taken(Moment):
    """The front-end took `tokens` tokens of a revision at this frame, `taken` in all; `waiting` are left."""

    revision: int
    backend: Backend
    tokens: int
    taken: int
    waiting: int


@dataclass(slots=True, eq=False)
class Swap(Moment):
    """Another model answers from here on, or another front-end (`what` is `frontend`) listens and speaks."""

    what: Literal["chosen", "fallback", "handed", "frontend"]
    name: str
    backend: Backend | None = None


@dataclass(slots=True, eq=False)
class Trouble(Moment):
    """Something went wrong. `amount`: milliseconds or a count; 0 for a failure, which has a `sentence`."""

    what: Fault
    amount: float
    sentence: str = ""


Thing = UserTurn | Answer | RequestBar | Partial | Fed | Taken | Swap | Trouble


T = TypeVar("T", bound=Thing)
by_start = attrgetter("start")


def between(things: list[T], earliest: float, latest: float) -> list[T]:
    """Returns those of `things`, ordered by start, that last at any moment from `earliest` to `latest`."""
    last = bisect_right(things, latest, key=by_start)
    if things and isinstance(things[0], Moment):  # in half an hour there are tens of thousands of them
        return things[bisect_left(things, earliest, hi=last, key=by_start) : last]
    return [thing for thing in things[:last] if thing.end is None or thing.end >= earliest]


class Levels:
    """The levels of both sides in dBFS, frame by frame: a ring buffer of `frames` frames."""

    def __init__(self, frames: int) -> None:
        self._frames = np.full(frames, -1)
        self._levels = np.zeros((2, frames), np.float32)
        self._newest = -1

    def add(self, at: float, user_dbfs: float, assistant_dbfs: float) -> None:
        """Adds the frame that ended at `at`, in seconds. Frames that are too old are ignored."""
        frame, size = round(at / FRAME_SECONDS) - 1, len(self._frames)
        if frame >= max(0, self._newest - size + 1):
            self._newest = max(self._newest, frame)
            self._frames[frame % size] = frame
            self._levels[:, frame % size] = user_dbfs, assistant_dbfs

    def between(self, earliest: float, latest: float) -> tuple[np.ndarray, np.ndarray]:
        """Returns the known frames that overlap a window: the seconds of their middles, shape (n,), and the levels of
        the user and the assistant, shape (2, n).
        """
        first = max(0, self._newest - len(self._frames) + 1, int(earliest / FRAME_SECONDS))
        frames = np.arange(first, min(self._newest, int(latest / FRAME_SECONDS)) + 1)
        frames = frames[self._frames[frames % len(self._frames)] == frames]
        return (frames + 0.5) * FRAME_SECONDS, self._levels[:, frames % len(self._frames)]


class Lateness:
    """Finds late frames: those whose step ended after the next frame was due.

    `LevelMeasured.late_ms` is relative to the session's clock, which is aligned with the sound once, at the first
    frame. A sound card's clock drifts from the computer's, so over minutes the least lateness changes without any
    delay in the frame loop, and that much is subtracted.
    """

    def __init__(self) -> None:
        self._first: float | None = None
        self._usual = float("inf")
        self._lately: deque[tuple[float, float]] = deque()
        """Times and lateness; the least of the last `DRIFT_SECONDS` is first."""

    def over(self, at: float, late_ms: float) -> float:
        """Returns the milliseconds by which the step of the frame at `at` delayed the next one; else 0 or less."""
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
