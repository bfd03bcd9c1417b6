"""Derives the state of one side of the demo from its session's events: transcript, revisions, reply and response time.

Performs no I/O and reads no clock: all times are in seconds and come from the events.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

from app.conversation import events as e
from app.conversation.record.record import Record
from app.conversation.record.revisions import Revision

EARLY_SECONDS = 0.5
"""The maximum time (s) by which a start-of-speech event may precede the speech itself."""
OVER_SECONDS = 1.0
"""How long (s) the voice must be silent before an answer counts as complete, since an early answer may be retracted."""
KEPT_LEVELS = 160
"""The number of frames whose levels are kept for the waveform (12.8 s)."""


class SideState:
    """The state of one side. Must receive every event of its session through `apply`; `ask` precedes each question."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lost = False
        """Whether the session has ended."""
        self.levels: deque[e.LevelMeasured] = deque(maxlen=KEPT_LEVELS)
        self._record = Record()
        self.ask(0.0)

    def ask(self, start: float, seconds: float | None = None) -> None:
        """Starts tracking a question whose speech starts at the session time `start` and lasts `seconds`.

        If `seconds` is None, it is a visitor's question, whose timing is taken from the events.
        """
        self.start, self.end = start, None if seconds is None else start + seconds
        """The session times at which the question's speech starts and ends; None while unknown."""
        self._known = seconds is not None
        self.hears = self.speaks = False
        self.turn = 0
        self.trouble = ""
        self._trouble_at = 0.0
        self._answered_at: float | None = None
        self._quiet_since: float | None = None

    def apply(self, event: e.Event) -> None:
        """Updates the state from one event."""
        self.now = max(self.now, event.at)
        self._record.apply(event)
        match event:
            case e.UserStarted() if event.at >= self.start - EARLY_SECONDS:
                if not self._known:
                    self.ask(event.at)
                self.hears, self.turn, self._answered_at = True, event.turn, None
            case e.UserPaused() | e.UserEnded() if event.turn == self.turn:
                self.hears = self.hears and isinstance(event, e.UserPaused)
                self.end = self.end if self._known else event.speech_end
            case e.UserResumed() if event.turn == self.turn:
                self.hears, self._answered_at = True, None  # a reply in the pause answered only part of it
                self.end = self.end if self._known else None
            case e.AssistantStarted() | e.AssistantResumed():
                self.speaks, self._quiet_since = True, None
                if isinstance(event, e.AssistantStarted) and event.turn == self.turn and self._answered_at is None:
                    self._answered_at = event.at
            case e.AssistantHeld() | e.AssistantEnded():
                self.speaks, self._quiet_since = False, event.at
            case e.LevelMeasured():
                self.levels.append(event)
            case e.Failure(source="backend" | "session" | "frontend", secondary=False) | e.Failure(fatal=True):
                self.trouble, self._trouble_at, self.lost = event.sentence, event.at, self.lost or event.fatal
            case e.SessionEnded():
                self.lost, self.trouble = True, self.trouble or "The conversation has ended."

    # -- status

    @property
    def asked(self) -> bool:
        """Whether the question has ended."""
        return self.end is not None and self.now >= self.end and (self._known or not self.hears)

    @property
    def thinks(self) -> bool:
        """Whether an answer is being generated or is still due."""
        if any(revision.ended_at is None for revision in self.revisions):
            return True
        return self.heard is None and (self.asked or bool(self.revisions)) and not self.trouble

    @property
    def heard(self) -> float | None:
        """Seconds from the end of the question to the start of the answer, at least 0; None until it starts."""
        return None if self._answered_at is None or self.end is None else max(0.0, self._answered_at - self.end)

    def clock(self, now: float) -> float | None:
        """Returns the stopwatch reading at `now`: seconds since the end of the question, frozen once the answer starts.

        None before the question has ended.
        """
        if self.end is None or now < self.end:
            return None
        return self.heard if self.heard is not None else now - self.end

    @property
    def silent_for(self) -> float:
        """How long the voice has been silent since the end of the answer; 0 before that."""
        if (
            not (self.asked and self.heard is not None and self.said_by("assistant"))
            or self.speaks
            or self._quiet_since is None
        ):
            return 0.0
        return self.now - max(self._quiet_since, self.end or 0.0)

    @property
    def over(self) -> bool:
        """Whether the voice has been silent for `OVER_SECONDS` after the answer, or no answer is expected any more."""
        failed = bool(self.trouble) and self.now - self._trouble_at >= OVER_SECONDS and self._answered_at is None
        return self.lost or self.silent_for >= OVER_SECONDS or (self.asked and failed)

    # -- text

    def said_by(self, speaker: Literal["user", "assistant"]) -> str:
        """Returns the transcript of the question so far, or the part of the answer spoken so far."""
        turns = (turn for turn in self._record.turns if turn.number == self.turn and turn.speaker == speaker)
        return " ".join(turn.text for turn in turns)

    @property
    def revisions(self) -> list[Revision]:
        """The revisions of the answer that contain text or are awaited, newest last."""
        since = self.start - EARLY_SECONDS
        return [r for r in self._record.revisions.revisions if r.requested_at >= since and not r.secondary]
