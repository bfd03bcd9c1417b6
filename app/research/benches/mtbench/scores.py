"""Summarises a run by system: scores with confidence intervals, latencies and other measures.

The output is tables, CSV and figures. The tables follow the paper's, include its rows, and list what it leaves open.
The figures are drawn with matplotlib, an extra of the app (`figures`).
"""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from app.diagnostics.tables import markdown, quantile, rounded
from app.research.benches.mtbench.asking import Answer, has_fact, relevance_gap
from app.research.benches.mtbench.judge import UNJUDGED, Judgement
from app.research.benches.mtbench.plan import CATEGORIES, LONG, Question
from app.research.benches.recordings import compare
from app.research.results import NOT_DRAWN, draw, grouped, known, mean, shown

RESAMPLES = 1000
"""Number of bootstrap samples over the questions, for the 95 % interval of a score."""

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
    """The figures of one system; shares are from 0 to 1.

    - `scores`: by category, and their mean under "average"; empty without a judge
    - `by_question`: the mean score of each question, by category
    - `failures`: number of turns in which something failed
    - `facts`: number of turns that state their key fact, and of turns that have one
    - `first_sound`, `first_content`: seconds from the end of the question, negative before it
    - `requests`, `taken_back`: mean per turn
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
        """The share of key facts that were stated."""
        return self.facts[0] / self.facts[1] if self.facts[1] else None

    def latency(self, share: float = 0.5, *, content: bool = False, clamped: bool = True) -> float:
        """Returns a quantile of the latencies in seconds; NaN if there are none. `clamped`: negatives count as 0."""
        values = self.first_content if content else self.first_sound
        return quantile([max(0.0, value) for value in values] if clamped else values, share)

    def document(self) -> dict[str, Any]:
        """Returns the summary as a JSON-serialisable dict."""
        latencies = {
            f"{what}_{how}_{name}": self.latency(share, content=content, clamped=clamped)
            for what, content in (("first_sound", False), ("first_content", True))
            for how, clamped in (("raw", False), ("clamped", True))
            for name, share in (("median", 0.5), ("p90", 0.9))
            if (self.first_content if content else self.first_sound)
        }
        return rounded({**asdict(self), "facts_share": self.facts_share, **latencies})


def summarise(
    names: Sequence[tuple[str, str, float]],
    questions: Sequence[Question],
    answers: Iterable[Answer],
    judgements: Iterable[Judgement],
) -> list[Summary]:
    """Returns one summary per system, in the order of `names`: name, base and delay."""
    by_system = grouped(sorted(answers, key=lambda one: one.key), lambda one: one.system)
    judged = grouped(sorted(judgements, key=lambda one: one.key), lambda one: one.system)
    return [
        _summary(Summary(name, base, delay), questions, by_system.get(name, []), judged.get(name, []))
        for name, base, delay in names
    ]


def _summary(
    out: Summary, questions: Sequence[Question], answers: Sequence[Answer], judgements: Sequence[Judgement]
) -> Summary:
    out.turns = len(answers)
    out.unanswered = sum(not answer.said for answer in answers)
    out.failures = sum(bool(answer.failure) for answer in answers)
    out.cut_off = sum(answer.cut_off for answer in answers)
    facts = known(has_fact(answer.question, answer.turn, answer.said) for answer in answers)
    out.facts = sum(facts), len(facts)
    out.first_sound = known(answer.first_sound for answer in answers)
    out.first_content = known(answer.first_content for answer in answers)
    out.adopted = mean(answer.adopted for answer in answers)
    out.adoption_seconds = mean(answer.adoption_seconds for answer in answers)
    out.taken_back = mean(answer.taken_back for answer in answers) or 0.0
    out.requests = mean(answer.requests for answer in answers) or 0.0
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


def _by_question(questions: Sequence[Question], judgements: Sequence[Judgement]) -> dict[str, dict[int, float]]:
    """Returns the mean score of each question over its turns and runs, by category."""
    by_number = grouped(judgements, lambda one: one.question)
    out = {
        category: {
            question.number: statistics.fmean(one.score for one in by_number[question.number])
            for question in questions
            if question.category == category and question.number in by_number
        }
        for category in CATEGORIES
    }
    return {category: scores for category, scores in out.items() if scores}


def _scores(by_question: Mapping[str, Mapping[int, float]]) -> dict[str, Score]:
    """Returns the scores by category, and the unweighted mean of the categories."""
    means = {category: list(scores.values()) for category, scores in by_question.items()}
    return {**{category: interval([values]) for category, values in means.items()}, "average": interval(means.values())}


def interval(groups: Iterable[Sequence[float]]) -> Score:
    """Returns the unweighted mean of the groups' means, and its 95 % interval, by a bootstrap within each group."""
    rng, values = np.random.default_rng(0), [np.array(group) for group in groups]
    drawn = np.mean([rng.choice(group, (RESAMPLES, len(group))).mean(axis=1) for group in values], axis=0)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Score(float(np.mean([group.mean() for group in values])), float(low), float(high))


