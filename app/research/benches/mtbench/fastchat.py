"""Writes answers and judgements in the files of FastChat's `llm_judge`, so that its own scripts read them.

`model_answer/MODEL.jsonl` and `model_judgment/JUDGE_single.jsonl`. A run of a system is a model of its own there. Times
are left at 0, so that the same results give the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from app.platform.atomic_files import whole_file
from app.research.benches.mtbench.answer import Answer
from app.research.benches.mtbench.judge import Judgement, judge_request
from app.research.benches.mtbench.questions import Question


def model_id(system: str, run: int, runs: int) -> str:
    """A system's name as a file can have it."""
    name = re.sub(r"[^A-Za-z0-9.+_-]+", "-", system).strip("-")
    return name if runs == 1 else f"{name}-run{run + 1}"


def write_fastchat(
    folder: Path,
    questions: Sequence[Question],
    answers: Iterable[Answer],
    judgements: Iterable[Judgement],
    *,
    runs: int,
    judge: str,
) -> None:
    """Writes both kinds of files into `folder`. Raises OSError."""
    said: dict[str, dict[int, dict[int, str]]] = {}
    for answer in answers:
        model = model_id(answer.system, answer.run, runs)
        said.setdefault(model, {}).setdefault(answer.question, {})[answer.turn] = answer.said
    for model, by_question in sorted(said.items()):
        rows = [
            {
                "question_id": number,
                "answer_id": f"{model}-{number}",
                "model_id": model,
                "choices": [{"index": 0, "turns": [turns[turn] for turn in sorted(turns)]}],
                "tstamp": 0.0,
            }
            for number, turns in sorted(by_question.items())
        ]
        _write(folder / "model_answer" / f"{model}.jsonl", rows)
    by_number = {question.number: question for question in questions}
    rows = []
    for one in sorted(judgements, key=lambda one: one.key):
        model = model_id(one.system, one.run, runs)
        turns = said.get(model, {}).get(one.question, {})
        request = judge_request(by_number[one.question], one.turn, [turns.get(n, "") for n in range(1, one.turn + 1)])
        rows.append(
            {
                "question_id": one.question,
                "model": model,
                "judge": [judge, one.template],
                "user_prompt": request.messages[1].content,  # type: ignore[union-attr]
                "judgment": one.text,
                "score": one.score,
                "turn": one.turn,
                "tstamp": 0.0,
            }
        )
    if rows:
        _write(folder / "model_judgment" / f"{model_id(judge, 0, 1)}_single.jsonl", rows)


def _write(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
