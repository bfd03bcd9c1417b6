"""Defines the things on the timeline: spans and moments, with all times in seconds of the session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from app.conversation.revisions import Revision

Lane = Literal["you", "words", "backend", "secondary", "oracle", "kame", "trouble"]
Backend = tuple[str, str]
"""A back-end and its model."""

ROWS = (1, 2, 3)
"""In so many rows the revisions may be shown, as there is room."""

Bad = Literal["late", "dropped", "lost", "underrun", "skipped", "failure"]


@dataclass(slots=True)
class Word:
    """A word and its time. It may still change while it is not `settled`."""

    at: float
    text: str
    settled: bool = True


@dataclass(slots=True, eq=False)
class Moment:
    """Something without a duration."""

    start: float

    @property
    def end(self) -> float:
        """The same as `start`."""
        return self.start


@dataclass(slots=True, eq=False)
class UserTurn:
    """A turn of the user. `pauses`: from and until when the user was silent in it; the last one may be open."""

    number: int
    start: float
    end: float | None = None
    speech_end: float | None = None
    reason: str = ""
    backchannel: bool = False
    pauses: list[tuple[float, float | None]] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    version: int = 0
    """Counts the changes of its words."""
    heard_until: float = 0.0
    next_start: float | None = None
    """The start of the next turn, beyond which its words have no room."""

    @property
    def text(self) -> str:
        """All words so far."""
        return " ".join(word.text for word in self.words)


@dataclass(slots=True, eq=False)
class Partial(Moment):
    """A transcript so far, or the `final` one. Long texts keep their end."""

    stable: str
    unstable: str
    final: bool = False


@dataclass(slots=True, eq=False)
class Request:
    """The time in which a revision was on one of the two lanes: requested or handed over at `start`, over at `end`.

    A secondary revision that is handed over has two: one on each lane. `handed_over`: this is the one on the secondary
    lane, and ended there. `fed_until`: when its newest words reached the front-end. `slots`: its row, by the number of
    rows that are shown; `next_start`, by the same: when the next one in that row started. `named`: the model differs
    from that of the one before.
    """

    revision: Revision
    start: float
    secondary: bool
    end: float | None = None
    handed_over: bool = False
    fed_until: float | None = None
    named: bool = False
    slots: dict[int, int] = field(default_factory=dict)
    next_start: dict[int, float] = field(default_factory=dict)

    @property
    def backend(self) -> Backend:
        """The back-end and the model of the revision."""
        return self.revision.backend, self.revision.model

    @property
    def first(self) -> float | None:
        """When its first words came on this lane; None if there were none."""
        at = self.revision.first_words_at
        if at is None or (self.handed_over and self.end is not None and at > self.end):
            return None
        return max(at, self.start)

    @property
    def past(self) -> bool:
        """Whether a newer one has taken its place, or it was cancelled for one."""
        revision = self.revision
        return not self.handed_over and (revision.superseded_at is not None or revision.end_reason == "superseded")


@dataclass(slots=True, eq=False)
class Fed(Moment):
    """Words of a revision reached the front-end at this frame."""

    revision: int
    backend: Backend
    words: int
    waited_ms: float


@dataclass(slots=True, eq=False)
class Taken(Moment):
    """The front-end took `tokens` tokens of a revision's words at this frame, `taken` in all; `waiting` are left."""

    revision: int
    backend: Backend
    tokens: int
    taken: int
    waiting: int


@dataclass(slots=True, eq=False)
class Answer:
    """A turn of the assistant. `holds`: from and until when it was silent for the user. `corrections`: when it switched
    to which revision, and how.
    """

    turn: int
    revision: int
    start: float
    end: float | None = None
    interrupted: bool = False
    holds: list[tuple[float, float | None]] = field(default_factory=list)
    corrections: list[tuple[float, int, str]] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    version: int = 0
    """Counts the changes of its words."""
    said_until: float = 0.0
    next_start: float | None = None

    @property
    def text(self) -> str:
        """What was heard of it."""
        return " ".join(word.text for word in self.words)


@dataclass(slots=True, eq=False)
class Swap(Moment):
    """Another model answers from here on, or another front-end (`what` is `frontend`) listens and speaks."""

    what: Literal["chosen", "fallback", "handed", "frontend"]
    name: str
    backend: Backend | None = None


@dataclass(slots=True, eq=False)
class Trouble(Moment):
    """Something went wrong. `amount`: milliseconds too late, or how many frames, gaps or updates; 0 for a failure,
    which has a `sentence`.
    """

    what: Bad
    amount: float
    sentence: str = ""


Thing = UserTurn | Partial | Request | Fed | Taken | Answer | Swap | Trouble


def close(spans: list[tuple[float, float | None]], at: float) -> None:
    """Ends the last of these spans, if it is open."""
    if spans and spans[-1][1] is None:
        spans[-1] = (spans[-1][0], at)