def draw_all(summaries: Sequence[Summary], folder: Path) -> str:
    """Writes the figures into `folder` as SVG; returns a message about anything left out, or "". Raises OSError."""
    drawn = [
        draw(folder / f"{name}.svg", title, partial(plot, summaries=summaries))
        for name, (title, plot) in _PLOTS.items()
    ]
    return "" if all(drawn) else NOT_DRAWN


def quality(one: Summary) -> float | None:
    """Returns the judge's average or, without a judge, ten times the share of key facts."""
    average = one.scores.get("average")
    if average is not None:
        return average.mean
    return None if one.facts_share is None else 10 * one.facts_share


def _label(summaries: Sequence[Summary]) -> str:
    judged = any(one.scores for one in summaries)
    return "judge's score (1 to 10)" if judged else "key facts, of 10 (no judge)"


def _score_latency(axes: Any, summaries: Sequence[Summary]) -> None:
    for one in summaries:
        score, latency = quality(one), one.latency()
        if score is None or latency != latency:
            continue
        axes.scatter([latency], [score], s=45)
        axes.annotate(one.name, (latency, score), xytext=(5, 5), textcoords="offset points")
    judged = any(one.scores for one in summaries)
    for name, *_, average, told in PAPER:
        if told is not None and judged:
            axes.scatter([told], [average], s=30, marker="x", color="0.5")
            axes.annotate(name, (told, average), xytext=(5, -10), textcoords="offset points", color="0.5")
    axes.set(xlabel="median latency to the first sound, s (below 0: 0)", ylabel=_label(summaries), ylim=(0, 10.5))


def _delay_curve(axes: Any, summaries: Sequence[Summary]) -> None:
    for base in dict.fromkeys(one.base for one in summaries):
        points = [(one.delay, score) for one in summaries if one.base == base and (score := quality(one)) is not None]
        axes.plot([delay for delay, _ in points], [score for _, score in points], marker="o", label=base)
    axes.set(xlabel="forced delay before the answer, s", ylabel=_label(summaries), ylim=(0, 10.5))


def _latencies(axes: Any, summaries: Sequence[Summary]) -> None:
    for one in summaries:
        if one.first_sound:
            axes.ecdf(one.first_sound, label=one.name)
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    axes.set(xlabel="end of question to first sound, s", ylabel="share of turns", ylim=(0, 1.02))


def _categories(axes: Any, summaries: Sequence[Summary]) -> None:
    there = [one for one in summaries if one.scores]
    rows = [(one.name, [one.scores[c].mean if c in one.scores else math.nan for c in CATEGORIES]) for one in there]
    rows += [(name, list(scores)) for name, *scores, _, _ in PAPER]
    width = 0.8 / max(1, len(rows))
    for place, (name, values) in enumerate(rows):
        axes.bar([x + place * width for x in range(len(CATEGORIES))], values, width, label=name)
    axes.set_xticks([x + 0.4 - width / 2 for x in range(len(CATEGORIES))], CATEGORIES)
    axes.set(ylabel="judge's score (1 to 10)", ylim=(0, 10.5))


