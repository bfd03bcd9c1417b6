"""Runs the samples of a folder through a session, scores all outputs that are there, and sums up by task."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from app.evaluation.duplex.metrics import (
    OverlapFigures,
    backchannels,
    divergence,
    overlap_figures,
    takes_over,
    turn_latency,
)
from app.evaluation.duplex.samples import (
    CLEAN,
    CLEAN_OUTPUT,
    CLEAN_WORDS,
    INPUT,
    OUTPUT,
    WORDS,
    Sample,
    Task,
)
from app.evaluation.duplex.speaking import hear, read_words, write_output
from app.evaluation.duplex.voice import read_output, spans_of
from app.evaluation.report import Progress, machine, markdown, quantile, rounded
from app.evaluation.spoken_questions import MakeSession
from app.session.control import SessionChoice
from app.session.errors import UserError


@dataclass(slots=True)
class Scored:
    """One sample's figures: those of its task, None where they don't apply."""

    sample: str
    task: Task
    takeover: bool | None = None
    latency: float | None = None
    rate: float | None = None
    divergence: float | None = None
    overlap: OverlapFigures | None = None


@dataclass(slots=True)
class DuplexResult:
    """All samples' figures. `simulated`: in simulated time; `outputs_only`: outputs that were there already."""

    scored: list[Scored] = field(default_factory=list)
    outputs_only: bool = False

    def table(self) -> str:
        """The result as two Markdown tables: version 1's tasks and version 1.5's."""
        source = "outputs that were there" if self.outputs_only else "this app in simulated time"
        lines = [f"Full-Duplex-Bench's tasks, {source}, {machine()}", ""]
        by_task = self._by_task()
        rows: list[tuple[object, ...]] = [
            (
                task,
                len(group),
                _share([one.takeover for one in group]),
                _number([one.latency for one in group]),
                _number([one.rate for one in group], 3),
                _number([one.divergence for one in group]),
            )
            for task, group in by_task.items()
            if not task.startswith("overlap")
        ]
        head: tuple[str, ...] = ("task", "samples", "takeover rate", "latency p50, s")
        head += ("backchannels a second", "divergence")
        lines += markdown(head, rows) if rows else []
        rows = [_overlap_row(task, group) for task, group in by_task.items() if task.startswith("overlap")]
        if rows:
            head = ("over the assistant", "samples", "it spoke", "responds", "resumes", "uncertain", "stops after, s")
            head += ("speaks again after, s", "words a second", "pitch, Hz", "loudness, dB")
            lines += ["", *markdown(head, rows)] if lines[-1] else markdown(head, rows)
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """The result for JSON."""
        tasks = []
        for task, group in self._by_task().items():
            figures = [one.overlap for one in group if one.overlap is not None]
            tasks.append(
                {
                    "task": task,
                    "samples": len(group),
                    "takeover_rate": _mean([one.takeover for one in group]),
                    "latency_p50": _median([one.latency for one in group]),
                    "backchannels_rate": _mean([one.rate for one in group]),
                    "divergence": _mean([one.divergence for one in group]),
                    **{f"{name}_share": _mean([f.behaviour == name for f in figures]) for name in _BEHAVIOURS},
                    "stop_seconds_p50": _median([f.stop for f in figures]),
                    "gap_seconds_p50": _median([f.gap for f in figures]),
                }
            )
        document: dict[str, Any] = rounded(
            {"bench": "duplex", "machine": machine(), "tasks": tasks, "samples": [asdict(one) for one in self.scored]}
        )
        return document

    def _by_task(self) -> dict[Task, list[Scored]]:
        out: dict[Task, list[Scored]] = {}
        for one in self.scored:
            out.setdefault(one.task, []).append(one)
        return out


_BEHAVIOURS = ("respond", "resume", "uncertain")


def _overlap_row(task: Task, group: Sequence[Scored]) -> tuple[object, ...]:
    figures = [one.overlap for one in group if one.overlap is not None]
    changes = (
        f"{_number([f.rate[0] for f in figures], 1)} → {_number([f.rate[1] for f in figures], 1)}",
        f"{_number([f.pitch[0] for f in figures], 0)} → {_number([f.pitch[1] for f in figures], 0)}",
        f"{_number([f.loudness[0] for f in figures], 0)} → {_number([f.loudness[1] for f in figures], 0)}",
    )
    return (
        task,
        len(group),
        sum(f.spoke for f in figures),
        *(_share([f.behaviour == name for f in figures]) for name in _BEHAVIOURS),
        _number([f.stop for f in figures]),
        _number([f.gap for f in figures]),
        *changes,
    )


def _mean(values: Sequence[float | bool | None]) -> float | None:
    there = [float(value) for value in values if value is not None]
    return statistics.fmean(there) if there else None


def _median(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return quantile(there, 0.5) if there else None


def _share(values: Sequence[bool | None]) -> str:
    mean = _mean(values)
    return "–" if mean is None else f"{mean:.2f}"


def _number(values: Sequence[float | None], digits: int = 2) -> str:
    median = _median(values)
    return "–" if median is None else f"{median:.{digits}f}"


def run_duplex(
    samples: Sequence[Sample],
    make: MakeSession | None,
    run_talk: Callable[[Coroutine[Any, Any, Any]], Any],
    choice: SessionChoice,
    progress: Progress,
) -> DuplexResult:
    """Lets a session hear every sample, writes its outputs beside the inputs, and scores them. `make` None: only the
    outputs that are there are scored, whoever made them. Raises UserError and what opening a session raises.
    """
    result = DuplexResult(outputs_only=make is None)
    for place, sample in enumerate(samples, 1):
        progress(f"sample {place} of {len(samples)}: {sample.name}")
        if make is not None:
            pairs = [(INPUT, OUTPUT, WORDS)] + [(CLEAN, CLEAN_OUTPUT, CLEAN_WORDS)] * sample.has_clean_twin
            for heard, sound, words in pairs:
                folder = sample.folder
                write_output(folder / sound, folder / words, *run_talk(hear(make, choice, folder / heard)))
        result.scored.append(score(sample))
    return result


def score(sample: Sample) -> Scored:
    """Scores the output of a sample. Raises UserError if it can't be read."""
    out = Scored(sample.name, sample.task)
    folder = sample.folder
    try:
        words = read_words(folder / WORDS)
        if sample.task in ("pause handling", "user interruption", "smooth turn taking"):
            if sample.task == "user interruption":
                words = [word for word in words if word.begin >= sample.end]
            out.takeover = takes_over(words)
            if sample.task != "pause handling":
                out.latency = turn_latency(words, sample.end)
            return out
        samples = read_output(str(folder / OUTPUT))
        spans = spans_of(samples)
        if sample.task == "backchannel":
            found = backchannels(spans, words)
            out.takeover, out.rate = found.takeover, found.rate(len(samples) / 24_000)
            out.divergence = divergence(found.times, sample.people) if sample.people else None
            return out
        clean = read_words(folder / CLEAN_WORDS) if (folder / CLEAN_WORDS).is_file() else []
        out.overlap = overlap_figures(samples, spans, words, clean, sample.begin, sample.stop)
        return out
    except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"The output of {sample.name} can't be read ({error}). It takes an {OUTPUT} and an {WORDS} with text and "
            "chunks; leave --outputs out to have this app make them."
        ) from error
