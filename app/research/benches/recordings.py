"""Reads recordings for benches and training: single sound files, and folders with a manifest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.stt.base import TranscriberError
from app.untrusted.files import read_json_lines
from app.untrusted.limits import CORPUS, CORPUS_LINE

SUFFIXES = (".flac", ".ogg", ".wav")
VOICE_FLOOR = 0.01
"""Amplitude above which a recording counts as voice: -40 dBFS. The noise of the bench's own is below -70 dBFS."""
SPEAKER_PARTS = 3
"""Speakers are split into this many parts by their number; the last one is held out from every fit."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording and its transcription; `samples`: float32 mono 24 kHz."""

    name: str
    text: str
    samples: np.ndarray
    speaker: str = ""


def read_sound(file: Path, *, peak: float | None = None) -> np.ndarray:
    """Reads a sound file as float32 mono 24 kHz, scaled to `peak` if given. Raises TranscriberError."""
    try:
        samples, rate = soundfile.read(file, dtype="float32", always_2d=True)
    except (OSError, soundfile.LibsndfileError) as error:
        raise TranscriberError(f"The recording {file} can't be read ({error}). Leave it out, or replace it.") from error
    sound = samples.mean(axis=1)
    if peak is not None:
        sound = sound * (peak / max(1e-9, float(np.abs(sound).max())))
    return soxr.resample(sound, rate, SAMPLE_RATE).astype(np.float32)


def sound_files(folder: Path) -> list[Path]:
    """The sound files of a folder and those below it. Raises TranscriberError if there are none."""
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)
    if not found:
        kinds = ", ".join(suffix[1:].upper() for suffix in SUFFIXES)
        raise TranscriberError(f"There are no recordings in {folder}. Name a folder with {kinds} files in it.")
    return found


def load_recordings(folder: Path, *, part: int | None = None, peak: float | None = None) -> list[Recording]:
    """The recordings that `folder`/manifest.jsonl lists, one object a line with `file`, `session` (the speaker) and
    `text`. `part`: only the speakers of this part; `peak`: scale all to this. Raises TranscriberError.
    """
    try:
        entries = read_json_lines(folder / "manifest.jsonl", CORPUS, CORPUS_LINE)
        return [
            Recording(entry["file"], entry["text"], read_sound(folder / entry["file"], peak=peak), entry["session"])
            for entry in entries
            if part is None or speaker_part(entry["session"]) == part
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TranscriberError(
            f"The recordings in {folder} can't be read: {error}. The folder must hold a manifest.jsonl with one object "
            'a line: {"file": ..., "session": a number for the speaker, "text": what is said}.'
        ) from error


def speaker_part(speaker: str) -> int:
    """To which of the parts a speaker belongs."""
    return int(speaker) % SPEAKER_PARTS if speaker.isdigit() else sum(speaker.encode()) % SPEAKER_PARTS


def voice_end(samples: np.ndarray) -> float:
    """The second at which the voice in a clean recording ends."""
    return float(np.flatnonzero(np.abs(samples) > VOICE_FLOOR)[-1] + 1) / SAMPLE_RATE


def trim(samples: np.ndarray) -> np.ndarray:
    """The recording from the first to the last sample of voice."""
    loud = np.flatnonzero(np.abs(samples) > VOICE_FLOOR)
    return samples[loud[0] : loud[-1] + 1].astype(np.float32) if len(loud) else samples[:0].astype(np.float32)
