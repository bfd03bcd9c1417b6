"""Plays the samples of a folder to a session, and scores the available outputs by sample and by task.

The metrics are those of Full-Duplex-Bench's papers (v1: arXiv 2503.04721; v1.5: arXiv 2507.23159). They are computed
from an output's words and voiced spans. Outputs are time-aligned with their inputs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from app.audio.devices.paced import PacedListener
from app.audio.io.files import FileSource
from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS, SAMPLE_RATE
from app.diagnostics.tables import Progress, machine, markdown, rounded
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
from app.research.benches.recordings import MakeSession, RunTalk, Span, Turn, joined, read_sound
from app.research.results import at_share, grouped, mean, shown, unreadable
from app.session.control import SessionChoice, UserError
from app.stt.silero import SileroVoiceActivity

JOINED_SECONDS = 0.2
"""A shorter silence does not end a voiced span."""


def spans_of(samples: np.ndarray) -> list[Span]:
    """Returns the start and end in seconds of each voiced span in float32 24 kHz audio, by the app's voice detector."""
    activity = SileroVoiceActivity()
    activity.load()
    return joined(voice_spans(np.pad(samples, (0, -len(samples) % 1920)), activity), JOINED_SECONDS)


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
BEHAVIOURS: tuple[Behaviour, ...] = ("respond", "resume", "uncertain")


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
    """The classified spans of an output.

    `takeover`: whether any span is too long, or has too many words, for a backchannel; `times`: when each backchannel
    starts, in seconds.
    """

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
    """Returns the Jensen-Shannon divergence (base 2, 0 to 1) between the times, in bins of 0.2 s, and those of people.

    Returns 1 if there are no backchannels. `people`: shares per bin.
    """
    places = np.minimum(len(people) - 1, (np.asarray(times) / BIN_SECONDS).astype(int))
    own, theirs = np.bincount(places, minlength=len(people)), np.asarray(people, float)
    if not own.sum() or not theirs.sum():
        return 1.0
    shares = np.stack([own / own.sum(), theirs / theirs.sum()])
    ratios = shares / np.maximum(shares.mean(axis=0), 1e-12)
    return float(np.sum(shares * np.log2(np.where(shares > 0, ratios, 1.0))) / 2)


@dataclass(frozen=True, slots=True)
class OverlapFigures:
    """The reaction to an event, that is, to speech over the assistant.

    - `spoke`: whether the assistant was speaking when the event began
    - `behaviour`: None if it is unknown what the assistant would have said otherwise
    - `stop`: seconds from the event's start until the assistant fell silent; None if it was already silent or spoke to
      the event's end
    - `gap`: seconds from the event's end until the assistant spoke again; None if it never stopped, or stayed silent
    """

    spoke: bool
    behaviour: Behaviour | None
    stop: float | None
    gap: float | None


def overlap_figures(
    spans: Sequence[Span], words: Sequence[Word], clean_words: Sequence[Word] | None, begin: float, end: float
) -> OverlapFigures:
    """Returns the reaction to an event that lasts from `begin` to `end`, in seconds.

    `clean_words`: the words of the output without the event; None if there is no such output.
    """
    fell_silent = next((stop for start, stop in spans if start < begin < stop), None)
    stopped = fell_silent is not None and fell_silent < end
    after = next((start - end for start, _ in spans if start >= end), None)
    later = [word for word in words if word.begin >= begin]
    return OverlapFigures(
        fell_silent is not None,
        None if clean_words is None else behaviour(later, clean_words, begin),
        fell_silent - begin if fell_silent is not None and stopped else None,
        after if stopped or fell_silent is None else None,
    )


def behaviour(later: Sequence[Word], clean: Sequence[Word], begin: float) -> Behaviour:
    """Classifies the output after an event as resuming the original answer or as responding with something else; it is
    uncertain if the output is silent or has no content words, as in "Well, so".

    Full-Duplex-Bench has a language model decide; here the output is compared with the one without the event.
    """
    said = content_words(" ".join(word.text for word in later))
    if not said:
        return "uncertain"
    would = set(content_words(" ".join(word.text for word in clean if word.end > begin)))
    return "resume" if sum(word in would for word in said) / len(said) >= RESUMED_SHARE else "respond"


