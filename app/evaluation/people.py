"""Recordings of real people as cases for `bench turns`: where each utterance ends, and where its speaker pauses.

A folder holds `manifest.jsonl`, one line of JSON a recording: `file`, `session` (the speaker) and `text`. The figures
of this project come from a selection of the WUW Corpus II (Kepuska; CC BY-SA 4.0), whose callers put a keyword into a
sentence of their own.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile
import soxr

from app.conversation.completeness import completeness
from app.conversation.frame import SAMPLE_RATE, frames
from app.conversation.words import fold
from app.evaluation.pauses import TAIL_SECONDS, Case
from app.stt.base import VoiceActivity

KEYWORDS = ("operator", "think engine", "thinkengine", "onword", "wildfire", "voyager")
"""What the corpus asked its callers to say, sometimes alone behind a finished sentence."""
PAUSE_SECONDS = 0.1
"""A shorter silence between two spans of voice is part of a word."""
PARTS = 3
"""Callers are split into so many parts by their number; the last one is held out from every fit."""
QUIETEST_SECONDS = 0.25


def part_of(speaker: str) -> int:
    """To which of PARTS a speaker belongs."""
    return int(speaker) % PARTS if speaker.isdigit() else sum(speaker.encode()) % PARTS


def people(
    folder: Path, hear: Callable[[np.ndarray], str], make_voice: Callable[[], VoiceActivity], part: int | None = None
) -> list[Case]:
    """The recordings in `folder`, in the manifest's order; `part`: one of PARTS, None for all of them.

    `hear` recognises sound (float32 24 kHz) and tells which words stand behind a pause. Raises OSError and
    soundfile.LibsndfileError where files are missing.
    """
    out = []
    for line in (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if part is not None and part_of(row["session"]) != part:
            continue
        samples, rate = soundfile.read(folder / row["file"], dtype="float32")
        sound = soxr.resample(samples, rate, SAMPLE_RATE).astype(np.float32)
        spans = voice_spans(sound, make_voice())
        if not spans:
            continue
        end = spans[-1][1]
        pauses = tuple((before[1], after[0]) for before, after in itertools.pairwise(spans))
        untold = pauses[-1:] if pauses and _keyword_alone(row["text"], sound, pauses[-1], hear) else ()
        name, said = f"people {Path(row['file']).stem}", row["text"]
        out.append(Case(name, "people", "flow", said, _with_tail(sound, end), end, pauses, row["session"], untold))
    return out


def voice_spans(sound: np.ndarray, voice: VoiceActivity) -> list[tuple[float, float]]:
    """Begin and end, in seconds, of each stretch of voice in `sound` (float32 24 kHz)."""
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


def _with_tail(sound: np.ndarray, end: float) -> np.ndarray:
    """`sound` with silence like its own behind it: long enough that every turn can end."""
    missing = round((end + TAIL_SECONDS) * SAMPLE_RATE) - len(sound)
    if missing <= 0:
        return sound
    size = round(QUIETEST_SECONDS * SAMPLE_RATE)
    starts = range(0, max(1, len(sound) - size), size // 4)
    quiet = min((sound[at : at + size] for at in starts), key=lambda piece: float(np.square(piece).sum()))
    both = np.concatenate([quiet, quiet[::-1]])
    return np.concatenate([sound, np.resize(both, missing)]).astype(np.float32)


def _keyword_alone(text: str, sound: np.ndarray, pause: tuple[float, float], hear: Callable[[np.ndarray], str]) -> bool:
    """Whether nothing but a keyword stands behind `pause`, and a finished sentence before it."""
    said = " ".join(fold(text))
    keyword = next((word for word in KEYWORDS if said.endswith(word)), None)
    if keyword is None or completeness(said[: -len(keyword)]) == "open":
        return False
    return len(fold(hear(sound[round(pause[1] * SAMPLE_RATE) :]))) <= len(keyword.split()) + 1
