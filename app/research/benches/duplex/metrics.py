"""The metrics of Full-Duplex-Bench's papers (v1: arXiv 2503.04721; v1.5: arXiv 2507.23159), for one sample each.

Words are `Word`s with times in seconds of the output, which is aligned with the input.

Where an output sounds, and how high and how loud its voice is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from app.conversation.frame import SAMPLE_RATE
from app.research.benches.mtbench.asking import content_words
from app.research.benches.pauses import voice_spans
from app.research.benches.recordings import read_sound
from app.stt.silero import SileroVoiceActivity

RATE = 16_000
"""Of outputs, as that bench expects them."""
JOINED_SECONDS = 0.2
"""A shorter silence does not end a stretch of voice."""
LOWEST_HZ, HIGHEST_HZ = 65.0, 400.0
PITCH_WINDOW = 0.04
VOICED = 0.6
"""Normalised autocorrelation from which a window has a pitch."""

Span = tuple[float, float]


def read_output(file: str) -> np.ndarray:
    """Reads an output as float32 mono at 24 kHz. Raises TranscriberError."""
    return read_sound(Path(file))


def spans_of(samples: np.ndarray) -> list[Span]:
    """Begin and end in seconds of each stretch of voice in float32 24 kHz, by the app's voice detector."""
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
    """RMS in dBFS of the stretches of voice between two seconds; None where it is silent."""
    stretches = [(max(begin, start), min(end, stop)) for start, stop in spans if start < end and stop > begin]
    parts = [samples[round(start * SAMPLE_RATE) : round(stop * SAMPLE_RATE)] for start, stop in stretches]
    part = np.concatenate(parts) if parts else np.zeros(0, np.float32)
    power = float(np.mean(np.square(part))) if len(part) else 0.0
    return 10 * float(np.log10(power)) if power > 1e-8 else None


def pitch(samples: np.ndarray, begin: float, end: float) -> float | None:
    """The median pitch in hertz between two seconds, by autocorrelation; None where nothing is voiced."""
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
