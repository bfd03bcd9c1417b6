"""The thirty questions of MT-Bench that the KAME paper speaks: reasoning, STEM and humanities, two turns each.

From lm-sys/FastChat, Apache-2.0 (Zheng et al., 2023, arXiv 2306.05685).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.platform.resources import resource
from app.session.errors import UserError
from app.untrusted.files import read_json_lines
from app.untrusted.limits import CORPUS, CORPUS_LINE

CATEGORIES = ("reasoning", "stem", "humanities")
LONG = (105, 106, 110, 157)
"""Questions that take more than a minute to speak; the paper does not say how it read them."""
TURNS = 2


@dataclass(frozen=True, slots=True)
class Question:
    """A question of two `turns`; `references`: right answers to both, where there are any."""

    number: int
    category: str
    turns: tuple[str, ...]
    references: tuple[str, ...] = ()


def load_questions(numbers: Sequence[int] = ()) -> list[Question]:
    """The questions with these numbers, all without any. Raises UserError."""
    folder = resource("bench", "mt_bench")
    references = {
        int(row["question_id"]): tuple(map(str, row["turns"])) for row in _rows(folder / "reference_answer_gpt4.jsonl")
    }
    rows = [row for row in _rows(folder / "question.jsonl") if row["category"] in CATEGORIES]
    questions = [
        Question(
            int(row["question_id"]),
            row["category"],
            tuple(map(str, row["turns"])),
            references.get(int(row["question_id"]), ()) if row["category"] == "reasoning" else (),
        )
        for row in rows
    ]
    known = {question.number for question in questions}
    if unknown := [number for number in numbers if number not in known]:
        raise UserError(f"There is no question {unknown[0]}. There are: {', '.join(map(str, sorted(known)))}.")
    return [question for question in questions if not numbers or question.number in numbers]


def _rows(file: Path) -> list[dict[str, Any]]:
    return read_json_lines(file, CORPUS, CORPUS_LINE)
