"""Sums a run up: by system, scores with confidence intervals, latencies, and the measures without a judge."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from app.diagnostics.tables import quantile, rounded
from app.research.benches.mtbench.answer import Answer
from app.research.benches.mtbench.facts import has_fact
from app.research.benches.mtbench.judge import UNJUDGED, Judgement
from app.research.benches.mtbench.measures import relevance_gap
from app.research.benches.mtbench.questions import CATEGORIES, LONG, Question
from app.research.benches.word_errors import compare

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
