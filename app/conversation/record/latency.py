"""Folds a session's events into how long each stage of each answer took, and finds out why an answer was slow.

`Stages` takes the events; `why_slow` compares an answer with the others of its talk. All times are in seconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Literal

import numpy as np

from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS, FrameBudget
from app.conversation.record.revisions import Revision, RevisionLog
from app.conversation.words import fold

Stage = Literal["noticing", "writing", "backend", "voice"]
"""`noticing`: from the user's last sound until the end of the turn was detected.
`writing`: from the user's last sound until the final transcript.
`backend`: from the request until the model's first words.
`voice`: from when the voice had both the first words and the floor until its first sound.
"""

Piece = Literal["noticing", "writing", "backend", "voice", "between"]
"""What the user waited for; `between`: one stage waited for the one before it."""

STAGES: tuple[Stage, ...] = ("noticing", "writing", "backend", "voice")
PIECES: tuple[Piece, ...] = ("noticing", "writing", "backend", "voice", "between")

MOST_ANSWERS = 500
"""The newest answers are kept for the distributions."""

_MOST_TURNS = 8
_MOST_TROUBLES = 64
_SPEECH_SECONDS = 2.0
"""Recognition that was skipped within this time before the end of the speech still counts."""

SLOW_SECONDS = 1.0
"""An answer that takes longer is slow in any conversation."""

SLOW_FACTOR = 1.6
SLOWER_BY_SECONDS = 0.25
"""An answer is also slow if it takes `SLOW_FACTOR` × the conversation's median and `SLOWER_BY_SECONDS` more than
that."""

ENOUGH_ANSWERS = 4
"""With fewer others there is no usual time."""

_SOUNDED_UNFINISHED = 1.3
"""The silence in seconds at which a turn ends that is finished with a probability of 0.2 (`resources/turn_ends.json`).
After a longer wait the turn had sounded unfinished; after a shorter one it was unclear."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, in seconds.

    `response`: from the user's last sound to the answer's first, negative if that was earlier. An opening does not
    count; after one it is the end of the answer's first word.
    `reason`: what ended the turn.
    `took`: how long the known stages were; they may overlap.
    `wait`: the response divided into what the user waited for. The pieces add up to it, and are 0 if it is negative.
    `backend`, `model`: empty if there was no request to wait for.
    `asked_again`, `fell_back`, `swapped`: a request was repeated after the user's last sound, because their words had
    changed, another model had failed, or they had chosen this one.
    `first`: these were the model's first words in this conversation.
    `tool`, `tool_seconds`: the longest tool before them, and the time of all.
    `delay`: the pause before each answer that the user has set.
    `dropped` frames and `skipped` recognition updates: this machine was too slow.
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

    @property
    def lost(self) -> float:
        """The part of the response that was spent on a model that failed."""
        return self.wait["between"] if self.fell_back else 0.0


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
    """The answers of a session, the newest last, with its frame times and the size of the front-end's context.

    `changes` counts how often the answers have changed. `revisions`: the session's.
    """

    def __init__(self, revisions: RevisionLog) -> None:
        self.changes = 0
        self._revisions = revisions
        self.frames = FrameBudget()
        self.context: e.ContextMeasured | None = None
        self._answers: dict[int, Answer] = {}
        self._turns: dict[int, _Turn] = {}
        self._spoke: dict[tuple[str, str], float] = {}
        self._dropped: deque[e.FramesDropped] = deque(maxlen=_MOST_TROUBLES)
        self._skipped: deque[e.RecognitionSkipped] = deque(maxlen=_MOST_TROUBLES)
        self._swapped_at = -1e9
        self._delay = 0.0

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The newest `MOST_ANSWERS`, in order."""
        return tuple(self._answers.values())

    def apply(self, event: e.Event, revision: Revision | None) -> None:
        """Takes one event in. `revision`: what the session's `RevisionLog` returns for it."""
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
                # What was said in the gap did not answer the complete turn.
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
        speech_end, began = end.speech_end, start.at
        revision = self._revisions.get(start.revision)
        if revision is not None and (revision.turn != number or revision.first_words_at is None):
            revision = None  # the front-end answers without a revision, or with one of an earlier turn
        took: dict[Stage, float] = {}
        if end.reason != "typed":
            took["noticing"] = max(0.0, end.at - speech_end)
            if turn.final_at is not None:
                took["writing"] = max(0.0, turn.final_at - speech_end)
        if revision is not None and revision.first_words_at is not None:
            took["backend"] = revision.first_words_at - revision.requested_at
            ready = revision.first_words_at if revision.fed_at is None else revision.fed_at
            took["voice"] = max(0.0, began - max(ready, end.at if end.at <= began else ready))
        return Answer(
            number,
            began - speech_end,
            end.reason,
            took,
            _wait(end, turn.final_at, began, revision),
            delay=turn.delay,
            dropped=sum(t.frames for t in self._dropped if speech_end <= t.at <= began),
            skipped=sum(t.decodes for t in self._skipped if speech_end - _SPEECH_SECONDS <= t.at <= began),
            **({} if revision is None else self._of_backend(turn, speech_end, revision)),
        )

    def _of_backend(self, turn: _Turn, speech_end: float, revision: Revision) -> dict[str, Any]:
        before = turn.revisions[: turn.revisions.index(revision)] if revision in turn.revisions else []
        again = bool(before) and revision.drives_since > speech_end
        swapped = again and speech_end <= self._swapped_at <= revision.drives_since
        fell_back = again and not swapped and any(b.end_reason == "failed" for b in before)
        changed = any(fold(b.asked) != fold(revision.asked) for b in before)
        first_at = revision.first_words_at or 0.0
        tools = [t for t in revision.tools if t.returned_at is not None and t.returned_at <= first_at]
        return {
            "backend": revision.backend,
            "model": revision.model,
            "asked_again": again and changed and not swapped and not fell_back,
            "fell_back": fell_back,
            "swapped": swapped or (revision.handed_over_at is not None and revision.drives_since > speech_end),
            "first": self._spoke.get((revision.backend, revision.model)) == first_at,
            "tool": max(tools, key=lambda t: t.seconds).name if tools else "",
            "tool_seconds": sum(t.seconds for t in tools),
        }


