"""Lets a language model score answers from 1 to 10, by the method of FastChat's `llm_judge`.

One answer at a time: the first turn is judged by itself, the second with the whole conversation before it; reasoning
is judged with the reference answers beside. Temperature 0, at most 2,048 tokens; the first number in double brackets is
the score, and an answer without one counts as not judged. The prompts are this project's own words for the same task.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from app.backend.base import Backend, ChatRequest, Usage
from app.conversation.prompt import ChatMessage
from app.research.benches.mtbench.asking import complete
from app.research.benches.mtbench.questions import Question
from app.untrusted.records import build

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
    """A score of one answer. `template`: the name of FastChat's prompt whose part it plays."""

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

    def document(self) -> dict[str, Any]:
        """The judgement for JSON."""
        return asdict(self)


def read_judgement(fields: Any) -> Judgement:
    """Returns a judgement from JSON. Raises ValueError."""
    judgement: Judgement = build(Judgement, fields)
    return judgement


def template_of(question: Question, turn: int) -> str:
    """The name of FastChat's prompt for a turn."""
    kind = "single-math-v1" if question.references else "single-v1"
    return kind if turn == 1 else f"{kind}-multi-turn"


def judge_request(question: Question, turn: int, answers: Sequence[str]) -> ChatRequest:
    """The request for a score of the last of `answers`, which are those to the turns up to `turn`."""
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
    """The first score in a judgement; a 0, which judges give silence, counts as 1. UNJUDGED without one up to 10."""
    found = _SCORE.search(text)
    score = max(1.0, float(found[1])) if found else UNJUDGED
    return score if score <= 10.0 else UNJUDGED


async def judge(
    backend: Backend, question: Question, turn: int, answers: Sequence[str]
) -> tuple[float, str, Usage | None]:
    """Returns the score, the judge's words and its usage. Raises BackendError."""
    text, usage = await complete(backend, judge_request(question, turn, answers))
    return score_in(text), text, usage
