"""Plays the samples of a folder to a session, and scores the available outputs by sample and by task.

The metrics are those of Full-Duplex-Bench's papers (v1: arXiv 2503.04721; v1.5: arXiv 2507.23159). They are computed
from an output's words, its voiced spans, and its pitch and loudness. An output is aligned with its input.
"""

from __future__ import annotations

import asyncio
import math
import statistics
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from app.audio.devices.paced import PacedListener
from app.audio.io.files import FileSource
from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS, SAMPLE_RATE
from app.diagnostics.tables import Progress, machine, markdown, paragraphs, quantile, rounded
from app.research.benches.duplex.samples import (
    CLEAN,
    CLEAN_OUTPUT,
    CLEAN_WORDS,
    INPUT,
    OUTPUT,
    WORDS,
    Sample,
    Task,
    Word,
    read_words,
    words_of,
    write_output,
)
from app.research.benches.mtbench.asking import content_words
from app.research.benches.pauses import voice_spans
from app.research.benches.recordings import MakeSession, read_sound
from app.session.control import SessionChoice
from app.session.errors import UserError
from app.stt.base import TranscriberError
from app.stt.silero import SileroVoiceActivity

JOINED_SECONDS = 0.2
"""A shorter silence does not end a voiced span."""
LOWEST_HZ, HIGHEST_HZ = 65.0, 400.0
PITCH_WINDOW = 0.04
VOICED = 0.6
"""Minimum normalised autocorrelation for a window to have a pitch."""

Span = tuple[float, float]


def spans_of(samples: np.ndarray) -> list[Span]:
    """Returns the start and end in seconds of each voiced span in float32 24 kHz audio, by the app's voice detector."""
    activity = SileroVoiceActivity()
    activity.load()
    padded = np.pad(samples, (0, -len(samples) % 1920))
    joined: list[Span] = []
    for begin, end in voice_spans(padded, activity):
        if joined and begin - joined[-1][1] < JOINED_SECONDS:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((begin, end))
    return joined


def loudness(samples: np.ndarray, spans: Sequence[Span], begin: float, end: float) -> float | None:
    """Returns the RMS in dBFS of the voiced spans between two seconds; None if there are none."""
    stretches = [(max(begin, start), min(end, stop)) for start, stop in spans if start < end and stop > begin]
    parts = [samples[round(start * SAMPLE_RATE) : round(stop * SAMPLE_RATE)] for start, stop in stretches]
    part = np.concatenate(parts) if parts else np.zeros(0, np.float32)
    power = float(np.mean(np.square(part))) if len(part) else 0.0
    return 10 * float(np.log10(power)) if power > 1e-8 else None