def _wait(end: e.UserEnded, final_at: float | None, began: float, revision: Revision | None) -> dict[Piece, float]:
    """Divides the time from the end of the speech until the answer into what was waited for.

    What ran in parallel cost nothing. `final_at`: when the final transcript came; `began`: when the answer started.
    """
    wait: dict[Piece, float] = dict.fromkeys(PIECES, 0.0)
    steps: list[tuple[Piece, float | None]] = [("noticing", end.at)]
    if revision is not None:
        if revision.final and final_at is not None and final_at <= revision.drives_since:
            steps.append(("writing", final_at))
        steps += [
            ("between", revision.requested_at),
            ("backend", revision.first_words_at),
            ("between", revision.fed_at),
        ]
    steps.append(("voice", began))
    now = end.speech_end
    for piece, at in steps:
        if at is not None and min(at, began) > now:
            wait[piece] += min(at, began) - now
            now = min(at, began)
    return wait


# -- why an answer was slow


class Cause(Enum):
    """The cause; `Reason` holds the figures that belong to it."""

    FELL_BEHIND = auto()
    """This machine was too slow: `count` frames were dropped."""
    UNFINISHED = auto()
    """The end of the turn was noticed late because the turn sounded unfinished."""
    UNSURE = auto()
    """The end of the turn was noticed late because its words left it open."""
    BUTTON = auto()
    """The talk button was released late."""
    NOTICED_LATE = auto()
    """The end of the turn was noticed late for an unknown cause."""
    RECOGNITION_BEHIND = auto()
    """Recognition was late: `count` updates were skipped."""
    WRITING = auto()
    """Recognition was late."""
    STARTED_LATE = auto()
    """One stage started long after the one before it."""
    ASKED_AGAIN = auto()
    """The user's last words changed the question."""
    FELL_BACK = auto()
    """Another model had failed; `who` replaced it, and took long."""
    FAILED = auto()
    """Another model took long to fail; `who` replaced it."""
    SWAPPED = auto()
    """The user had switched to the model `who`."""
    TOOL = auto()
    """The tool `who` was running."""
    FIRST = auto()
    """It was the first answer of the model `who` in this conversation."""
    BACKEND = auto()
    """The model `who` took long."""
    DELAY = auto()
    """The user has set a pause before each answer."""
    BY_ITSELF = auto()
    """A front-end that waits for no back-end started late."""
    VOICE = auto()
    """The voice took long."""


