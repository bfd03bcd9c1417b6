"""Plans a tour of the swap demo: its sessions, in order, and about how long it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.demo.base import DemoBackend, DemoPlan, DemoQuestion, DemoStop

START_SECONDS = 5.0
PAUSE_SECONDS = 1.5
USUAL_ANSWER_SECONDS = 10.0
"""For the estimate of the duration alone."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """How much of each answer is listened to, in seconds, and in words of the new back-end after a swap."""

    answer: float
    words_after_swap: int


# Where another question follows, an answer that is cut off counts as interrupted, and the next one takes longer. So
# nearly all are spoken to their end.
FULL, QUICK = Lengths(20.0, 12), Lengths(3.5, 6)


def stations(plan: DemoPlan, questions: Sequence[DemoQuestion]) -> tuple[DemoStop, ...]:
    """Returns the sessions of `plan`: every back-end with every front-end in every answer mode.

    The same questions are put in each, and each is a conversation of its own. The last of `questions` is for the swap,
    in the last session that has a back-end, if there is a second one. Back-ends come last to first, so that the first
    one's answer is swapped to the second one.
    """
    asked = tuple(questions[: 1 if plan.quick else 2])
    out: list[DemoStop] = []
    for frontend in plan.frontends:
        backends: tuple[DemoBackend | None, ...] = plan.backends[::-1] if frontend.backends else (None,)
        # The quickest answer mode comes last, for the swap.
        for answer_mode in sorted(frontend.answer_modes, key=lambda mode: mode == "thinking"):
            out += [DemoStop(frontend, answer_mode, backend, asked) for backend in backends]
    able = [index for index, stop in enumerate(out) if stop.backend is not None]
    if able and len(plan.backends) > 1:
        out[able[-1]] = replace(out[able[-1]], swap=questions[-1], swap_to=plan.backends[1])
    return tuple(out)


def duration(stops: Sequence[DemoStop], *, quick: bool) -> float:
    """Returns about how long the tour takes, in seconds."""
    answer = min((QUICK if quick else FULL).answer, USUAL_ANSWER_SECONDS)
    seconds = 0.0
    for stop in stops:
        seconds += START_SECONDS + sum(question.seconds + PAUSE_SECONDS + answer for question in stop.questions)
        if stop.swap is not None:
            seconds += stop.swap.seconds + PAUSE_SECONDS + USUAL_ANSWER_SECONDS
    return seconds
