"""The metrics of Full-Duplex-Bench's papers (v1: arXiv 2503.04721; v1.5: arXiv 2507.23159), for one sample each.

Words are `Word`s with times in seconds of the output, which is aligned with the input.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.research.benches.duplex.voice import Span, loudness, pitch
from app.research.benches.mtbench.measures import content_words

SHORT_SECONDS, SHORT_WORDS = 1.0, 3
"""An output that is shorter than this and has at most so many words takes nothing over."""
TAKEOVER_SECONDS, TAKEOVER_WORDS = 3.0, 3
"""A stretch that is longer, or has more words, is no backchannel."""
BACKCHANNEL_SECONDS, BACKCHANNEL_WORDS = 1.0, 2
BIN_SECONDS = 0.2
RESUMED_SHARE = 0.5
"""The share of the content words after an event that the output without the event has, too, from which it goes on."""

Behaviour = Literal["respond", "resume", "uncertain"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of an output, and when it sounds."""

    text: str
    begin: float
    end: float


def takes_over(words: Sequence[Word]) -> bool:
    """Whether an output takes the turn over: it has words, and more than a short backchannel's."""
    if not words:
        return False
    seconds = words[-1].end - words[0].begin
    return not (seconds < SHORT_SECONDS and len(words) <= SHORT_WORDS)


def turn_latency(words: Sequence[Word], end: float) -> float | None:
    """Seconds from the end of the user's turn to the first word; before it, 0. None without words."""
    return max(0.0, words[0].begin - end) if words else None


@dataclass(frozen=True, slots=True)
class Backchannels:
    """What the stretches of an output are: `takeover`: one of them is more than a backchannel; `times` of those that
    are, in seconds.
    """

    takeover: bool
    times: tuple[float, ...]

    def rate(self, seconds: float) -> float:
        """Backchannels a second."""
        return len(self.times) / seconds if seconds else 0.0


def backchannels(spans: Sequence[Span], words: Sequence[Word]) -> Backchannels:
    """Sorts the stretches of an output."""
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
    length = len(samples) / 24_000
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
    """What the output does after an event: it goes on with what it would have said, it says something else, or
    nothing. That bench asks a language model; here the words of the output without the event decide.
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
