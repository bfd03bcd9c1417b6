"""Runs the bench: asks every system every question, has a judge score the answers, and writes the files.

These include the files of FastChat's `llm_judge`, for use with its scripts: `model_answer/MODEL.jsonl` and
`model_judgment/JUDGE_single.jsonl`. There, each run of a system counts as a separate model. Times are set to 0, so that
equal results give equal bytes.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from app.diagnostics.tables import Progress, machine, progress_bar
from app.platform.files import whole_file, write_json
from app.research.benches.mtbench.asking import Answer, ask_aloud, ask_typed
from app.research.benches.mtbench.judge import Calibration, Judgement, judge_all, judge_request
from app.research.benches.mtbench.plan import (
    LAST_ORACLE,
    TURNS,
    Lines,
    Plan,
    Question,
    Spending,
    System,
    Tools,
    name_of,
    write_down,
)
from app.research.benches.mtbench.scores import (
    CHOICES,
    Summary,
    csv_text,
    draw_all,
    measure_table,
    score_table,
    summarise,
)
from app.research.results import grouped, report
from app.untrusted.records import build


def model_id(system: str, run: int, runs: int) -> str:
    """Returns a system's name, with its run if there are several, in a form that is valid in file names."""
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
    said = {
        model: {
            number: {one.turn: one.said for one in turns}
            for number, turns in grouped(group, lambda one: one.question).items()
        }
        for model, group in grouped(answers, lambda one: model_id(one.system, one.run, runs)).items()
    }
    for model, by_question in sorted(said.items()):
        rows = [
            {
                **{"question_id": number, "answer_id": f"{model}-{number}", "model_id": model},
                **{"choices": [{"index": 0, "turns": [turns[turn] for turn in sorted(turns)]}], "tstamp": 0.0},
            }
            for number, turns in sorted(by_question.items())
        ]
        _write_lines(folder / "model_answer" / f"{model}.jsonl", rows)
    known = {question.number: question for question in questions}
    rows = []
    for one in sorted(judgements, key=lambda one: one.key):
        model = model_id(one.system, one.run, runs)
        turns = said.get(model, {}).get(one.question, {})
        request = judge_request(known[one.question], one.turn, [turns.get(n, "") for n in range(1, one.turn + 1)])
        row: dict[str, Any] = {"question_id": one.question, "model": model, "judge": [judge, one.template]}
        prompt = request.messages[1].content  # type: ignore[union-attr]
        row |= {"user_prompt": prompt, "judgment": one.text, "score": one.score, "turn": one.turn, "tstamp": 0.0}
        rows.append(row)
    if rows:
        _write_lines(folder / "model_judgment" / f"{model_id(judge, 0, 1)}_single.jsonl", rows)