def pitch(samples: np.ndarray, begin: float, end: float) -> float | None:
    """Returns the median pitch in hertz between two seconds, by autocorrelation; None if nothing is voiced."""
    size = round(PITCH_WINDOW * SAMPLE_RATE)
    shortest, longest = round(SAMPLE_RATE / HIGHEST_HZ), round(SAMPLE_RATE / LOWEST_HZ)
    found = []
    bounds = range(round(begin * SAMPLE_RATE), min(round(end * SAMPLE_RATE), len(samples)) - size, size // 2)
    for start in bounds:
        window = samples[start : start + size] - samples[start : start + size].mean()
        energy = float(np.dot(window, window))
        if energy < 1e-4:
            continue
        full = np.correlate(window, window, "full")[size - 1 :]
        # Longer lags overlap less: each is compared with the energy of what overlaps.
        scale = np.sqrt(np.cumsum(np.square(window))[::-1] * np.cumsum(np.square(window[::-1]))[::-1])
        shares = full[shortest:longest] / np.maximum(scale[shortest:longest], 1e-9)
        best = int(np.argmax(shares))
        if shares[best] >= VOICED:
            # The first lag that is nearly as good: its multiples are as good, too.
            first = next(lag for lag, share in enumerate(shares) if share >= 0.9 * shares[best])
            while first + 1 < len(shares) and shares[first + 1] > shares[first]:
                first += 1
            found.append(SAMPLE_RATE / (shortest + first))
    return float(np.median(found)) if found else None


SHORT_SECONDS, SHORT_WORDS = 1.0, 3
"""An output that is shorter than this, with at most this many words, does not take over the turn."""
TAKEOVER_SECONDS, TAKEOVER_WORDS = 3.0, 3
"""A span that is longer, or has more words, is not a backchannel."""
BACKCHANNEL_SECONDS, BACKCHANNEL_WORDS = 1.0, 2
BIN_SECONDS = 0.2
RESUMED_SHARE = 0.5
"""Minimum share of the content words after an event that also occur in the output without it, for the answer to
count as resumed."""

Behaviour = Literal["respond", "resume", "uncertain"]


def takes_over(words: Sequence[Word]) -> bool:
    """Whether an output takes over the turn: it is longer or has more words than a short backchannel."""
    if not words:
        return False
    seconds = words[-1].end - words[0].begin
    return not (seconds < SHORT_SECONDS and len(words) <= SHORT_WORDS)


def turn_latency(words: Sequence[Word], end: float) -> float | None:
    """Returns the seconds from the end of the user's turn to the first word, at least 0; None without words."""
    return max(0.0, words[0].begin - end) if words else None


@dataclass(frozen=True, slots=True)
class Backchannels:
    """The spans of an output. `takeover`: whether any exceeds a backchannel; `times`: the others, in seconds."""

    takeover: bool
    times: tuple[float, ...]

    def rate(self, seconds: float) -> float:
        """Returns the number of backchannels per second."""
        return len(self.times) / seconds if seconds else 0.0


def backchannels(spans: Sequence[Span], words: Sequence[Word]) -> Backchannels:
    """Classifies the spans of an output."""
    takeover, times = False, []
    for begin, end in spans:
        count = sum(begin - 0.1 <= (word.begin + word.end) / 2 <= end + 0.1 for word in words)
        if end - begin > TAKEOVER_SECONDS or count > TAKEOVER_WORDS:
            takeover = True
        elif end - begin < BACKCHANNEL_SECONDS and count <= BACKCHANNEL_WORDS:
            times.append(begin)
    return Backchannels(takeover, tuple(times))


def divergence(times: Sequence[float], people: Sequence[float]) -> float:
    """The Jensen-Shannon divergence (base 2, from 0 to 1) of the times' bins of 0.2 s and those of people. Without any
    backchannel it is 1.
    """
    own = np.zeros(len(people))
    for at in times:
        own[min(len(people) - 1, int(at / BIN_SECONDS))] += 1
    theirs = np.asarray(people, float)
    if not own.sum() or not theirs.sum():
        return 1.0
    p, q = own / own.sum(), theirs / theirs.sum()
    middle = (p + q) / 2
    return float((_kl(p, middle) + _kl(q, middle)) / 2)


def _kl(p: np.ndarray, q: np.ndarray) -> float:
    there = p > 0
    return float(np.sum(p[there] * np.log2(p[there] / q[there])))


@dataclass(frozen=True, slots=True)
class OverlapFigures:
    """The reaction to something said over the assistant. `behaviour`: None if it is not known what the assistant would
    have said. Seconds: `stop`, from its begin until the assistant fell silent; None if it was silent then or went on to
    the event's end; `gap`, from its end until the assistant spoke again, None if it had not stopped. Before and after:
    words a second, hertz, dBFS of the voice.
    """

    spoke: bool
    behaviour: Behaviour | None
    stop: float | None
    gap: float | None
    rate: tuple[float | None, float | None]
    pitch: tuple[float | None, float | None]
    loudness: tuple[float | None, float | None]


def overlap_figures(
    samples: np.ndarray,
    spans: Sequence[Span],
    words: Sequence[Word],
    clean_words: Sequence[Word] | None,
    begin: float,
    end: float,
) -> OverlapFigures:
    """The reaction to an event from second `begin` to `end`. `clean_words`: those of the output without the event, None
    if there is none.
    """
    fell_silent = next((stop for start, stop in spans if start < begin < stop), None)
    stopped = fell_silent is not None and fell_silent < end
    after = next((start - end for start, _ in spans if start >= end), None)
    before = [word for word in words if word.end <= begin]
    later = [word for word in words if word.begin >= begin]
    length = len(samples) / SAMPLE_RATE
    return OverlapFigures(
        fell_silent is not None,
        None if clean_words is None else behaviour(later, clean_words, begin),
        fell_silent - begin if fell_silent is not None and stopped else None,
        after if stopped or fell_silent is None else None,
        (_rate(before), _rate(later)),
        (pitch(samples, 0.0, begin), pitch(samples, begin, length)),
        (loudness(samples, spans, 0.0, begin), loudness(samples, spans, begin, length)),
    )


def behaviour(later: Sequence[Word], clean: Sequence[Word], begin: float) -> Behaviour:
    """Classifies the output after an event: resuming the original answer, saying something else, or silence.

    Full-Duplex-Bench asks a language model; here the output without the event is used for comparison.
    """
    said = content_words(" ".join(word.text for word in later))
    if not said:
        return "uncertain"
    would = set(content_words(" ".join(word.text for word in clean if word.end > begin)))
    return "resume" if sum(word in would for word in said) / len(said) >= RESUMED_SHARE else "respond"


def _rate(words: Sequence[Word]) -> float | None:
    if len(words) < 2:
        return None
    seconds = words[-1].end - words[0].begin
    return len(words) / seconds if seconds > 0 and math.isfinite(seconds) else None


async def hear(make: MakeSession, choice: SessionChoice, file: Path) -> tuple[np.ndarray, list[Word]]:
    """Plays an input to a session and returns the assistant's audio (float32 24 kHz, as long as the input) and words.

    Requires a loop in simulated time. Raises whatever opening a session raises, TranscriberError or AudioFileError for
    unreadable audio, and UserError if nothing was said because of a failure.
    """
    length = len(read_sound(file))
    seconds = length / SAMPLE_RATE
    loop = asyncio.get_running_loop()
    how: dict[str, Any] = {"end_with_input": False, "remember_seconds": seconds + 10.0}
    talk = make(choice, FileSource(file), PacedListener(loop.time), **how)
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
    """The figures of all samples. `outputs_only`: whether existing outputs were scored."""

    scored: list[Scored] = field(default_factory=list)
    outputs_only: bool = False
    costs: str = ""
    """What the stages cost in simulated time."""

    def table(self) -> str:
        """Returns the result as two Markdown tables: version 1's tasks and version 1.5's."""
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
        """Returns the result for JSON."""
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
        return rounded(
            {"bench": "duplex", "machine": machine(), "tasks": tasks, "samples": [asdict(one) for one in self.scored]}
        )

    def _by_task(self) -> dict[Task, list[Scored]]:
        out: dict[Task, list[Scored]] = {}
        for one in self.scored:
            out.setdefault(one.task, []).append(one)
        return out


def latencies(group: Sequence[Scored]) -> list[float]:
    """Returns the latencies of the samples in which the turn was taken."""
    return [one.latency for one in group if one.takeover and one.latency is not None]


_BEHAVIOURS = ("respond", "resume", "uncertain")


def _overlap_row(task: Task, group: Sequence[Scored]) -> tuple[object, ...]:
    figures = [one.overlap for one in group if one.overlap is not None]
    pairs = ([f.rate for f in figures], 1), ([f.pitch for f in figures], 0), ([f.loudness for f in figures], 0)
    changes = (" → ".join(_number(side, digits) for side in zip(*values, strict=True)) for values, digits in pairs)
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
    """Returns the share of a behaviour among the samples for which it is known."""
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
    """Plays every sample to a session, writes its outputs next to the inputs, and scores them.

    `make`: None only scores existing outputs, whoever created them. `costs`: the stage costs in simulated time. Raises
    UserError and whatever opening a session raises.
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
        samples = read_sound(folder / OUTPUT)
        spans = spans_of(samples)
        if sample.task == "backchannel":
            found = backchannels(spans, words)
            out.takeover, out.rate = found.takeover, found.rate(len(samples) / SAMPLE_RATE)
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