_PLOTS = {
    "score-latency": ("Score against latency", _score_latency),
    "delay-curve": ("Score by forced delay", _delay_curve),
    "latencies": ("Distribution of latencies", _latencies),
    "categories": ("Score by category", _categories),
}


CHOICES = (
    "The paper names neither its judge model, nor the voice of the questions, nor the steps of the delay. Here the "
    "judge is the one that the command names, the questions are recordings or the app's voice, and the delays are "
    "those of --delays.",
    "The paper does not say whether the inner text or a transcript of the sound was judged. Here it is the words that "
    "were played, by the app's own account; the word errors of another recogniser stand beside.",
    "The paper does not say when the second turn starts. Here it starts one second after the voice has stopped.",
    "The paper does not say how the four longest questions (105, 106, 110, 157) were read. Here they are spoken in "
    "full, and the average without them stands beside.",
    "The judge's prompts set FastChat's task in other words, so scores can be compared with the paper's only roughly.",
)


def score_table(summaries: Sequence[Summary]) -> list[str]:
    """Returns the paper's table (scores by category, average, latency) with the paper's own rows."""
    head = ["", *CATEGORIES, "average", "95 %", "without the long", "not judged"]
    head += ["latency p50, s", "p90", "first content p50, s"]
    rows: list[tuple[object, ...]] = []
    for one in summaries:
        average = one.scores.get("average")
        rows.append(
            (
                one.name,
                *(shown(score.mean if score else None) for score in (*map(one.scores.get, CATEGORIES), average)),
                f"{average.low:.2f} to {average.high:.2f}" if average is not None else "–",
                shown(one.scores_without_long),
                one.unjudged,
                *(shown(value) for value in (one.latency(), one.latency(0.9), one.latency(content=True))),
            )
        )
    rows += [
        (name, *(f"{score:.2f}" for score in scores), f"{average:.2f}", "–", "–", "–", shown(latency), "–", "–")
        for name, *scores, average, latency in PAPER
    ]
    return markdown(head, rows)


def measure_table(summaries: Sequence[Summary]) -> list[str]:
    """Returns the table of measures that need no judge."""
    head = ["", "turns", "no answer", "failures", "key facts", "of", "first sound p50, s", "p90"]
    head += ["first content p50, s", "p90", "began before the end", "oracle said, %", "after, s", "taken back"]
    head += ["relevance gap", "read back wrong, %", "requests", "cost, $"]
    rows = [
        (
            one.name,
            *(one.turns, one.unanswered, one.failures, *one.facts),
            *(shown(one.latency(share, clamped=False)) for share in (0.5, 0.9)),
            *(shown(one.latency(share, content=True, clamped=False)) for share in (0.5, 0.9)),
            one.cut_off,
            _percent(one.adopted),
            shown(one.adoption_seconds),
            f"{one.taken_back:.2f}",
            shown(one.relevance),
            _percent(one.read_back_errors),
            f"{one.requests:.1f}",
            f"{one.cost:.4f}",
        )
        for one in summaries
    ]
    return markdown(head, rows)


def csv_text(summaries: Sequence[Summary]) -> str:
    """Returns the figures as CSV, one line per system; each column is named by the path of a figure in the document."""
    rows = [{**dict(_flat(one.document())), "facts": one.facts[0], "facts_of": one.facts[1]} for one in summaries]
    out = io.StringIO()
    writer = csv.DictWriter(out, dict.fromkeys(name for row in rows for name in row), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _flat(document: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        if isinstance(value, dict) and name != "by_question":
            yield from _flat(value, f"{path}{name}_")
        elif not isinstance(value, dict | list):
            yield f"{path}{name}", value


def _percent(value: float | None) -> str:
    return shown(None if value is None else 100 * value, 0)
