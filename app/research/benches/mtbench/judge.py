"""Has a language model score answers from 1 to 10, following FastChat's `llm_judge`, once it has passed a calibration.

Answers are judged one at a time: the first turn alone, the second with the whole conversation before it, and reasoning
questions with their reference answers. Requests use temperature 0 and at most 2,048 tokens. The first number in double
brackets is the score; an answer whose judgement has none counts as not judged. The prompts state FastChat's task in
this project's own words.

The calibration tests whether the judge distinguishes right answers from answers to other questions. It scores the first
reference answer to each question, and the one to another question as if it answered this one. The area under the ROC
curve (AUC: how often the right answer has the higher score, ties counting half) must reach `LEAST_AUC`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.backend.base import Backend, BackendError, ChatRequest, Usage
from app.conversation.prompt import ChatMessage
from app.diagnostics.tables import Progress, progress_bar
from app.platform.files import write_json
from app.research.benches.mtbench.asking import Answer, complete, opened
from app.research.benches.mtbench.plan import Lines, Plan, Question, Spending, Tools, load_questions
from app.research.results import known
from app.untrusted.files import read_json_file
from app.untrusted.limits import BENCH_RESULT

LEAST_AUC = 0.95
"""Below this, a judge can't distinguish good from bad answers, and its scores are meaningless."""
MOST_UNJUDGED = 0.2
"""Maximum share of answers that a judge may leave without a score."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A judge's scores for correct and shuffled answers. `usages`: the token usage of its requests."""

    right: tuple[float, ...]
    shuffled: tuple[float, ...]
    usages: tuple[Usage, ...] = ()

    @property
    def auc(self) -> float:
        """The area under the ROC curve; an answer without a score counts as the lowest."""
        pairs = [(right > wrong) + 0.5 * (right == wrong) for right in self.right for wrong in self.shuffled]
        return sum(pairs) / len(pairs) if pairs else 0.0

    @property
    def passed(self) -> bool:
        """Whether the judge passed the calibration."""
        return self.auc >= LEAST_AUC and self.unjudged <= MOST_UNJUDGED * (len(self.right) + len(self.shuffled))

    @property
    def unjudged(self) -> int:
        """Number of answers without a score."""
        return sum(score == UNJUDGED for score in (*self.right, *self.shuffled))

    @property
    def sentence(self) -> str:
        """The result as a user-facing message."""
        verdict = "so it may judge" if self.passed else f"and it takes {LEAST_AUC:g}: its scores are withheld"
        if self.auc >= LEAST_AUC and not self.passed:
            verdict = "but gave too many no score: its scores are withheld"
        return (
            f"The judge told right answers to the first turns of the reasoning questions, which alone have references, "
            f"from shuffled ones with an AUC of {self.auc:.2f}, {verdict} "
            f"({self.unjudged} of {len(self.right) + len(self.shuffled)} without a score)."
        )


