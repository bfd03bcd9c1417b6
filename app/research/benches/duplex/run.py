"""Runs the samples of a folder through a session, and scores all outputs that are there.

Lets a session hear a sample, and writes what it said: `output.wav` (16 kHz, as long as the input) and its words.

The figures of Full-Duplex-Bench's tasks, by sample and by task, and their tables.
"""

from __future__ import annotations

import asyncio
import json
import statistics
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import soxr

from app.audio.devices.paced import PacedListener
from app.audio.io.files import FileSource
from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS, SAMPLE_RATE
from app.diagnostics.tables import Progress, machine, markdown, paragraphs, quantile, rounded
from app.platform.files import whole_file
from app.research.benches.duplex.metrics import (
    RATE,
    OverlapFigures,
    Word,
    backchannels,
    divergence,
    overlap_figures,
    read_output,
    spans_of,
    takes_over,
    turn_latency,
)
from app.research.benches.duplex.samples import (
    CLEAN,
    CLEAN_OUTPUT,
    CLEAN_WORDS,
    INPUT,
    OUTPUT,
    WORDS,
    Sample,
    Task,
)
from app.research.benches.recordings import MakeSession, read_sound
from app.session.control import SessionChoice
from app.session.errors import UserError
from app.stt.base import TranscriberError
from app.untrusted.files import read_json_file
from app.untrusted.limits import BENCH_RESULT

LONGEST_WORD = 0.6
"""Seconds: a word is not taken to begin earlier than this before its end."""


async def hear(make: MakeSession, choice: SessionChoice, file: Path) -> tuple[np.ndarray, list[Word]]:
    """The assistant's sound (float32 24 kHz, as long as the input) and words for an input, on a loop in simulated time.

    Raises what opening a session raises, TranscriberError or AudioFileError for a sound that can't be read, and
    UserError if nothing was said because something failed.
    """
    length = len(read_sound(file))
    seconds = length / SAMPLE_RATE
    loop = asyncio.get_running_loop()
    talk = make(
        choice,
        FileSource(file),
        PacedListener(loop.time),
        end_with_input=False,
        remember_seconds=seconds + 10.0,
    )
    events: list[e.Event] = []
    async with talk:
        talk.add_listener(events.append)
        while talk.clock() < seconds + FRAME_SECONDS:
            await asyncio.sleep(FRAME_SECONDS)
        said = talk.sound_of("assistant", 0.0, seconds)
    failure = next((event.sentence for event in events if isinstance(event, e.Failure)), "")
    if failure and not any(isinstance(event, e.AssistantSaid) and event.revision for event in events):
        raise UserError(f"The assistant could not answer {file}: {failure}")
    out = np.zeros(length, np.float32)
    if said is not None:
        out[: min(len(out), len(said))] = said[: len(out)]
    return out, words_of(events)


def words_of(events: Sequence[e.Event]) -> list[Word]:
    """The words that were played, with the times of their sound. Events tell when words had been said."""
    out: list[Word] = []
    for event in events:
        if not isinstance(event, e.AssistantSaid):
            continue
        pieces = event.text.split()
        before = out[-1].end if out else 0.0
        begin = max(before, event.at - LONGEST_WORD * len(pieces))
        step = (event.at - begin) / max(1, len(pieces))
        out += [
            Word(piece, round(begin + n * step, 3), round(begin + (n + 1) * step, 3)) for n, piece in enumerate(pieces)
        ]
    return out


def write_output(sound: Path, words_file: Path, samples: np.ndarray, words: Sequence[Word]) -> None:
    """Writes a sound and its words in that bench's form."""
    soundfile.write(sound, soxr.resample(samples, SAMPLE_RATE, RATE), RATE, subtype="PCM_16")
    document: dict[str, Any] = {
        "text": " ".join(word.text for word in words),
        "chunks": [{"text": word.text, "timestamp": [word.begin, word.end]} for word in words],
    }
    with whole_file(words_file) as file:
        file.write(json.dumps(document, ensure_ascii=False, indent=1).encode())


def read_words(file: Path) -> list[Word]:
    """Reads the words of an output, this app's or another's. Raises OSError, ValueError, KeyError and TypeError."""
    chunks = read_json_file(file, BENCH_RESULT)["chunks"]
    found = [(str(one["text"]).strip(), one["timestamp"]) for one in chunks]
    out = []
    for text, (begin, end) in found:
        if text:
            first = float(begin)
            out.append(Word(text, first, float(end) if end is not None else first))
    return out


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


def run_duplex(
    samples: Sequence[Sample],
    make: MakeSession | None,
    run_talk: Callable[[Coroutine[Any, Any, Any]], Any],
    choice: SessionChoice,
    progress: Progress,
    *,
    costs: str = "",
) -> DuplexResult:
    """Lets a session hear every sample, writes its outputs beside the inputs, and scores them. `make` None: only the
    outputs that are there are scored, whoever made them. `costs`: what the stages cost in simulated time.
    Raises UserError and what opening a session raises.
    """
    result = DuplexResult(outputs_only=make is None, costs=costs)
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
        clean = read_words(folder / CLEAN_WORDS) if (folder / CLEAN_WORDS).is_file() else None
        out.overlap = overlap_figures(samples, spans, words, clean, sample.begin, sample.stop)
        return out
    except (TranscriberError, OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"The output of {sample.name} can't be read ({error}). It takes an {OUTPUT} and an {WORDS} with text and "
            "chunks; leave --outputs out to have this app make them."
        ) from error
