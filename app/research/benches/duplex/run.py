"""Runs the samples of a folder through a session, and scores all outputs that are there."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from app.diagnostics.tables import Progress
from app.research.benches.duplex.metrics import backchannels, divergence, overlap_figures, takes_over, turn_latency
from app.research.benches.duplex.result import DuplexResult, Scored
from app.research.benches.duplex.samples import (
    CLEAN,
    CLEAN_OUTPUT,
    CLEAN_WORDS,
    INPUT,
    OUTPUT,
    WORDS,
    Sample,
)
from app.research.benches.duplex.speaking import hear, read_words, write_output
from app.research.benches.duplex.voice import read_output, spans_of
from app.research.benches.questions import MakeSession
from app.session.control import SessionChoice
from app.session.errors import UserError
from app.stt.base import TranscriberError


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