async def hear(make: MakeSession, choice: SessionChoice, file: Path) -> tuple[np.ndarray, list[Word]]:
    """Plays an input to a session and returns the assistant's audio (float32 24 kHz, as long as the input) and words.

    Must run on a loop in simulated time. Raises TranscriberError, AudioFileError for unreadable audio, and UserError if
    nothing was said because of a failure. Propagates errors from opening a session.
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
    turn = Turn(events, seconds)
    if turn.failures and not any(word.revision for word in turn.of(e.AssistantSaid)):
        raise UserError(f"The assistant could not answer {file}: {turn.failures[0]}")
    out = np.zeros(length, np.float32)
    if said is not None:
        out[: min(len(out), len(said))] = said[: len(out)]
    return out, words_of(events)


@dataclass(slots=True)
class Scored:
    """One sample's figures; those that do not apply to its task are None."""

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
    """Describes the stage delays of simulated time."""

    def table(self) -> str:
        """Returns the result as two Markdown tables: version 1's tasks and version 1.5's."""
        source = "outputs that were there" if self.outputs_only else "this app in simulated time"
        tasks = [figures(task, group) for task, group in self._by_task().items()]
        first = ("samples", "takeover_rate", "latency_p50", "latency_mean", "backchannels_rate", "divergence")
        second = ("samples", "spoke", *(f"{name}_share" for name in BEHAVIOURS), "stop_seconds_p50", "gap_seconds_p50")
        head = ["task", "samples", "takeover rate", "latency p50, s", "mean", "backchannels a second", "divergence"]
        lines = _table(head, [one for one in tasks if not one["task"].startswith("overlap")], first)
        head = ["over the assistant", "samples", "it spoke", "responds", "resumes", "uncertain", "stops after, s"]
        head += ["speaks again after, s"]
        lines += _table(head, [one for one in tasks if one["task"].startswith("overlap")], second)
        return "\n".join([f"Full-Duplex-Bench's tasks, {source}, {machine()}", "", *lines, self.costs]).rstrip()

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        tasks = [figures(task, group) for task, group in self._by_task().items()]
        samples = [asdict(one) for one in self.scored]
        return rounded({"bench": "duplex", "machine": machine(), "tasks": tasks, "samples": samples})

    def _by_task(self) -> dict[Task, list[Scored]]:
        return grouped(self.scored, lambda one: one.task)


def _table(head: Sequence[str], tasks: Sequence[dict[str, Any]], names: Sequence[str]) -> list[str]:
    rows = [
        (one["task"], *(one[name] if isinstance(one[name], int) else shown(one[name]) for name in names))
        for one in tasks
    ]
    return [*markdown(head, rows), ""] if rows else []


def figures(task: Task, group: Sequence[Scored]) -> dict[str, Any]:
    """Returns the figures of a task; behaviour shares are computed over the samples whose behaviour is known."""
    latencies = [one.latency for one in group if one.takeover]
    overlaps = [one.overlap for one in group if one.overlap is not None]
    behaviours = [one.behaviour for one in overlaps if one.behaviour is not None]
    return {
        "task": task,
        "samples": len(group),
        "takeover_rate": mean(one.takeover for one in group),
        "latency_p50": at_share(latencies),
        "latency_mean": mean(latencies),
        "backchannels_rate": mean(one.rate for one in group),
        "divergence": mean(one.divergence for one in group),
        "spoke": sum(one.spoke for one in overlaps),
        **{f"{name}_share": mean(one == name for one in behaviours) for name in BEHAVIOURS},
        "stop_seconds_p50": at_share(one.stop for one in overlaps),
        "gap_seconds_p50": at_share(one.gap for one in overlaps),
    }


def run_duplex(
    samples: Sequence[Sample],
    make: MakeSession | None,
    run_talk: RunTalk,
    choice: SessionChoice,
    progress: Progress,
    *,
    costs: str = "",
) -> DuplexResult:
    """Plays every sample to a session, writes its outputs next to the inputs, and scores them.

    - `make`: creates sessions; if None, existing outputs are scored, whichever program wrote them
    - `costs`: describes the stage delays of simulated time

    Raises UserError. Propagates errors from opening a session.
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
    sentence = (
        f"The output of {sample.name} can't be read ({{}}). It takes an {OUTPUT} and an {WORDS} with text and chunks; "
        "leave --outputs out to have this app make them."
    )
    with unreadable(UserError, sentence):
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
        out.overlap = overlap_figures(spans, words, clean, sample.begin, sample.stop)
        return out
