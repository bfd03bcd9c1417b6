"""Where an output sounds, and how high and how loud its voice is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.conversation.frame import SAMPLE_RATE
from app.research.benches.people import voice_spans
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
