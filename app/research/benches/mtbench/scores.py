"""Sums a run up: by system, scores with confidence intervals, latencies, and the measures without a judge.

Has a judge score the answers of a run, once it has passed its calibration.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from app.backend.base import Backend, BackendError
from app.diagnostics.tables import Progress, progress_bar, quantile, rounded
from app.platform.files import write_json
from app.research.benches.mtbench.asking import Answer, has_fact, opened, relevance_gap
from app.research.benches.mtbench.judge import UNJUDGED, Calibration, Judgement, calibrate, judge, template_of
from app.research.benches.mtbench.plan import Lines, Plan, Spending, Tools
from app.research.benches.mtbench.questions import CATEGORIES, LONG, Question, load_questions
from app.research.benches.reader import compare
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


RESAMPLES = 1000
"""Of the bootstrap over questions, by which the 95 % interval of a score is found."""

PAPER = (
    ("Moshi (paper)", 1.32, 1.94, 2.88, 2.05, 0.0),
    ("KAME, gpt-4.1 (paper)", 5.44, 6.65, 7.19, 6.43, 0.0),
    ("KAME, claude-opus-4.1 (paper)", 5.72, 6.53, 6.43, 6.23, 0.0),
    ("Unmute, modified, gpt-4.1 (paper)", 7.08, 8.35, 7.67, 7.70, 2.1),
    ("last oracle's text (paper)", 6.48, 8.34, 8.56, 7.79, None),
)
"""Name, reasoning, STEM, humanities, average, median latency in seconds: KAME (arXiv 2510.02327), tables 1 and 2."""


@dataclass(frozen=True, slots=True)
class Score:
    """A mean from 1 to 10 and the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(slots=True)
class Summary:
    """The figures of one system. `scores`: by category, and of all under "average"; empty without a judge.

    `by_question`: the mean score of each question, by category. `failures`: turns in which something failed. `facts`:
    turns with their key fact, and turns that have one. Seconds from the end of the question: `first_sound` and
    `first_content`, raw; clamped, what is below 0 is 0. Shares from 0 to 1. `requests`, `taken_back`: a turn.
    """

    name: str
    base: str
    delay: float
    turns: int = 0
    unanswered: int = 0
    failures: int = 0
    cut_off: int = 0
    scores: dict[str, Score] = field(default_factory=dict)
    scores_without_long: float | None = None
    by_question: dict[str, dict[int, float]] = field(default_factory=dict)
    unjudged: int = 0
    facts: tuple[int, int] = (0, 0)
    first_sound: list[float] = field(default_factory=list)
    first_content: list[float] = field(default_factory=list)
    adopted: float | None = None
    adoption_seconds: float | None = None
    taken_back: float = 0.0
    relevance: float | None = None
    read_back_errors: float | None = None
    requests: float = 0.0
    cost: float = 0.0

    @property
    def facts_share(self) -> float | None:
        """The share of key facts."""
        return self.facts[0] / self.facts[1] if self.facts[1] else None

    def latency(self, share: float = 0.5, *, content: bool = False, clamped: bool = True) -> float:
        """A quantile of the latencies in seconds; nan without any."""
        values = self.first_content if content else self.first_sound
        return quantile([max(0.0, value) for value in values] if clamped else values, share)

    def document(self) -> dict[str, Any]:
        """The summary for JSON."""
        latencies = {
            f"{what}_{how}_{name}": self.latency(share, content=content, clamped=clamped)
            for what, content in (("first_sound", False), ("first_content", True))
            for how, clamped in (("raw", False), ("clamped", True))
            for name, share in (("median", 0.5), ("p90", 0.9))
            if (self.first_content if content else self.first_sound)
        }
        counts = {"facts": list(self.facts), "facts_share": self.facts_share}
        document: dict[str, Any] = rounded({**asdict(self), **counts, **latencies})
        return document


