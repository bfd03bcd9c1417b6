"""Sums a run up by system: scores with confidence intervals, latencies, measures; as tables, CSV, figures and routes.

The tables are the paper's, with its own rows and a list of what it leaves open. The figures are drawn with matplotlib,
an extra of the app (`figures`). A route names, for a kind of question, the model that answered best.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import math
import random
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from app.diagnostics.tables import markdown, quantile, rounded
from app.research.benches.mtbench.asking import Answer, has_fact, relevance_gap
from app.research.benches.mtbench.judge import UNJUDGED, Judgement
from app.research.benches.mtbench.plan import CATEGORIES, LONG, Kind, Question, System
from app.research.benches.recordings import compare
from app.session.control import BackendChoice

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
        """The share of key facts that were stated."""
        return self.facts[0] / self.facts[1] if self.facts[1] else None

    def latency(self, share: float = 0.5, *, content: bool = False, clamped: bool = True) -> float:
        """Returns a quantile of the latencies in seconds; nan if there are none."""
        values = self.first_content if content else self.first_sound
        return quantile([max(0.0, value) for value in values] if clamped else values, share)

    def document(self) -> dict[str, Any]:
        """Returns the summary for JSON."""
        latencies = {
            f"{what}_{how}_{name}": self.latency(share, content=content, clamped=clamped)
            for what, content in (("first_sound", False), ("first_content", True))
            for how, clamped in (("raw", False), ("clamped", True))
            for name, share in (("median", 0.5), ("p90", 0.9))
            if (self.first_content if content else self.first_sound)
        }
        counts = {"facts": list(self.facts), "facts_share": self.facts_share}
        return rounded({**asdict(self), **counts, **latencies})


def summarise(
    names: Sequence[tuple[str, str, float]],
    questions: Sequence[Question],
    answers: Iterable[Answer],
    judgements: Iterable[Judgement],
) -> list[Summary]:
    """Returns one summary per system, in the order of `names`: name, base and delay."""
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
    """Returns the scores by category, and the unweighted mean of the categories."""
    means = {category: list(scores.values()) for category, scores in by_question.items()}

    def average(groups: Mapping[str, Sequence[float]]) -> float:
        return statistics.fmean(statistics.fmean(values) for values in groups.values())

    out = {category: interval({category: values}, average) for category, values in means.items()}
    out["average"] = interval(means, average)
    return out


def interval(groups: Mapping[str, Sequence[float]], mean: Callable[[Mapping[str, Sequence[float]]], float]) -> Score:
    """Returns `mean` of the values by group, and its 95 % interval, by a bootstrap within each group."""
    chance = random.Random(0)
    drawn = sorted(
        mean({name: chance.choices(values, k=len(values)) for name, values in groups.items()}) for _ in range(RESAMPLES)
    )
    return Score(mean(groups), drawn[round(0.025 * (RESAMPLES - 1))], drawn[round(0.975 * (RESAMPLES - 1))])


MISSING = "The figures were not drawn: they need matplotlib (the extra “figures” of kame-desktop)."


def draw(summaries: Sequence[Summary], folder: Path) -> str:
    """Writes the figures into `folder` as SVG; returns a message about anything left out, or "". Raises OSError."""
    if importlib.util.find_spec("matplotlib") is None:
        return MISSING
    import matplotlib
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    # The same figures give the same bytes.
    with matplotlib.rc_context({"svg.hashsalt": "kame", "font.size": 9, "svg.fonttype": "path"}):
        for name, (title, plot) in _PLOTS.items():
            figure = Figure(figsize=(7.2, 4.4), layout="constrained")
            axes = figure.add_subplot()
            plot(axes, summaries)
            axes.set_title(title)
            axes.grid(alpha=0.3)
            if axes.get_legend_handles_labels()[0]:
                axes.legend(fontsize=8)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    return ""


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
        values = sorted(one.first_sound)
        if values:
            shares = [(place + 1) / len(values) for place in range(len(values))]
            axes.step(values, shares, where="post", label=one.name)
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    axes.set(xlabel="end of question to first sound, s", ylabel="share of turns", ylim=(0, 1.02))


def _categories(axes: Any, summaries: Sequence[Summary]) -> None:
    rows = [
        (one.name, [score.mean if (score := one.scores.get(c)) else math.nan for c in CATEGORIES])
        for one in summaries
        if one.scores
    ]
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


_KINDS: tuple[Kind, ...] = ("kame", "nano", "tandem", "cascade", "typed")


@dataclass(frozen=True, slots=True)
class Route:
    """The best model for a kind of question, with each model's figure. `by`: the measure that decided."""

    kind: str
    backend: BackendChoice
    figures: dict[str, float]
    by: str