async def calibrate(backend: Backend, questions: Sequence[Question], progress: Progress) -> Calibration:
    """Has the judge score the references of `questions`, both correctly paired and shuffled. Raises BackendError."""
    asked = [question for question in questions if question.references]
    found = []
    for place, question in enumerate(asked):
        progress(f"the judge is calibrated: question {place + 1} of {len(asked)}")
        for one in (question, asked[(place + len(asked) // 2) % len(asked)]):
            found.append(await judge(backend, question, 1, one.references[:1]))
    scores = tuple(score for score, *_ in found)
    return Calibration(scores[::2], scores[1::2], tuple(known(usage for *_, usage in found)))


MOST_TOKENS = 2048
UNJUDGED = -1.0
_SCORE = re.compile(r"\[\[\s*(\d+(?:\.\d+)?)\s*\]\]")

_TASK = (
    "You are a fair judge of how well an assistant has answered a user. Weigh whether the answer is helpful, relevant, "
    "correct, deep enough, creative where that is wanted, and detailed. Its length and style count only as far as they "
    "help the user."
)
_WITH_REFERENCE = (
    "You are a fair judge of whether an assistant has answered a user correctly and helpfully. A reference answer is "
    "given: compare the assistant's answer with it, and name the mistakes first."
)
_SCALE = (
    "Explain your judgement briefly and without prejudice. Then give a score from 1 to 10, in exactly this form: "
    "[[score]], for example: Score: [[5]]."
)
_SECOND = "Judge only the assistant's answer to the user's second question."


@dataclass(frozen=True, slots=True)
class Judgement:
    """A score of one answer. `template`: the name of the corresponding FastChat prompt."""

    system: str
    run: int
    question: int
    turn: int
    score: float
    text: str
    template: str
    cost: float = 0.0

    @property
    def key(self) -> tuple[str, int, int, int]:
        """System, run, question and turn."""
        return self.system, self.run, self.question, self.turn


def template_of(question: Question, turn: int) -> str:
    """Returns the name of FastChat's prompt for a turn."""
    kind = "single-math-v1" if question.references else "single-v1"
    return kind if turn == 1 else f"{kind}-multi-turn"


def judge_request(question: Question, turn: int, answers: Sequence[str]) -> ChatRequest:
    """Returns the request to score the last of `answers`, which are those for the turns up to `turn`."""
    system = _WITH_REFERENCE if question.references else _TASK
    if turn > 1:
        system = f"{system} {_SECOND}"
    parts = []
    for number in range(turn):
        parts.append(f"[The user's question {number + 1}]\n{question.turns[number]}")
        if question.references:
            parts.append(f"[Reference answer {number + 1}]\n{question.references[number]}")
        parts.append(f"[The assistant's answer {number + 1}]\n{answers[number] or '(silence)'}\n[End of the answer]")
    messages = (ChatMessage("system", f"{system} {_SCALE}"), ChatMessage("user", "\n\n".join(parts)))
    return ChatRequest(messages, MOST_TOKENS, 0.0)


def score_in(text: str) -> float:
    """Returns the first score in a judgement, or UNJUDGED if it is missing or above 10. A 0 (silence) counts as 1."""
    found = _SCORE.search(text)
    score = max(1.0, float(found[1])) if found else UNJUDGED
    return score if score <= 10.0 else UNJUDGED


async def judge(
    backend: Backend, question: Question, turn: int, answers: Sequence[str]
) -> tuple[float, str, Usage | None]:
    """Returns the score, the judge's text and its token usage. Raises BackendError."""
    text, usage = await complete(backend, judge_request(question, turn, answers))
    return score_in(text), text, usage


MOST_FAILURES = 3
"""After this many consecutive failures, the judge counts as unavailable and the run stops."""


async def judge_all(
    plan: Plan,
    tools: Tools,
    answers: Sequence[Answer],
    judgements: Lines[Judgement],
    spending: Spending,
    progress: Progress,
) -> tuple[Calibration, list[str]]:
    """Calibrates the judge once per folder and has it score all unscored answers.

    Returns the calibration, and messages about failures. Raises BackendError, and UserError at the cap.
    """
    assert plan.judge is not None
    async with opened(tools.make_backend(plan.judge)) as backend:
        calibration = await _calibrated(plan.out / "calibration.json", backend, progress)
        # The cost of a calibration is only known in the run that made it.
        for request in calibration.usages:
            spending.add(tools.cost(backend, request))
        if not calibration.passed:
            return calibration, []
        said = {answer.key: answer.said for answer in answers}
        by_number = {question.number: question for question in plan.questions}
        done = {one.key for one in judgements.records}
        failed: list[str] = []
        in_a_row = 0
        for place, answer in enumerate(answers):
            if answer.key in done:
                continue
            spending.check()
            progress(f"{progress_bar(place, len(answers))} the judge reads answer {place + 1} of {len(answers)}")
            question = by_number[answer.question]
            before = [said.get((answer.system, answer.run, answer.question, n), "") for n in range(1, answer.turn + 1)]
            try:
                score, text, usage = await judge(backend, question, answer.turn, before)
            except BackendError as error:
                failed.append(str(error))
                in_a_row += 1
                if in_a_row >= MOST_FAILURES:
                    raise
                continue
            in_a_row = 0
            cost = tools.cost(backend, usage) if usage is not None else None
            spending.add(cost)
            template = template_of(question, answer.turn)
            judgements.add(Judgement(*answer.key, score=score, text=text, template=template, cost=cost or 0.0))
    retry = "Start the command again to have them judged."
    return calibration, [f"{len(failed)} answers could not be judged ({failed[-1]}). {retry}"] if failed else []


async def _calibrated(kept: Path, backend: Backend, progress: Progress) -> Calibration:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        scores = read_json_file(kept, BENCH_RESULT)
        return Calibration(tuple(map(float, scores["right"])), tuple(map(float, scores["shuffled"])))
    found = await calibrate(backend, load_questions(), progress)
    write_json(kept, {"right": found.right, "shuffled": found.shuffled, "auc": round(found.auc, 4)}, indent=1)
    return found
