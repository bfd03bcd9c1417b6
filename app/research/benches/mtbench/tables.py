"""The tables of a run, in Markdown and as CSV, and what the paper leaves open."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from app.diagnostics.tables import markdown
from app.research.benches.mtbench.questions import CATEGORIES
from app.research.benches.mtbench.scores import PAPER, Score, Summary

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
