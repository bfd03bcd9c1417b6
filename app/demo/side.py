"""Derives the state of one side of the demo from its session's events: transcript, revisions, reply and response time.

Performs no I/O and reads no clock: all times are in seconds and come from the events.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from app.conversation import events as e
from app.conversation.record.revisions import Revision, RevisionLog

EARLY_SECONDS = 0.5
"""The maximum time (s) by which a start-of-speech event may precede the speech itself."""
OVER_SECONDS = 1.0
"""How long (s) the voice must be silent before an answer counts as complete, since an early answer may be retracted."""
KEPT_LEVELS = 160
"""The number of frames whose levels are kept for the waveform (12.8 s)."""


@dataclass(frozen=True, slots=True)
class Level:
    """The peak levels, in dBFS, of the frame ending at `at`."""

    at: float
    user: float
    assistant: float


@dataclass(frozen=True, slots=True)
class Thought:
    """A revision of the answer. `said`: how many of its words have been spoken; `gone`: whether it was superseded."""

    number: int
    text: str
    said: int = 0
    gone: bool = False


class SideState:
    """The state of one side. Must receive every event of its session through `apply`.

    Before each question, call `ask` if its timing is known, otherwise `listen`.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.lost = ""
        """Why the session has ended; empty while it is running."""
        self._log = RevisionLog()
        self.levels: deque[Level] = deque(maxlen=KEPT_LEVELS)
        self.listen()

    def listen(self) -> None:
        """Starts tracking a visitor's question, whose timing is taken from the events."""
        self._reset(self.now, None)
        self._known = False

    def ask(self, start: float, seconds: float) -> None:
        """Starts tracking a question whose speech starts at the session time `start` and lasts `seconds`."""
        self._reset(start, start + seconds)
        self._known = True

    def _reset(self, start: float, end: float | None) -> None:
        self.start = start
        self.end = end
        """The session time at which the question's speech ends; None while unknown."""
        self.hears = self.speaks = False
        self.turn = 0
        self.trouble = ""
        self._trouble_at = 0.0
        self._answered_at: float | None = None
        self._quiet_since: float | None = None
        self._spoken: list[tuple[int, str, bool]] = []
        self.words = ""
        """The transcript of the question so far."""

    def apply(self, event: e.Event) -> None:
        """Updates the state from one event."""
        self.now = max(self.now, event.at)
        self._log.apply(event)
        match event:
            case e.UserStarted() if event.at >= self.start - EARLY_SECONDS:
                self._begin(event)
            case e.UserPaused() if event.turn == self.turn:
                self._end_at(event.speech_end)
            case e.UserEnded() if event.turn == self.turn:
                self.hears = False
                self._end_at(event.speech_end)
            case e.TranscriptPartial() | e.TranscriptFinal() if event.turn == self.turn:
                self.words = event.text
            case e.UserResumed() if event.turn == self.turn:
                self.hears, self._answered_at = True, None  # a reply in the pause answered only part of it
                self._end_at(None)
            case e.AssistantStarted() | e.AssistantResumed():
                self.speaks, self._quiet_since = True, None
                if isinstance(event, e.AssistantStarted) and event.turn == self.turn and self._answered_at is None:
                    self._answered_at = event.at
            case e.AssistantHeld() | e.AssistantEnded():
                self.speaks, self._quiet_since = False, event.at
            case e.AssistantSaid() if event.turn == self.turn:
                self._spoken.append((event.revision, event.text, event.glued))
            case e.LevelMeasured():
                self.levels.append(Level(event.at, event.user_dbfs, event.assistant_dbfs))
            case e.Failure():
                self._fail(event)
            case e.SessionEnded():
                self.lost = self.lost or self.trouble or "The conversation has ended."

    def _begin(self, event: e.UserStarted) -> None:
        if not self._known:
            self._reset(event.at, None)
        self.hears, self.turn, self._answered_at, self._spoken = True, event.turn, None, []

    def _end_at(self, at: float | None) -> None:
        if not self._known:
            self.end = at

    def _fail(self, event: e.Failure) -> None:
        if event.fatal:
            self.lost = event.sentence
        if event.source in ("backend", "session", "frontend") and not event.secondary:
            self.trouble, self._trouble_at = event.sentence, event.at

    # -- status

    @property
    def asked(self) -> bool:
        """Whether the question has ended."""
        return self.end is not None and self.now >= self.end and (self._known or not self.hears)

    @property
    def thinks(self) -> bool:
        """Whether an answer is being generated or is still due."""
        if any(revision.ended_at is None for revision in self._revisions):
            return True
        return self.heard is None and (self.asked or bool(self._revisions)) and not self.trouble

    @property
    def heard(self) -> float | None:
        """Seconds from the end of the question to the start of the answer, at least 0; None until it starts."""
        if self._answered_at is None or self.end is None:
            return None
        return max(0.0, self._answered_at - self.end)

    def clock(self, now: float) -> float | None:
        """Returns the stopwatch reading at `now`: seconds since the end of the question, frozen once the answer starts.

        None before the question has ended.
        """
        if self.end is None or now < self.end:
            return None
        return self.heard if self.heard is not None else now - self.end

    @property
    def heard_at(self) -> float | None:
        """The session time at which the answer started playing; None before that."""
        return self._answered_at if self.end is not None else None

    @property
    def silent_for(self) -> float:
        """How long the voice has been silent since the end of the answer; 0 before that."""
        answered = self.asked and self.heard is not None and not self.speaks and bool(self._spoken)
        if not answered or self._quiet_since is None:
            return 0.0
        return self.now - max(self._quiet_since, self.end or 0.0)

    @property
    def last_at(self) -> float | None:
        """The session time at which the answer stopped playing; None before that."""
        return self._quiet_since if self.silent_for > 0 else None

    @property
    def over(self) -> bool:
        """Whether the question has been answered and the voice has been silent for `OVER_SECONDS`."""
        return self.silent_for >= OVER_SECONDS

    @property
    def failed(self) -> bool:
        """Whether no answer is expected because a back-end or the session has failed."""
        settled = bool(self.trouble) and self.now - self._trouble_at >= OVER_SECONDS
        return bool(self.lost) or (self.asked and settled and self._answered_at is None)

    @property
    def waited(self) -> float:
        """Seconds since the end of the question if no answer has started yet; otherwise 0."""
        return max(0.0, self.now - self.end) if self.end is not None and self._answered_at is None else 0.0

    # -- text

    @property
    def text(self) -> str:
        """The part of the answer spoken so far."""
        return "".join(("" if glued else " ") + text for _, text, glued in self._spoken).strip()

    @property
    def thoughts(self) -> tuple[Thought, ...]:
        """The revisions that contain text, newest last."""
        shown = [revision for revision in self._revisions if revision.text.strip()]
        said = [sum(len(t.split()) for n, t, glued in self._spoken if n == r.number and not glued) for r in shown]
        return tuple(
            Thought(revision.number, " ".join(revision.text.split()), words, place < len(shown) - 1)
            for place, (revision, words) in enumerate(zip(shown, said, strict=True))
        )

    @property
    def _revisions(self) -> list[Revision]:
        since = self.start - EARLY_SECONDS
        return [r for r in self._log.revisions if r.requested_at >= since and not r.secondary]


class RunningTime:
    """Estimates the current time of a live session between its events."""

    def __init__(self, state: SideState) -> None:
        self.state = state
        self._seen = -1.0
        self._ahead = float("inf")

    def at(self, wall: float) -> float:
        """Returns the session time at `wall`, a timestamp (s) of any monotonic clock. Should be called frequently."""
        if self.state.now != self._seen:
            self._seen = self.state.now
            self._ahead = min(self._ahead, wall - self._seen)
        return max(self._seen, wall - self._ahead)