@dataclass(frozen=True, slots=True)
class Reason:
    """The `seconds` that the cause took, and the usual time of that stage in this conversation, or None if it is
    unknown.
    """

    cause: Cause
    seconds: float
    usual: float | None = None
    who: str = ""
    count: int = 0


def slow_beyond(answers: Sequence[Answer]) -> float:
    """Returns the seconds beyond which a response is slow among the `answers` of its talk."""
    found = figures(a.response for a in answers) if len(answers) > ENOUGH_ANSWERS else None
    if found is None:
        return SLOW_SECONDS
    return min(SLOW_SECONDS, max(SLOW_FACTOR * found.median, found.median + SLOWER_BY_SECONDS))


def why_slow(answer: Answer, answers: Sequence[Answer]) -> Reason | None:
    """Returns why `answer` was slow among the `answers` of its talk, or None if it was not."""
    if answer.response <= slow_beyond(answers):
        return None
    if answer.dropped:
        return Reason(Cause.FELL_BEHIND, answer.response, count=answer.dropped)
    match culprit(answer, answers):
        case "noticing":
            return _late_notice(answer, answers)
        case "writing":
            seconds = answer.took.get("writing", answer.wait["writing"])
            cause = Cause.RECOGNITION_BEHIND if answer.skipped else Cause.WRITING
            return Reason(cause, seconds, _usually_took("writing", answer, answers), count=answer.skipped)
        case "backend":
            return _late_words(answer, answers)
        case "voice":
            return _late_voice(answer, answers)
        case _:
            if answer.swapped:
                return Reason(Cause.SWAPPED, answer.wait["between"], who=answer.model or answer.backend)
            cause = Cause.FAILED if answer.fell_back else Cause.STARTED_LATE
            return Reason(cause, answer.wait["between"], who=answer.model if answer.fell_back else "")


def culprit(answer: Answer, answers: Sequence[Answer]) -> Piece:
    """Returns what took longest beyond what is usual among `answers`."""

    def beyond(piece: Piece) -> float:
        return answer.wait[piece] - (_usual(answer, answers, lambda other: other.wait[piece]) or 0.0)

    return max(PIECES, key=beyond)


def _late_notice(answer: Answer, answers: Sequence[Answer]) -> Reason:
    seconds = answer.wait["noticing"]
    if answer.reason == "button":
        cause = Cause.BUTTON
    elif answer.reason != "silence":
        cause = Cause.NOTICED_LATE
    else:
        cause = Cause.UNFINISHED if seconds >= _SOUNDED_UNFINISHED else Cause.UNSURE
    return Reason(cause, seconds, _usually_took("noticing", answer, answers))


def _late_words(answer: Answer, answers: Sequence[Answer]) -> Reason:
    seconds, who = answer.took.get("backend", answer.wait["backend"]), answer.model or answer.backend
    same = [other for other in answers if (other.backend, other.model) == (answer.backend, answer.model)]
    usual = _usually_took("backend", answer, same)
    if answer.fell_back:
        return Reason(Cause.FELL_BACK, seconds, usual, who)
    if answer.swapped:
        return Reason(Cause.SWAPPED, seconds, usual, who)
    if answer.tool and answer.tool_seconds >= seconds / 2:
        return Reason(Cause.TOOL, answer.tool_seconds, None, answer.tool)
    if answer.first:
        return Reason(Cause.FIRST, seconds, None, who)
    return Reason(Cause.ASKED_AGAIN if answer.asked_again else Cause.BACKEND, seconds, usual, who)


def _late_voice(answer: Answer, answers: Sequence[Answer]) -> Reason:
    seconds = answer.wait["voice"]
    if answer.delay >= seconds / 2 and answer.delay > 0:
        return Reason(Cause.DELAY, answer.delay)
    if "voice" not in answer.took:
        return Reason(Cause.BY_ITSELF, seconds)
    return Reason(Cause.VOICE, answer.took["voice"], _usually_took("voice", answer, answers))


def _usually_took(stage: Stage, answer: Answer, answers: Sequence[Answer]) -> float | None:
    return _usual(answer, [a for a in answers if stage in a.took], lambda other: other.took[stage])


def _usual(answer: Answer, answers: Sequence[Answer], of: Callable[[Answer], float]) -> float | None:
    """The median over the other answers."""
    others = [of(other) for other in answers if other.turn != answer.turn]
    found = figures(others) if len(others) >= ENOUGH_ANSWERS else None
    return None if found is None else found.median