def _write_lines(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    _write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def _write_text(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


@dataclass(slots=True)
class MtBenchResult:
    """The result of a run."""

    plan: Plan
    summaries: list[Summary]
    calibration: Calibration | None = None
    notes: list[str] = field(default_factory=list)

    def table(self) -> str:
        """Returns the result as Markdown."""
        lines = measure_table(self.summaries)
        if any(one.scores for one in self.summaries):
            lines += ["", "Scores from 1 to 10 by the judge, latencies below 0 counted as 0:", ""]
            lines += score_table(self.summaries)
        title = f"{len(self.plan.questions)} questions of two turns, {self.plan.runs} runs,"
        return report(title, self.plan.costs, lines, [*self.notes, *CHOICES])

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        plan = self.plan
        return {
            **{"bench": "mtbench", "machine": machine(), "simulated": plan.simulated, "costs": plan.costs},
            **{"questions": [question.number for question in plan.questions], "runs": plan.runs},
            "systems": [one.document() for one in self.summaries],
            "judge": None if plan.judge is None else name_of(plan.judge),
            "calibration_auc": None if self.calibration is None else round(self.calibration.auc, 4),
            "notes": self.notes,
        }


def run_mtbench(plan: Plan, tools: Tools, progress: Progress) -> MtBenchResult:
    """Runs `plan`, resuming from the results in its folder, and writes all files there.

    Raises UserError, and BackendError from the judge. Propagates errors from opening a session.
    """
    write_down(plan, tools)
    answers = Lines(plan.out / "answers.jsonl", partial(build, Answer), Answer.document)
    judgements = Lines(plan.out / "judgements.jsonl", partial(build, Judgement), asdict)
    spent = sum(one.cost for one in answers.records) + sum(one.cost for one in judgements.records)
    spending = Spending(plan.cap, plan.out, spent)
    result = MtBenchResult(plan, [])
    result.notes += _ask_all(plan, tools, answers, spending, progress)
    mine = _with_last_oracle(plan, _wanted(plan, answers.records))
    if plan.judge is not None:
        result.calibration, failed = asyncio.run(judge_all(plan, tools, mine, judgements, spending, progress))
        result.notes += [result.calibration.sentence, *failed]
    keys = {answer.key for answer in mine}
    may_judge = result.calibration is not None and result.calibration.passed
    scores = [one for one in judgements.records if one.key in keys] if may_judge else []
    names = [(system.name, system.base, system.delay) for system in plan.systems]
    if plan.last_oracle:
        names += [(_oracle_name(system), _oracle_name(system), 0.0) for system in plan.systems if system.has_oracle]
    result.summaries = summarise(names, plan.questions, mine, scores)
    _write(plan, result, mine, scores)
    return result


def _ask_all(plan: Plan, tools: Tools, answers: Lines[Answer], spending: Spending, progress: Progress) -> list[str]:
    """Asks the unanswered questions; returns a message about those that failed, which are excluded from all figures."""
    done = {answer.key for answer in answers.records}
    tasks = [(s, run, q) for s in plan.systems for run in range(plan.runs) for q in plan.questions]
    failed: list[Answer] = []
    for place, (system, run, question) in enumerate(tasks):
        if all((system.name, run, question.number, turn) in done for turn in range(1, TURNS + 1)):
            continue
        spending.check()
        progress(
            f"{progress_bar(place, len(tasks))} {system.name}, run {run + 1} of {plan.runs}, question "
            f"{question.number} ({place + 1} of {len(tasks)})"
        )
        found = _ask(plan, tools, system, run, question)
        for answer in found:
            spending.add(answer.cost)
        if silent := next((answer for answer in found if answer.failure and not answer.said), None):
            failed.append(silent)
        else:
            answers.add(*found)
    if not failed:
        return []
    last = failed[-1]
    return [
        f"{len(failed)} questions got no answer because something failed (the last: question {last.question} to "
        f"{last.system}: {last.failure}). They count nowhere: start the command again to ask them again."
    ]


def _ask(plan: Plan, tools: Tools, system: System, run: int, question: Question) -> list[Answer]:
    if not system.speaks:
        return asyncio.run(ask_typed(tools, system, run, question))
    turns = [plan.sounds[question.number, turn] for turn in range(1, TURNS + 1)]
    answers: list[Answer] = tools.run_talk(ask_aloud(tools, system, run, question, turns, plan.weights))
    return answers


def _wanted(plan: Plan, answers: Sequence[Answer]) -> list[Answer]:
    """Returns the plan's answers, each once, in the plan's order."""
    known = {answer.key: answer for answer in answers}
    names, numbers = [system.name for system in plan.systems], [question.number for question in plan.questions]
    keys = itertools.product(names, range(plan.runs), numbers, range(1, TURNS + 1))
    return [known[key] for key in keys if key in known]


def _oracle_name(system: System) -> str:
    return f"{LAST_ORACLE}={system.name}"


def _with_last_oracle(plan: Plan, answers: list[Answer]) -> list[Answer]:
    if not plan.last_oracle:
        return answers
    systems = {system.name: system for system in plan.systems if system.has_oracle}
    return answers + [
        Answer(_oracle_name(systems[one.system]), one.run, one.question, one.turn, one.heard, one.oracle)
        for one in answers
        if one.system in systems
    ]


# -- output files


def _write(plan: Plan, result: MtBenchResult, answers: Sequence[Answer], scores: Sequence[Judgement]) -> None:
    out = plan.out
    judge_name = name_of(plan.judge) if plan.judge is not None else ""
    write_fastchat(out, plan.questions, answers, scores, runs=plan.runs, judge=judge_name)
    if missing := draw_all(result.summaries, out / "figures"):
        result.notes.append(missing)
    _write_text(out / "results.md", result.table() + "\n")
    _write_text(out / "results.csv", csv_text(result.summaries))
    write_json(out / "results.json", result.document(), indent=1)
