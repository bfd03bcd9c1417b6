"""Runs the bench: asks every system every question, has a judge score the answers, and writes the files."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.backend.base import Backend, Usage
from app.evaluation.mtbench.answer import Answer, read_answer
from app.evaluation.mtbench.asking import Read, ask_aloud, ask_typed, opened
from app.evaluation.mtbench.calibration import Calibration, calibrate
from app.evaluation.mtbench.fastchat import write_fastchat
from app.evaluation.mtbench.figures import draw
from app.evaluation.mtbench.judge import Judgement, judge, read_judgement, template_of
from app.evaluation.mtbench.questions import TURNS, Question
from app.evaluation.mtbench.routes import Route, best_routes
from app.evaluation.mtbench.scores import Summary, summarise
from app.evaluation.mtbench.speech import SpokenTurn
from app.evaluation.mtbench.store import Lines, once_for_all
from app.evaluation.mtbench.systems import LAST_ORACLE, System
from app.evaluation.mtbench.tables import CHOICES, csv_text, measure_table, score_table
from app.evaluation.report import Progress, machine, paragraphs
from app.evaluation.spoken_questions import MakeSession
from app.platform.atomic_files import whole_file, write_json
from app.session.control import BackendChoice
from app.session.errors import UserError

RunTalk = Callable[[Coroutine[Any, Any, Any]], Any]
"""Runs a coroutine that holds talks, on a loop in real or in simulated time."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run. `runs`: how often; `cap`: the dollars that it may cost, 0 for any. `last_oracle`: the last oracle's
    text is judged, too. `simulated`: in simulated time.
    """

    systems: Sequence[System]
    questions: Sequence[Question]
    runs: int
    judge: BackendChoice | None
    out: Path
    cap: float = 0.0
    last_oracle: bool = False
    weights: str = ""
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class Tools:
    """What the bench is given to work with: how sessions and back-ends are made, what they cost, how talks run, and the
    form of the router's table.
    """

    make_session: MakeSession
    make_backend: Callable[[BackendChoice], Backend]
    cost: Callable[[Backend, Usage], float | None]
    run_talk: RunTalk
    write_routes: Callable[[Mapping[str, BackendChoice]], str]
    read: Read | None = None


@dataclass(slots=True)
class MtBenchResult:
    """The result of a run."""

    plan: Plan
    summaries: list[Summary]
    calibration: Calibration | None = None
    routes: list[Route] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def table(self) -> str:
        """The result in Markdown."""
        kind = "simulated" if self.plan.simulated else "real"
        lines = [
            f"{len(self.plan.questions)} questions of two turns, {self.plan.runs} runs, in {kind} time, {machine()}",
            "",
            *measure_table(self.summaries),
        ]
        if any(one.scores for one in self.summaries):
            lines += ["", "Scores from 1 to 10 by the judge, latencies below 0 counted as 0:", ""]
            lines += score_table(self.summaries)
        lines += paragraphs([*self.notes, *CHOICES])
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """The result for JSON."""
        return {
            "bench": "mtbench",
            "machine": machine(),
            "simulated": self.plan.simulated,
            "questions": [question.number for question in self.plan.questions],
            "runs": self.plan.runs,
            "systems": [one.document() for one in self.summaries],
            "judge": None if self.plan.judge is None else _name(self.plan.judge),
            "calibration_auc": None if self.calibration is None else round(self.calibration.auc, 4),
            "routes": [
                {"kind": r.kind, "model": _name(r.backend), "figures": r.figures, "by": r.by} for r in self.routes
            ],
            "notes": self.notes,
        }


def run_mtbench(
    plan: Plan, tools: Tools, sounds: dict[tuple[int, int], SpokenTurn], progress: Progress
) -> MtBenchResult:
    """Runs `plan`, going on with what its folder holds, and writes all files there.

    `sounds`: by question and turn, for systems that hear. Raises UserError and what opening a session raises.
    """
    once_for_all(plan.out / "run.json", _described(plan, sounds))
    answers = Lines(plan.out / "answers.jsonl", read_answer, Answer.document)
    judgements = Lines(plan.out / "judgements.jsonl", read_judgement, Judgement.document)
    spent = sum(one.cost for one in answers.records) + sum(one.cost for one in judgements.records)
    _ask_all(plan, tools, sounds, answers, spent, progress)
    mine = _with_last_oracle(plan, _wanted(plan, answers.records))
    result = MtBenchResult(plan, [])
    if plan.judge is not None:
        asyncio.run(_judge_all(plan, tools, mine, judgements, result, progress))
    keys = {answer.key for answer in mine}
    scores = [one for one in judgements.records if one.key in keys] if _may_judge(result) else []
    names = [(system.name, system.base, system.delay) for system in plan.systems]
    if plan.last_oracle:
        names += [(_oracle_name(system), _oracle_name(system), 0.0) for system in plan.systems if system.has_oracle]
    result.summaries = summarise(names, plan.questions, mine, scores)
    result.routes = best_routes(plan.systems, plan.questions, mine, scores)
    _write(plan, tools, result, mine, scores)
    return result


# -- asking


def _ask_all(
    plan: Plan,
    tools: Tools,
    sounds: dict[tuple[int, int], SpokenTurn],
    answers: Lines[Answer],
    spent: float,
    progress: Progress,
) -> None:
    done = {answer.key for answer in answers.records}
    tasks = [(s, run, q) for s in plan.systems for run in range(plan.runs) for q in plan.questions]
    for place, (system, run, question) in enumerate(tasks):
        if all((system.name, run, question.number, turn) in done for turn in range(1, TURNS + 1)):
            continue
        _stop_at_cap(plan, spent)
        progress(
            f"{_bar(place, len(tasks))} {system.name}, run {run + 1} of {plan.runs}, question {question.number} "
            f"({place + 1} of {len(tasks)})"
        )
        if system.speaks:
            turns = [sounds[question.number, turn] for turn in range(1, TURNS + 1)]
            talk = ask_aloud(
                tools.make_session,
                system,
                run,
                question,
                turns,
                weights=plan.weights,
                read=tools.read,
                simulated=plan.simulated,
            )
            found = tools.run_talk(talk)
        else:
            found = asyncio.run(ask_typed(tools.make_backend, tools.cost, system, run, question))
        for answer in found:
            if answer.key not in done:
                answers.add(answer)
                spent += answer.cost


def _bar(done: int, of: int, width: int = 20) -> str:
    filled = width * done // max(1, of)
    return f"[{'#' * filled}{'.' * (width - filled)}]"


def _stop_at_cap(plan: Plan, spent: float) -> None:
    if plan.cap and spent >= plan.cap:
        raise UserError(
            f"This run has cost ${spent:.2f}, and its cap is ${plan.cap:.2f}. What was answered stays in {plan.out}: "
            "start the command again with a higher --cap, and it goes on from there."
        )


def _wanted(plan: Plan, answers: Sequence[Answer]) -> list[Answer]:
    """The answers that belong to the plan, each once, in its order."""
    known = {answer.key: answer for answer in answers}
    keys = [
        (system.name, run, question.number, turn)
        for system in plan.systems
        for run in range(plan.runs)
        for question in plan.questions
        for turn in range(1, TURNS + 1)
    ]
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


# -- judging


def _may_judge(result: MtBenchResult) -> bool:
    return result.calibration is not None and result.calibration.passed


async def _judge_all(
    plan: Plan,
    tools: Tools,
    answers: Sequence[Answer],
    judgements: Lines[Judgement],
    result: MtBenchResult,
    progress: Progress,
) -> None:
    """Calibrates the judge once for the folder, and has it score what is not scored yet."""
    assert plan.judge is not None
    spent = sum(one.cost for one in answers) + sum(one.cost for one in judgements.records)
    async with opened(tools.make_backend(plan.judge)) as backend:
        result.calibration = await _calibrated(plan, backend, progress)
        # What the gate has cost is only known in the run that passed it.
        spent += sum(tools.cost(backend, usage) or 0.0 for usage in result.calibration.usages)
        result.notes.append(result.calibration.sentence)
        if not result.calibration.passed:
            return
        said = {answer.key: answer.said for answer in answers}
        by_number = {question.number: question for question in plan.questions}
        done = {one.key for one in judgements.records}
        for place, answer in enumerate(answers):
            if answer.key in done:
                continue
            _stop_at_cap(plan, spent)
            progress(f"{_bar(place, len(answers))} the judge reads answer {place + 1} of {len(answers)}")
            question = by_number[answer.question]
            before = [said.get((answer.system, answer.run, answer.question, n), "") for n in range(1, answer.turn + 1)]
            score, text, usage = await judge(backend, question, answer.turn, before)
            cost = (tools.cost(backend, usage) or 0.0) if usage is not None else 0.0
            spent += cost
            template = template_of(question, answer.turn)
            judgements.add(Judgement(*answer.key, score=score, text=text, template=template, cost=cost))


async def _calibrated(plan: Plan, backend: Backend, progress: Progress) -> Calibration:
    kept = plan.out / "calibration.json"
    try:
        scores = json.loads(kept.read_text("utf-8"))
        return Calibration(tuple(map(float, scores["right"])), tuple(map(float, scores["shuffled"])))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    from app.evaluation.mtbench.questions import load_questions

    found = await calibrate(backend, load_questions(), progress)
    write_json(kept, {"right": found.right, "shuffled": found.shuffled, "auc": round(found.auc, 4)}, indent=1)
    return found


# -- what is written


def _name(choice: BackendChoice) -> str:
    return f"{choice.provider}:{choice.model}" if choice.model else choice.provider


def _described(plan: Plan, sounds: dict[tuple[int, int], SpokenTurn]) -> dict[str, Any]:
    """What the results of a folder depend on, besides the systems, which may be added."""
    found = hashlib.sha256()
    for question in plan.questions:
        for turn in range(1, TURNS + 1):
            found.update(question.turns[turn - 1].encode())
            if (question.number, turn) in sounds:
                found.update(sounds[question.number, turn].samples.tobytes())
    return {
        "questions": [question.number for question in plan.questions],
        "sounds": found.hexdigest() if sounds else "",
        "simulated": plan.simulated,
        "judge": None if plan.judge is None else _name(plan.judge),
    }


def _write(
    plan: Plan, tools: Tools, result: MtBenchResult, answers: Sequence[Answer], scores: Sequence[Judgement]
) -> None:
    out = plan.out
    judge_name = _name(plan.judge) if plan.judge is not None else ""
    write_fastchat(out, plan.questions, answers, scores, runs=plan.runs, judge=judge_name)
    if missing := draw(result.summaries, out / "figures"):
        result.notes.append(missing)
    routes = {route.kind: route.backend for route in result.routes}
    if len({system.model for system in plan.systems if system.model}) > 1 and routes:
        _text(out / "routes.json", tools.write_routes(routes) + "\n")
    _text(out / "results.md", result.table() + "\n")
    _text(out / "results.csv", csv_text(result.summaries))
    write_json(out / "results.json", result.document(), indent=1)


def _text(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())
