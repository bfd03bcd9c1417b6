"""Draws the four figures of a run as SVG, with matplotlib, which is an extra of the app: `figures`."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.research.benches.mtbench.questions import CATEGORIES
from app.research.benches.mtbench.scores import PAPER, Summary

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
