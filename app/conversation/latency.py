"""Folds a session's events into how long each stage of each answer took, in seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS
from app.conversation.frame_budget import FrameBudget
from app.conversation.revisions import Revision, RevisionLog
from app.conversation.words import fold

Stage = Literal["noticing", "writing", "backend", "voice"]
"""`noticing` that the user has finished, and `writing` down what they said, both since their last sound; the
`backend`'s first words since the request; the `voice`'s first sound since it had both the first words and the floor.
"""

Piece = Literal["noticing", "writing", "backend", "voice", "between"]
"""What the user waited for; `between`: one stage waited for the one before it."""

STAGES: tuple[Stage, ...] = ("noticing", "writing", "backend", "voice")
PIECES: tuple[Piece, ...] = ("noticing", "writing", "backend", "voice", "between")

MOST_ANSWERS = 500
"""The newest answers are kept for the distributions."""

_MOST_TURNS = 8
_MOST_REVISIONS = 256
_MOST_TROUBLES = 64
_SPEECH_SECONDS = 2.0
"""Recognition that was skipped so long before the end of the speech still counts."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, in seconds. `response`: from the user's last sound to the answer's first, negative if that was
    earlier. An opening does not count; after one it is the end of the answer's first word.

    `took`: how long the known stages were; they may overlap. `wait`: the response divided into what the user waited
    for; the pieces add up to it, and are 0 if it is negative. `reason`: what ended the turn. `backend` and `model` are
    empty if there was no request to wait for. `asked_again`, `fell_back`, `swapped`: a request was repeated after the
    user's last sound, because their words had changed, another model had failed, or they had chosen this one.
    `first`: the model's first words in this conversation. `tool` ran for `tool_seconds` before them. `delay`: the pause
    before each answer that the user has set. `dropped` frames and `skipped` recognition updates: this machine was too
    slow.
    """

    turn: int
    response: float
    reason: str
    took: Mapping[Stage, float]
    wait: Mapping[Piece, float]
    backend: str = ""
    model: str = ""
    asked_again: bool = False
    fell_back: bool = False
    swapped: bool = False
    first: bool = False
    tool: str = ""
    tool_seconds: float = 0.0
    delay: float = 0.0
    dropped: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Figures:
    """A distribution, in seconds."""

    median: float
    p95: float
    slowest: float


def figures(values: Iterable[float]) -> Figures | None:
    """Returns the figures of `values`, or None without any."""
    found = np.fromiter(values, float)
    if not len(found):
        return None
    median, p95 = np.quantile(found, (0.5, 0.95))
    return Figures(float(median), float(p95), float(found.max()))


@dataclass(slots=True)
class _Turn:
    end: e.UserEnded | None = None
    final_at: float | None = None
    start: e.AssistantStarted | None = None
    opened: bool = False
    delay: float = 0.0
    revisions: list[Revision] = field(default_factory=list)


class Stages:
    """The answers of a conversation, the newest last, with its frame times and the size of the front-end's context.

    `changes` counts how often the answers have changed.
    """

    def __init__(self) -> None:
        self.changes = 0
        self.begin()

    def begin(self) -> None:
        """Forgets everything: a new conversation starts."""
        self.changes += 1
        self.frames = FrameBudget()
        self.context: e.ContextMeasured | None = None
        self._answers: dict[int, Answer] = {}
        self._turns: dict[int, _Turn] = {}
        self._revisions = RevisionLog(Revision, _MOST_REVISIONS)
        self._spoke: dict[tuple[str, str], float] = {}
        self._dropped: deque[e.FramesDropped] = deque(maxlen=_MOST_TROUBLES)
        self._skipped: deque[e.RecognitionSkipped] = deque(maxlen=_MOST_TROUBLES)
        self._swapped_at = -1e9
        self._delay = 0.0

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The newest `MOST_ANSWERS`, in order."""
        return tuple(self._answers.values())

    def apply(self, event: e.Event) -> None:
        """Takes one event in."""
        revision = self._revisions.apply(event)
        match event:
            case e.LevelMeasured():
                self.frames.note(event.late_ms)
            case e.FramesDropped():
                self._dropped.append(event)
                self.frames.dropped += event.frames
            case e.RecognitionSkipped():
                self._skipped.append(event)
            case e.Underrun():
                self.frames.gaps += event.count
            case e.ContextMeasured():
                self.context = event
            case e.DialsChanged(delay=delay):
                self._delay = delay * FRAME_SECONDS
            case e.BackendChanged(reason=reason) if reason != "fallback":
                self._swapped_at = event.at
            case e.OracleRequested() | e.OracleHandedOver() if revision is not None and not revision.secondary:
                self._turn(revision.turn).revisions.append(revision)
            case e.OracleDelta(at=at) if revision is not None and revision.first_words_at == at:
                self._spoke.setdefault((revision.backend, revision.model), at)
            case e.AssistantOpened():
                turn = self._turn(event.turn)
                turn.start, turn.opened = None, True
                self.changes += self._answers.pop(event.turn, None) is not None
            case e.AssistantSaid() if event.revision and self._turn(event.turn).opened:
                self._turn(event.turn).opened = False
                self._follow_turn(e.AssistantStarted(event.at, event.turn, event.revision))
            case e.UserResumed() | e.UserEnded() | e.TranscriptFinal() | e.AssistantStarted():
                self._follow_turn(event)

    def _follow_turn(self, event: e.UserResumed | e.UserEnded | e.TranscriptFinal | e.AssistantStarted) -> None:
        turn = self._turn(event.turn)
        match event:
            case e.UserResumed():
                # What was said into the gap was no answer to the whole turn.
                turn.end = turn.final_at = turn.start = None
                self.changes += self._answers.pop(event.turn, None) is not None
                return
            case e.UserEnded():
                turn.end = event
            case e.TranscriptFinal():
                turn.final_at = event.at
            case e.AssistantStarted():
                if turn.start is not None:
                    return
                turn.start, turn.delay = event, self._delay
        # The answer may start before the end of the turn is known, or its words: any of them may come last.
        if turn.end is not None and turn.start is not None:
            self._answers[event.turn] = self._answer(event.turn, turn, turn.end, turn.start)
            self.changes += 1
            while len(self._answers) > MOST_ANSWERS:
                del self._answers[next(iter(self._answers))]

    def _turn(self, number: int) -> _Turn:
        turn = self._turns.setdefault(number, _Turn())
        while len(self._turns) > _MOST_TURNS:
            del self._turns[next(iter(self._turns))]
        return turn

    def _answer(self, number: int, turn: _Turn, end: e.UserEnded, start: e.AssistantStarted) -> Answer:
        told, began = end.speech_end, start.at
        revision = self._revisions.get(start.revision)
        if revision is not None and (revision.turn != number or revision.first_words_at is None):
            revision = None  # the front-end speaks by itself, or on what it got in an earlier turn
        typed = end.reason == "typed"
        took: dict[Stage, float] = {}
        if not typed:
            took["noticing"] = max(0.0, end.at - told)
            if turn.final_at is not None:
                took["writing"] = max(0.0, turn.final_at - told)
        if revision is not None and revision.first_words_at is not None:
            took["backend"] = revision.first_words_at - revision.requested_at
            ready = revision.first_words_at if revision.fed_at is None else revision.fed_at
            took["voice"] = max(0.0, began - max(ready, end.at if end.at <= began else ready))
        reached = _Reached(end.at, turn.final_at, began)
        return Answer(
            number,
            began - told,
            end.reason,
            took,
            _wait(told, reached, revision),
            delay=turn.delay,
            dropped=sum(t.frames for t in self._dropped if told <= t.at <= began),
            skipped=sum(t.decodes for t in self._skipped if told - _SPEECH_SECONDS <= t.at <= began),
            **({} if revision is None else self._of_backend(turn, told, revision)),
        )

    def _of_backend(self, turn: _Turn, told: float, revision: Revision) -> dict[str, Any]:
        before = turn.revisions[: turn.revisions.index(revision)] if revision in turn.revisions else []
        again = bool(before) and revision.drives_since > told
        swapped = again and told <= self._swapped_at <= revision.drives_since
        fell_back = again and not swapped and any(b.end_reason == "failed" for b in before)
        changed = any(fold(b.asked) != fold(revision.asked) for b in before)
        first_at = revision.first_words_at or 0.0
        tools = [t for t in revision.tools if t.returned_at is not None and t.returned_at <= first_at]
        return {
            "backend": revision.backend,
            "model": revision.model,
            "asked_again": again and changed and not swapped and not fell_back,
            "fell_back": fell_back,
            "swapped": swapped or (revision.handed_over_at is not None and revision.drives_since > told),
            "first": self._spoke.get((revision.backend, revision.model)) == first_at,
            "tool": max(tools, key=lambda t: t.seconds).name if tools else "",
            "tool_seconds": sum(t.seconds for t in tools),
        }


class _Reached(NamedTuple):
    """When the turn's end was noticed, its words were transcribed, and the answer started."""

    noticed: float
    written: float | None
    began: float


def _wait(told: float, reached: _Reached, revision: Revision | None) -> dict[Piece, float]:
    """Divides the time from `told`, the end of the speech, until the answer into what was waited for; what ran in
    parallel cost nothing.
    """
    wait: dict[Piece, float] = dict.fromkeys(PIECES, 0.0)
    steps: list[tuple[Piece, float | None]] = [("noticing", reached.noticed)]
    if revision is not None:
        if revision.final and reached.written is not None and reached.written <= revision.drives_since:
            steps.append(("writing", reached.written))
        steps += [
            ("between", revision.requested_at),
            ("backend", revision.first_words_at),
            ("between", revision.fed_at),
        ]
    steps.append(("voice", reached.began))
    now = told
    for piece, at in steps:
        if at is not None and min(at, reached.began) > now:
            wait[piece] += min(at, reached.began) - now
            now = min(at, reached.began)
    return wait
