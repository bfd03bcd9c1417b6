"""Has a judge score the answers of a run, once it has passed its calibration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.backend.base import Backend, BackendError
from app.diagnostics.tables import Progress, progress_bar
from app.platform.atomic_files import write_json
from app.research.benches.mtbench.answer import Answer
from app.research.benches.mtbench.asking import opened
from app.research.benches.mtbench.calibration import Calibration, calibrate
from app.research.benches.mtbench.judge import Judgement, judge, template_of
from app.research.benches.mtbench.plan import Plan, Tools
from app.research.benches.mtbench.questions import load_questions
from app.research.benches.mtbench.spending import Spending
from app.research.benches.mtbench.store import Lines
from app.untrusted.files import read_json_file
from app.untrusted.limits import BENCH_RESULT

MOST_FAILURES = 3
"""In a row: then the judge does not answer at all, and the run stops."""


async def judge_all(
    plan: Plan,
    tools: Tools,
    answers: Sequence[Answer],
    judgements: Lines[Judgement],
    spending: Spending,
    progress: Progress,
) -> tuple[Calibration, list[str]]:
    """Calibrates the judge once for the folder, and has it score what is not scored yet. Returns the calibration, and
    sentences on what could not be judged. Raises BackendError, and UserError at the cap.
    """
    assert plan.judge is not None
    async with opened(tools.make_backend(plan.judge)) as backend:
        calibration = await _calibrated(plan.out / "calibration.json", backend, progress)
        # What the gate has cost is only known in the run that passed it.
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
    if not failed:
        return calibration, []
    return calibration, [
        f"{len(failed)} answers could not be judged ({failed[-1]}). Start the command again to have them judged."
    ]


async def _calibrated(kept: Path, backend: Backend, progress: Progress) -> Calibration:
    try:
        scores = read_json_file(kept, BENCH_RESULT)
        return Calibration(tuple(map(float, scores["right"])), tuple(map(float, scores["shuffled"])))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    found = await calibrate(backend, load_questions(), progress)
    write_json(kept, {"right": found.right, "shuffled": found.shuffled, "auc": round(found.auc, 4)}, indent=1)
    return found
