"""The tables of a run, in Markdown and as CSV, and what the paper leaves open.

Draws the four figures of a run as SVG, with matplotlib, which is an extra of the app: `figures`.

Makes the router's table from a run: for each kind of question the model that answered best.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.diagnostics.tables import markdown
from app.research.benches.mtbench.asking import Answer, has_fact
from app.research.benches.mtbench.judge import UNJUDGED, Judgement
from app.research.benches.mtbench.questions import CATEGORIES, Question
from app.research.benches.mtbench.scores import PAPER, Score, Summary
from app.research.benches.mtbench.systems import Kind, System
from app.session.control import BackendChoice

MISSING = "The figures were not drawn: they need matplotlib (the extra “figures” of kame-desktop)."
NAMES = ("score-latency", "delay-curve", "latencies", "categories")


def draw(summaries: Sequence[Summary], folder: Path) -> str:
    """Writes `NAMES` into `folder` as SVG; returns what was left out, as a sentence, or "". Raises OSError."""
    if importlib.util.find_spec("matplotlib") is None:
        return MISSING
    import matplotlib
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    # The same figures give the same bytes.
    with matplotlib.rc_context({"svg.hashsalt": "kame", "font.size": 9, "svg.fonttype": "path"}):
        for name, plot in zip(NAMES, (_score_latency, _delay_curve, _latencies, _categories), strict=True):
            figure = Figure(figsize=(7.2, 4.4), layout="constrained")
            plot(figure.add_subplot(), summaries)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    return ""


def quality(one: Summary) -> float | None:
    """The judge's average, or without a judge ten times the share of key facts."""
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
    axes.set_title("Score against latency")
    axes.grid(alpha=0.3)


def _delay_curve(axes: Any, summaries: Sequence[Summary]) -> None:
    for base in dict.fromkeys(one.base for one in summaries):
        points = [(one.delay, score) for one in summaries if one.base == base and (score := quality(one)) is not None]
        axes.plot([delay for delay, _ in points], [score for _, score in points], marker="o", label=base)
    axes.set(xlabel="forced delay before the answer, s", ylabel=_label(summaries), ylim=(0, 10.5))
    axes.set_title("Score by forced delay")
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend(fontsize=8)


def _latencies(axes: Any, summaries: Sequence[Summary]) -> None:
    for one in summaries:
        values = sorted(one.first_sound)
        if values:
            shares = [(place + 1) / len(values) for place in range(len(values))]
            axes.step(values, shares, where="post", label=one.name)
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    axes.set(xlabel="end of question to first sound, s", ylabel="share of turns", ylim=(0, 1.02))
    axes.set_title("Distribution of latencies")
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8)


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
    axes.set_title("Score by category")
    axes.legend(fontsize=7)


_KINDS: tuple[Kind, ...] = ("kame", "nano", "tandem", "cascade", "typed")


@dataclass(frozen=True, slots=True)
class Route:
    """The best model for a kind of question, and the figure of each model that decided (`by`: what the figures are)."""

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
    """One route for each kind of question for which one model was better than every other: by the judge's scores, or
    else by key facts. Models are compared in one kind of system, the first of `_KINDS` in which two were measured.
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
    """The back-end with the highest mean of `points` (by the systems' names), and the mean of each model; None without
    one that is better than all others.
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
                *(_score(one.scores.get(category)) for category in CATEGORIES),
                _score(average),
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
    """What needs no judge."""
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
    """One line a system, with its figures."""
    out = io.StringIO()
    columns = ["system", "delay", "turns", "unanswered", "failures", "unjudged", "cut_off", "key_facts", "key_facts_of"]
    columns += [*CATEGORIES, "average", "average_low", "average_high", "without_long", "first_sound_p50"]
    columns += ["first_sound_p90", "first_content_p50", "adopted", "taken_back", "relevance_gap", "read_back_wrong"]
    columns += ["requests", "cost"]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for one in summaries:
        average = one.scores.get("average")
        writer.writerow(
            [one.name, one.delay, one.turns, one.unanswered, one.failures, one.unjudged, one.cut_off, *one.facts]
            + [_cell(score.mean if (score := one.scores.get(name)) else None) for name in (*CATEGORIES, "average")]
            + [_cell(average.low if average else None), _cell(average.high if average else None)]
            + [_cell(one.scores_without_long)]
            + [_cell(one.latency(clamped=False)), _cell(one.latency(0.9, clamped=False))]
            + [_cell(one.latency(content=True, clamped=False)), _cell(one.adopted), _cell(one.taken_back)]
            + [_cell(one.relevance), _cell(one.read_back_errors), _cell(one.requests), _cell(one.cost)]
        )
    return out.getvalue()


def _score(score: Score | None) -> str:
    return "–" if score is None else f"{score.mean:.2f}"


def _number(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f}"


def _cell(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:.4f}"
