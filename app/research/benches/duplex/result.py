"""The figures of Full-Duplex-Bench's tasks, by sample and by task, and their tables."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from app.diagnostics.tables import machine, markdown, paragraphs, quantile, rounded
from app.research.benches.duplex.metrics import OverlapFigures
from app.research.benches.duplex.samples import Task


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
    """All samples' figures. `outputs_only`: of outputs that were there already."""

    scored: list[Scored] = field(default_factory=list)
    outputs_only: bool = False
    costs: str = ""
    """What the stages cost in simulated time."""

    def table(self) -> str:
        """The result as two Markdown tables: version 1's tasks and version 1.5's."""
        source = "outputs that were there" if self.outputs_only else "this app in simulated time"
        lines = [f"Full-Duplex-Bench's tasks, {source}, {machine()}", ""]
        by_task = self._by_task()
        rows: list[tuple[object, ...]] = [
            (
                task,
                len(group),
                _text(_mean([one.takeover for one in group])),
                _number(latencies(group)),
                _text(_mean(latencies(group))),
                _number([one.rate for one in group], 3),
                _number([one.divergence for one in group]),
            )
            for task, group in by_task.items()
            if not task.startswith("overlap")
        ]
        head: tuple[str, ...] = ("task", "samples", "takeover rate", "latency p50, s", "mean")
        head += ("backchannels a second", "divergence")
        lines += markdown(head, rows) if rows else []
        rows = [_overlap_row(task, group) for task, group in by_task.items() if task.startswith("overlap")]
        if rows:
            head = ("over the assistant", "samples", "it spoke", "responds", "resumes", "uncertain", "stops after, s")
            head += ("speaks again after, s", "words a second", "pitch, Hz", "loudness, dB")
            lines += ["", *markdown(head, rows)] if lines[-1] else markdown(head, rows)
        lines += paragraphs([self.costs] if self.costs else [])
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
                    "latency_p50": _median(latencies(group)),
                    "latency_mean": _mean(latencies(group)),
                    "backchannels_rate": _mean([one.rate for one in group]),
                    "divergence": _mean([one.divergence for one in group]),
                    **{f"{name}_share": _behaves(figures, name) for name in _BEHAVIOURS},
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


def latencies(group: Sequence[Scored]) -> list[float]:
    """The latencies of the samples in which the turn was taken."""
    return [one.latency for one in group if one.takeover and one.latency is not None]


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
        *(_text(_behaves(figures, name)) for name in _BEHAVIOURS),
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


def _behaves(figures: Sequence[OverlapFigures], name: str) -> float | None:
    """The share of a behaviour among the samples in which it is known."""
    return _mean([one.behaviour == name for one in figures if one.behaviour is not None])


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _number(values: Sequence[float | None], digits: int = 2) -> str:
    median = _median(values)
    return "–" if median is None else f"{median:.{digits}f}"
