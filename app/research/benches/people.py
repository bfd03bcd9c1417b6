"""Turns recordings of real people into cases for `bench turns`: where each utterance ends and its speaker pauses.

The folder has a `manifest.jsonl` (see `recordings.load_recordings`). This project's figures come from a selection of
the WUW Corpus II (Kepuska; CC BY-SA 4.0), whose callers put a keyword into a sentence of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np

from app.conversation.completeness import completeness
from app.conversation.frame import SAMPLE_RATE, frames
from app.conversation.words import fold
from app.research.benches.pauses import TAIL_SECONDS, Case, Recognise
from app.research.benches.recordings import load_recordings
from app.stt.base import VoiceActivity

KEYWORDS = ("operator", "think engine", "thinkengine", "onword", "wildfire", "voyager")
"""What the corpus asked its callers to say, sometimes alone after a finished sentence."""
PAUSE_SECONDS = 0.1
"""A shorter silence between two spans of voice is part of a word."""
QUIETEST_SECONDS = 0.25


def people(
    folder: Path, recognise: Recognise, make_voice: Callable[[], VoiceActivity], part: int | None = None
) -> list[Case]:
    """The recordings in `folder`, in the manifest's order. `part`: only the speakers of this part. Raises
    TranscriberError.
    """
    out = []
    for recording in load_recordings(folder, part=part):
        text, sound = recording.text, recording.samples
        spans = voice_spans(sound, make_voice())
        if not spans:
            continue
        end = spans[-1][1]
        pauses = tuple((before[1], after[0]) for before, after in itertools.pairwise(spans))
        untold = pauses[-1:] if pauses and _keyword_alone(text, sound, pauses[-1], recognise) else ()
        name, sound = f"people {Path(recording.name).stem}", with_tail(sound, end)
        out.append(Case(name, "people", "flow", text, sound, end, pauses, recording.speaker, untold))
    return out


def voice_spans(sound: np.ndarray, voice: VoiceActivity) -> list[tuple[float, float]]:
    """Begin and end in seconds of each stretch of voice in `sound` (float32 24 kHz)."""
    spans: list[tuple[float, float]] = []
    for frame in frames(sound):
        for window in voice.hear(frame):
            begin = window.end - 0.032
            going_on = bool(spans) and begin - spans[-1][1] < 1e-6
            if window.probability < (0.35 if going_on else 0.5):
                continue
            if spans and begin - spans[-1][1] < PAUSE_SECONDS:
                spans[-1] = (spans[-1][0], window.end)
            else:
                spans.append((begin, window.end))
    return [(begin, end) for begin, end in spans if end - begin > 0.04]


def with_tail(sound: np.ndarray, end: float) -> np.ndarray:
    """Appends silence like the recording's own, long enough for every turn to end."""
    missing = round((end + TAIL_SECONDS) * SAMPLE_RATE) - len(sound)
    if missing <= 0:
        return sound
    size = round(QUIETEST_SECONDS * SAMPLE_RATE)
    starts = range(0, max(1, len(sound) - size), size // 4)
    quiet = min((sound[at : at + size] for at in starts), key=lambda piece: float(np.square(piece).sum()))
    both = np.concatenate([quiet, quiet[::-1]])
    return np.concatenate([sound, np.resize(both, missing)]).astype(np.float32)


def _keyword_alone(text: str, sound: np.ndarray, pause: tuple[float, float], recognise: Recognise) -> bool:
    """Whether nothing but a keyword follows `pause`, and a finished sentence precedes it."""
    said = " ".join(fold(text))
    keyword = next((word for word in KEYWORDS if said.endswith(word)), None)
    if keyword is None or completeness(said[: -len(keyword)]) == "open":
        return False
    return len(fold(recognise(sound[round(pause[1] * SAMPLE_RATE) :]))) <= len(keyword.split()) + 1