def best_routes(
    systems: Sequence[System],
    questions: Sequence[Question],
    answers: Sequence[Answer],
    judgements: Sequence[Judgement],
) -> list[Route]:
    """Returns a route for each kind of question for which one model was better than all others.

    The measure is the judge's scores or, without them, key facts. Models are compared in one kind of system, the first
    of `_KINDS` in which two were measured.
    """
    kinds = {question.number: question.category for question in questions}
    routes = []
    for category in CATEGORIES:
        scored = [one for one in judgements if one.score != UNJUDGED and kinds.get(one.question) == category]
        if scored:
            points = [(one.system, one.score) for one in scored]
        else:
            known = [(one, has_fact(one.question, one.turn, one.said)) for one in answers]
            points = [
                (one.system, float(fact))
                for one, fact in known
                if fact is not None and kinds.get(one.question) == category
            ]
        if (found := _best(systems, points)) is not None:
            backend, figures = found
            routes.append(Route(category, backend, figures, "score" if scored else "share of key facts"))
    return routes


def _best(
    systems: Sequence[System], points: Sequence[tuple[str, float]]
) -> tuple[BackendChoice, dict[str, float]] | None:
    """Returns the back-end with the highest mean of `points` (by system name), and the mean of each model.

    Returns None if no model is better than all others.
    """
    for kind in _KINDS:
        values = {
            system.model: ([value for name, value in points if name == system.name], system.backend)
            for system in systems
            if system.kind == kind and not system.delay
        }
        figures = {model: round(sum(found) / len(found), 4) for model, (found, _) in values.items() if found}
        if len(figures) > 1:
            best, second = sorted(figures, key=lambda model: figures[model], reverse=True)[:2]
            return (values[best][1], figures) if figures[best] > figures[second] else None
    return None


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
    """The paper's table: scores by category, average and median latency, with the paper's own rows."""
    head = ["", *CATEGORIES, "average", "95 %", "without the long", "not judged"]
    head += ["latency p50, s", "p90", "first content p50, s"]
    rows: list[tuple[object, ...]] = []
    for one in summaries:
        average = one.scores.get("average")
        rows.append(
            (
                one.name,
                *(_number(score.mean if score else None) for score in (*map(one.scores.get, CATEGORIES), average)),
                f"{average.low:.2f} to {average.high:.2f}" if average is not None else "–",
                _number(one.scores_without_long),
                one.unjudged,
                *(_number(value) for value in (one.latency(), one.latency(0.9), one.latency(content=True))),
            )
        )
    rows += [
        (name, *(f"{score:.2f}" for score in scores), f"{average:.2f}", "–", "–", "–", _number(latency), "–", "–")
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
            *(_number(one.latency(share, clamped=False)) for share in (0.5, 0.9)),
            *(_number(one.latency(share, content=True, clamped=False)) for share in (0.5, 0.9)),
            one.cut_off,
            _percent(one.adopted),
            _number(one.adoption_seconds),
            f"{one.taken_back:.2f}",
            _number(one.relevance),
            _percent(one.read_back_errors),
            f"{one.requests:.1f}",
            f"{one.cost:.4f}",
        )
        for one in summaries
    ]
    return markdown(head, rows)


def csv_text(summaries: Sequence[Summary]) -> str:
    """Returns the figures as CSV, one line per system."""
    rows = []
    for one in summaries:
        average = one.scores.get("average")
        means = {name: score.mean for name, score in one.scores.items()}
        figures = {
            **{name: means.get(name) for name in (*CATEGORIES, "average")},
            "average_low": average and average.low,
            "average_high": average and average.high,
            "without_long": one.scores_without_long,
            "first_sound_p50": one.latency(clamped=False),
            "first_sound_p90": one.latency(0.9, clamped=False),
            "first_content_p50": one.latency(content=True, clamped=False),
            "adopted": one.adopted,
            "taken_back": one.taken_back,
            "relevance_gap": one.relevance,
            "read_back_wrong": one.read_back_errors,
            "requests": one.requests,
            "cost": one.cost,
        }
        counts = {name: getattr(one, name) for name in ("turns", "unanswered", "failures", "unjudged", "cut_off")}
        counts |= {"key_facts": one.facts[0], "key_facts_of": one.facts[1]}
        cells = {name: "" if value is None or value != value else f"{value:.4f}" for name, value in figures.items()}
        rows.append({"system": one.name, "delay": one.delay, **counts, **cells})
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0] if rows else (), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _number(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f}"
