"""Folds a session's events into the levels, spans and moments of the timeline, for the last half hour.

Keeps track of the second from which on something has changed, so that older parts need not be painted again.
"""

from __future__ import annotations

from app.conversation import events as e
from app.conversation.frame import FRAME_MS, FRAME_SECONDS
from app.gui.timeline_data.late_frames import Lateness
from app.gui.timeline_data.levels import Levels
from app.gui.timeline_data.requests import RequestLog
from app.gui.timeline_data.spans import (
    Answer,
    Request,
    Swap,
    Trouble,
    Word,
    close,
)
from app.gui.timeline_data.track import Track
from app.gui.timeline_data.turns import TurnLog, UserEvent

KEPT_SECONDS = 1800.0

AssistantEvent = (
    e.AssistantStarted
    | e.AssistantSaid
    | e.AssistantCorrected
    | e.AssistantHeld
    | e.AssistantResumed
    | e.AssistantEnded
)


class TimelineLog:
    """Takes events with `apply`. What is older than `kept_seconds` is dropped."""

    def __init__(self, kept_seconds: float = KEPT_SECONDS) -> None:
        self.kept_seconds = kept_seconds
        self.begin()

    def begin(self) -> None:
        """Forgets everything: a new conversation starts."""
        self.now = 0.0
        """Everything up to this second is known."""
        self.levels = Levels(round(self.kept_seconds / FRAME_SECONDS))
        self._user = TurnLog(self._touch)
        self._backend = RequestLog(self._touch)
        self.turns, self.partials = self._user.turns, self._user.partials
        self.requests, self.fed, self.taken = self._backend.requests, self._backend.fed, self._backend.taken
        self.backends = self._backend.backends
        """All models of this conversation, in the order of their first use."""
        self.answers: Track[Answer] = Track()
        self.swaps: Track[Swap] = Track()
        self.troubles: Track[Trouble] = Track()
        self._lateness = Lateness(FRAME_MS)
        self._changed = 0.0

    def end(self) -> None:
        """Ends everything that is open: the conversation is over."""
        self._user.end(self.now)
        self._backend.end(self.now)
        for answer in self.answers:
            if answer.end is None:
                close(answer.holds, self.now)
                self._end(answer, self.now)

    @property
    def has_secondary(self) -> bool:
        """Whether a secondary back-end was ever asked."""
        return self._backend.has_secondary

    @property
    def oldest(self) -> float:
        """The earliest second that is kept."""
        return max(0.0, self.now - self.kept_seconds)

    @property
    def tracks(self) -> tuple[Track, ...]:
        """All tracks; what happens at the same time is read in this order."""
        return (
            self.swaps,
            self.turns,
            self.requests,
            self.answers,
            self.troubles,
            self.partials,
            self.fed,
            self.taken,
        )

    def take_changed(self) -> float | None:
        """Returns the second from which on something has changed since the last call, or None."""
        changed, self._changed = self._changed, float("inf")
        return None if changed == float("inf") else changed

    def request(self, revision: int) -> Request | None:
        """The request of a revision, if it is still kept."""
        return self._backend.request(revision)

    def apply(self, event: e.Event) -> None:
        """Takes one event in."""
        if event.at > self.now:
            self._touch(self.now)  # what is open gets longer
            self.now = event.at
        self._backend.apply(event)
        match event:
            case e.LevelMeasured():
                self._level(event)
            case _ if isinstance(event, UserEvent):
                self._user.apply(event)
            case _ if isinstance(event, AssistantEvent):
                self._assistant(event)
            case e.BackendChanged(at, backend, model, reason):
                self._mark(self.swaps.add(Swap(at, reason, model or backend, self._backend.known((backend, model)))))
            case e.FrontEndChanged(at, frontend):
                self._mark(self.swaps.add(Swap(at, "frontend", frontend)))
            case e.SessionStarted(backend=backend, model=model):
                self._backend.known((backend, model))
            case e.Underrun(at, count):
                self._mark(self.troubles.add(Trouble(at, "underrun", count)))
            case e.FramesDropped(at, frames):
                self._mark(self.troubles.add(Trouble(at, "dropped", frames)))
            case e.SoundLost(at, frames):
                self._mark(self.troubles.add(Trouble(at, "lost", frames)))
            case e.RecognitionSkipped(at, decodes):
                self._mark(self.troubles.add(Trouble(at, "skipped", decodes)))
            case e.Failure(at, _, sentence):
                self._mark(self.troubles.add(Trouble(at, "failure", 0, sentence)))

    # -- sound

    def _level(self, event: e.LevelMeasured) -> None:
        self.levels.add(event.at, event.user_dbfs, event.assistant_dbfs)
        self._touch(event.at - FRAME_SECONDS)
        over = self._lateness.over(event.at, event.late_ms)
        if over > 0:
            self._mark(self.troubles.add(Trouble(event.at, "late", round(over, 1))))
        self._prune()

    def _prune(self) -> None:
        self._user.drop_before(self.oldest)
        self._backend.drop_before(self.oldest)
        for track in (self.answers, self.swaps, self.troubles):
            track.drop_before(self.oldest)

    # -- the assistant

    def _assistant(self, event: AssistantEvent) -> None:
        answer = self.answers.last
        # Words that are heard late may still belong to an answer that is over.
        mine = answer is not None and answer.turn == event.turn
        if answer is None or not mine or (answer.end is not None and not isinstance(event, e.AssistantSaid)):
            if not isinstance(event, e.AssistantStarted | e.AssistantSaid):
                return
            answer = self._start_answer(event)
        at = event.at
        match event:
            case e.AssistantSaid():
                self._say(answer, event)
            case e.AssistantCorrected(revision=revision, how=how):
                answer.corrections.append((at, revision, how))
                self._touch(at)
            case e.AssistantHeld():
                answer.holds.append((at, None))
                self._touch(at)
            case e.AssistantResumed():
                self._touch(answer.holds[-1][0] if answer.holds else at)
                close(answer.holds, at)
            case e.AssistantEnded(interrupted=interrupted):
                close(answer.holds, at)
                answer.interrupted = interrupted
                self._end(answer, at)

    def _start_answer(self, event: e.AssistantStarted | e.AssistantSaid) -> Answer:
        before = self.answers.last
        if before is not None:
            before.next_start = event.at
            self._touch(before.said_until)
            if before.end is None:
                self._end(before, event.at)
        self._touch(event.at)
        return self.answers.add(Answer(event.turn, event.revision, event.at, said_until=event.at))

    def _say(self, answer: Answer, event: e.AssistantSaid) -> None:
        texts = event.text.split()
        if not texts:
            return
        since = min(answer.said_until, event.at)
        if event.glued and answer.words:
            self._touch(answer.words[-1].at)
            answer.words[-1] = Word(answer.words[-1].at, answer.words[-1].text + texts.pop(0))
        letters = sum(map(len, texts)) or 1
        so_far = 0
        for text in texts:
            answer.words.append(Word(since + (event.at - since) * so_far / letters, text))
            so_far += len(text)
        answer.said_until, answer.version = event.at, answer.version + 1
        self._touch(since)

    # -- what has changed

    def _end(self, answer: Answer, at: float) -> None:
        answer.end = max(at, answer.start)
        self.answers.changed(answer)
        self._touch(at)

    def _mark(self, mark: Swap | Trouble) -> None:
        self._touch(mark.start)

    def _touch(self, since: float) -> None:
        self._changed = min(self._changed, since)