def summarise(
    names: Sequence[tuple[str, str, float]],
    questions: Sequence[Question],
    answers: Iterable[Answer],
    judgements: Iterable[Judgement],
) -> list[Summary]:
    """One summary a system, in the order of `names`: name, base and delay."""
    by_system: dict[str, list[Answer]] = {name: [] for name, _, _ in names}
    for answer in sorted(answers, key=lambda one: one.key):
        by_system.setdefault(answer.system, []).append(answer)
    judged: dict[str, list[Judgement]] = {}
    for judgement in sorted(judgements, key=lambda one: one.key):
        judged.setdefault(judgement.system, []).append(judgement)
    return [
        _summary(Summary(name, base, delay), questions, by_system[name], judged.get(name, []))
        for name, base, delay in names
    ]


def _summary(
    out: Summary, questions: Sequence[Question], answers: Sequence[Answer], judgements: Sequence[Judgement]
) -> Summary:
    out.turns = len(answers)
    out.unanswered = sum(not answer.said for answer in answers)
    out.failures = sum(bool(answer.failure) for answer in answers)
    out.cut_off = sum(answer.cut_off for answer in answers)
    known = [has_fact(answer.question, answer.turn, answer.said) for answer in answers]
    out.facts = sum(one is True for one in known), sum(one is not None for one in known)
    out.first_sound = [answer.first_sound for answer in answers if answer.first_sound is not None]
    out.first_content = [answer.first_content for answer in answers if answer.first_content is not None]
    out.adopted = _mean(answer.adopted for answer in answers)
    out.adoption_seconds = _mean(answer.adoption_seconds for answer in answers)
    if answers:
        out.taken_back = statistics.fmean(answer.taken_back for answer in answers)
        out.requests = statistics.fmean(answer.requests for answer in answers)
    out.cost = sum(answer.cost for answer in answers) + sum(one.cost for one in judgements)
    asked = {(question.number, turn): text for question in questions for turn, text in enumerate(question.turns, 1)}
    spoken = [answer for answer in answers if (answer.question, answer.turn) in asked]
    out.relevance = relevance_gap([(one.question, asked[one.question, one.turn], one.said) for one in spoken])
    pairs = [(answer.said, answer.read_back) for answer in answers if answer.read_back is not None and answer.said]
    out.read_back_errors = compare(pairs).wer if pairs else None
    out.unjudged = sum(one.score == UNJUDGED for one in judgements)
    scored = [one for one in judgements if one.score != UNJUDGED]
    if scored:
        out.by_question = _by_question(questions, scored)
        out.scores = _scores(out.by_question)
        short = {
            category: {number: score for number, score in scores.items() if number not in LONG}
            for category, scores in out.by_question.items()
        }
        short = {category: scores for category, scores in short.items() if scores}
        out.scores_without_long = _scores(short)["average"].mean if short else None
    return out


def _mean(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return statistics.fmean(there) if there else None


def _by_question(questions: Sequence[Question], judgements: Sequence[Judgement]) -> dict[str, dict[int, float]]:
    """The mean score of each question over its turns and runs, by category."""
    by_number: dict[int, list[float]] = {}
    for one in judgements:
        by_number.setdefault(one.question, []).append(one.score)
    out: dict[str, dict[int, float]] = {}
    for question in questions:
        if question.number in by_number:
            out.setdefault(question.category, {})[question.number] = statistics.fmean(by_number[question.number])
    return {category: out[category] for category in CATEGORIES if category in out}


def _scores(by_question: Mapping[str, Mapping[int, float]]) -> dict[str, Score]:
    """Scores by category, and the plain mean of the categories."""
    means = {category: list(scores.values()) for category, scores in by_question.items()}

    def average(groups: Mapping[str, Sequence[float]]) -> float:
        return statistics.fmean(statistics.fmean(values) for values in groups.values())

    out = {category: _interval({category: values}, average) for category, values in means.items()}
    out["average"] = _interval(means, average)
    return out


def _interval(groups: Mapping[str, Sequence[float]], mean: Callable[[Mapping[str, Sequence[float]]], float]) -> Score:
    chance = random.Random(0)
    drawn = sorted(
        mean({name: chance.choices(values, k=len(values)) for name, values in groups.items()}) for _ in range(RESAMPLES)
    )
    return Score(mean(groups), drawn[round(0.025 * (RESAMPLES - 1))], drawn[round(0.975 * (RESAMPLES - 1))])
