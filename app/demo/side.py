"""Follows one side of the demo through a session's events: what it hears, thinks and says, and how long it takes.

Pure: time is the events' own, in seconds.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from app.conversation import events as e
from app.conversation.revisions import Revision, RevisionLog

EARLY_SECONDS = 0.5
"""The start of speech may be reported before the speech itself, by so much at most."""
OVER_SECONDS = 1.0
"""So long after its end an answer is over: an early one might have been taken back."""
KEPT_LEVELS = 160
"""Frames whose levels are kept, for the waveform: 12.8 s."""


@dataclass(frozen=True, slots=True)
class Level:
    """The peak levels of the frame that ends at `at`, in dBFS."""

    at: float
    user: float
    assistant: float


@dataclass(frozen=True, slots=True)
class Thought:
    """A revision of the answer. `said`: how many of its words have been spoken; `gone`: a newer one has replaced it."""

    number: int
    text: str
    said: int = 0
    gone: bool = False


class SideState:
    """Gets all events of a session (`apply`), and each question: `ask` where its sound is known, else `listen`."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lost = ""
        """Why the session is over."""
        self._log = RevisionLog(Revision)
        self.levels: deque[Level] = deque(maxlen=KEPT_LEVELS)
        self.listen()

    def listen(self) -> None:
        """A visitor may ask from now on; the events tell when."""
        self._reset(self.now, None)
        self._known = False

    def ask(self, start: float, seconds: float) -> None:
        """Starts to follow a question, whose sound starts at `start` and lasts so long."""
        self._reset(start, start + seconds)
        self._known = True

    def _reset(self, start: float, end: float | None) -> None:
        self.start = start
        self.end = end
        """When the question's last sound was; None while that is not known."""
        self.hears = self.speaks = False
        self.turn = 0
        self.trouble = ""
        self._trouble_at = 0.0
        self._answered_at: float | None = None
        self._quiet_since: float | None = None
        self._spoken: list[tuple[int, str, bool]] = []
        self.words = ""
        """The question, as far as it was understood."""

    def apply(self, event: e.Event) -> None:
        """Notes one event."""
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
                self.hears, self._answered_at = True, None  # words spoken in the gap answered a part of it
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

    # -- what it does

    @property
    def asked(self) -> bool:
        """Whether the question is over."""
        return self.end is not None and self.now >= self.end and (self._known or not self.hears)

    @property
    def thinks(self) -> bool:
        """Whether an answer is being thought out, or has to be."""
        if any(revision.ended_at is None for revision in self._revisions):
            return True
        return self.heard is None and (self.asked or bool(self._revisions)) and not self.trouble

    @property
    def heard(self) -> float | None:
        """Seconds from the question's end to the first sound of the answer; 0 if that was sooner, None before it."""
        if self._answered_at is None or self.end is None:
            return None
        return max(0.0, self._answered_at - self.end)

    def clock(self, now: float) -> float | None:
        """What the stopwatch shows at `now`: seconds since the question's end, until it is heard; None before both."""
        if self.end is None or now < self.end:
            return None
        return self.heard if self.heard is not None else now - self.end

    @property
    def heard_at(self) -> float | None:
        """When the answer's first sound was."""
        return self._answered_at if self.end is not None else None

    @property
    def silent_for(self) -> float:
        """For how long the voice has been silent behind the answer; 0 before that."""
        answered = self.asked and self.heard is not None and not self.speaks and bool(self._spoken)
        if not answered or self._quiet_since is None:
            return 0.0
        return self.now - max(self._quiet_since, self.end or 0.0)

    @property
    def last_at(self) -> float | None:
        """When the answer's last sound was; None before that."""
        return self._quiet_since if self.silent_for > 0 else None

    @property
    def over(self) -> bool:
        """Whether it is answered, and the voice has been silent since for a while."""
        return self.silent_for >= OVER_SECONDS

    @property
    def failed(self) -> bool:
        """Whether it will not be answered, since a back-end or the session has failed."""
        settled = bool(self.trouble) and self.now - self._trouble_at >= OVER_SECONDS
        return bool(self.lost) or (self.asked and settled and self._answered_at is None)

    @property
    def waited(self) -> float:
        """For how long an answer has been due."""
        return max(0.0, self.now - self.end) if self.end is not None and self._answered_at is None else 0.0

    # -- its words

    @property
    def text(self) -> str:
        """The answer as far as it was spoken."""
        return "".join(("" if glued else " ") + text for _, text, glued in self._spoken).strip()

    @property
    def thoughts(self) -> tuple[Thought, ...]:
        """The revisions that have words, the newest last."""
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
    """The present time of a session whose events arrive as they happen, finer than these."""

    def __init__(self, state: SideState) -> None:
        self.state = state
        self._seen = -1.0
        self._ahead = float("inf")

    def at(self, wall: float) -> float:
        """The session's time at `wall`, a time in seconds by any steady clock; to be called often."""
        if self.state.now != self._seen:
            self._seen = self.state.now
            self._ahead = min(self._ahead, wall - self._seen)
        return max(self._seen, wall - self._ahead)
