"""Finds out why an answer was slow: which stage took longer than usual, and for what cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from app.conversation.latency import PIECES, Answer, Piece, Stage, figures

SLOW_SECONDS = 1.0
"""An answer that takes longer is slow in any talk."""

SLOW_FACTOR = 1.6
SLOWER_BY_SECONDS = 0.25
"""An answer is slow, too, if it takes so many times the conversation's median, and is so much longer."""

ENOUGH_ANSWERS = 4
"""With fewer others there is no usual time."""

_SOUNDED_UNFINISHED = 1.3
"""The silence in seconds at which a turn ends that is finished with a probability of 0.2 (`resources/turn_ends.json`).
After a longer wait the turn had sounded unfinished; after a shorter one it was unclear."""


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
    """Another model had failed; `who` replaced it."""
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
            return Reason(Cause.STARTED_LATE, answer.wait["between"])


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
