"""Recordings for benches and training: reading, levelling, and transcription for comparison.

Sources are single sound files, folders with a manifest, and the benches' own spoken questions. A Whisper model
transcribes speech for a comparison word by word. Loudness is that of ITU-R BS.1770-5: K-weighted, gated, mono.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import soundfile
import soxr

from app.audio.io.files import read_frames
from app.conversation.frame import SAMPLE_RATE
from app.conversation.words import fold
from app.platform.installation import resource
from app.research.results import unreadable
from app.stt.base import TranscriberError
from app.stt.streaming import RATE
from app.stt.whisper_library import faster_whisper
from app.tts.base import Voice
from app.untrusted.files import read_json_lines
from app.untrusted.limits import CORPUS, CORPUS_LINE


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording (float32 mono, 24 kHz) and its text. `end`: the second at which the voice ends, 0 if unknown; `kind`:
    the kind of speaker.
    """

    name: str
    text: str
    samples: np.ndarray
    end: float = 0.0
    speaker: str = ""
    kind: str = ""


def clean(name: str, text: str, samples: np.ndarray) -> Recording:
    """Returns a clean recording, whose voice ends with its last audible sample."""
    return Recording(name, text, samples, voice_end(samples))


def load_questions(count: int | None = None) -> list[Recording]:
    """Loads the first `count` spoken questions of the benches, or all ten."""
    entries = json.loads(resource("bench", "questions.json").read_text("utf-8"))[:count]
    return [
        clean(
            f"{entry['question']}_{entry['turn']}",
            entry["text"],
            read_frames(resource("bench", *entry["file"].split("/"))),
        )
        for entry in entries
    ]


_SHELF = ((1.53512485958697, -2.69169618940638, 1.19839281085285), (1.0, -1.69065929318241, 0.73248077421585))
_HIGH_PASS = ((1.0, -2.0, 1.0), (1.0, -1.99004745483398, 0.99007225036621))
"""The two filters of the recommendation, numerator and denominator, at 48 kHz."""
_FILTER_RATE = 48_000
_BLOCK, _STEP = 0.4, 0.1
_ABSOLUTE_GATE, _RELATIVE_GATE = -70.0, -10.0


def loudness(samples: np.ndarray, rate: int) -> float:
    """Returns the loudness in LUFS; minus infinity for silence."""
    size = max(len(samples), round(_BLOCK * rate))
    spectrum = np.fft.rfft(samples, 2 * size)
    z = np.exp(-2j * np.pi * np.fft.rfftfreq(2 * size, 1 / rate) / _FILTER_RATE)
    for numerator, denominator in (_SHELF, _HIGH_PASS):
        spectrum *= np.polyval(numerator[::-1], z) / np.polyval(denominator[::-1], z)
    weighted = np.fft.irfft(spectrum)[:size]
    block, step = round(_BLOCK * rate), round(_STEP * rate)
    powers = np.array([np.mean(np.square(weighted[at : at + block])) for at in range(0, size - block + 1, step)])
    kept = powers[_level(powers) > _ABSOLUTE_GATE]
    if not len(kept):
        return float("-inf")
    kept = kept[_level(kept) > _level(np.mean(kept)) + _RELATIVE_GATE]
    return float(_level(np.mean(kept)))


def _level(power: np.ndarray | float) -> np.ndarray:
    return -0.691 + 10 * np.log10(np.maximum(power, 1e-20))


_HOP = SAMPLE_RATE // 50
SUFFIXES = (".flac", ".ogg", ".wav")
VOICE_FLOOR = 0.01
"""Amplitude above which a recording counts as voice: -40 dBFS. The noise of the bench's own is below -70 dBFS."""
SPEAKER_PARTS = 3
"""Speakers are split into this many parts by their number; the last one is held out from every fit."""


def read_sound(file: Path) -> np.ndarray:
    """Reads a sound file as float32 mono 24 kHz. Raises TranscriberError."""
    with unreadable(TranscriberError, f"The recording {file} can't be read ({{}}). Leave it out, or replace it."):
        samples, rate = soundfile.read(file, dtype="float32", always_2d=True)
    return soxr.resample(samples.mean(axis=1), rate, SAMPLE_RATE).astype(np.float32)


def sound_files(folder: Path) -> list[Path]:
    """Returns the sound files in a folder and its subfolders. Raises TranscriberError if there are none."""
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)
    if not found:
        kinds = ", ".join(suffix[1:].upper() for suffix in SUFFIXES)
        raise TranscriberError(f"There are no recordings in {folder}. Name a folder with {kinds} files in it.")
    return found


def load_recordings(folder: Path, *, part: int | None = None) -> list[Recording]:
    """Loads the recordings listed in `folder`/manifest.jsonl, one object per line with `file`, `session` (the speaker)
    and `text`. `part`: only speakers of this part. Raises TranscriberError.
    """
    sentence = (
        f"The recordings in {folder} can't be read: {{}}. The folder must hold a manifest.jsonl with one object "
        'a line: {"file": ..., "session": a number for the speaker, "text": what is said}.'
    )
    with unreadable(TranscriberError, sentence):
        return [
            Recording(entry["file"], entry["text"], read_sound(folder / entry["file"]), speaker=entry["session"])
            for entry in read_json_lines(folder / "manifest.jsonl", CORPUS, CORPUS_LINE)
            if part is None or speaker_part(entry["session"]) == part
        ]


def saying(voice: Voice) -> Callable[[str], np.ndarray]:
    """Returns a function that speaks a text with `voice`, float32 24 kHz."""
    return lambda text: voice.synthesize(text).result().samples


def speaker_part(speaker: str) -> int:
    """Returns the part that a speaker belongs to."""
    return int(speaker) % SPEAKER_PARTS if speaker.isdigit() else sum(speaker.encode()) % SPEAKER_PARTS


def voice_end(samples: np.ndarray) -> float:
    """Returns the second at which the voice in a clean recording ends."""
    return float(np.flatnonzero(np.abs(samples) > VOICE_FLOOR)[-1] + 1) / SAMPLE_RATE


def at_level(samples: np.ndarray, dbfs: float, *, peak: float = 1.0) -> np.ndarray:
    """Returns a recording whose loud parts have this level, or a lower one where it would exceed `peak`."""
    powers = np.square(samples[: len(samples) // _HOP * _HOP], dtype=np.float64).reshape(-1, _HOP).mean(axis=1)
    loud = powers[powers > powers.max(initial=0.0) / 100]
    gain = 10 ** (dbfs / 20) / np.sqrt((loud.mean() if len(loud) else 0.0) + 1e-12)
    return (samples * min(gain, peak / (np.abs(samples).max(initial=0.0) + 1e-9))).astype(np.float32)


Span = tuple[float, float]
"""Start and end in seconds."""


def joined(spans: Iterable[Span], gap: float, shortest: float = 0.0) -> list[Span]:
    """Returns the spans with gaps shorter than `gap` closed, without those that are then shorter than `shortest`."""
    out: list[Span] = []
    for begin, end in spans:
        if out and begin - out[-1][1] < gap:
            out[-1] = (out[-1][0], end)
        else:
            out.append((begin, end))
    return [(begin, end) for begin, end in out if end - begin >= shortest]


def trim(samples: np.ndarray) -> np.ndarray:
    """Trims a recording to the first and last sample of voice."""
    loud = np.flatnonzero(np.abs(samples) > VOICE_FLOOR)
    return samples[loud[0] : loud[-1] + 1].astype(np.float32) if len(loud) else samples[:0].astype(np.float32)


_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {**{word: n for n, word in enumerate(_UNITS)}, **{word: 10 * n for n, word in enumerate(_TENS, 2)}}
_SPELLINGS = {"okay": "ok", "gonna": "going to", "wanna": "want to", "uh": "", "um": "", "ah": "", "er": "", "hmm": ""}


def word_distance(reference: tuple[str, ...], words: tuple[str, ...]) -> int:
    """Returns the number of substitutions, insertions and deletions between two word lists (Levenshtein)."""
    if not reference or not words:
        return len(reference) + len(words)
    found = jiwer.process_words(" ".join(reference), " ".join(words))
    return found.substitutions + found.insertions + found.deletions


def normalised(text: str) -> tuple[str, ...]:
    """Returns words normalised for comparison: lower case, no punctuation, numbers below 100 as digits, no "um"."""
    out: list[str] = []
    tens = False
    for word in fold(text.replace("-", " ")):
        number = _NUMBERS.get(word)
        if tens and number is not None and 0 < number < 10:
            out[-1], tens = str(int(out[-1]) + number), False
            continue
        tens = number is not None and number >= 20
        out += [str(number)] if number is not None else _SPELLINGS.get(word, word).split()
    return tuple(out)


def compare(pairs: Iterable[tuple[str, str]]) -> jiwer.WordOutput:
    """Compares pairs of spoken and recognised text, after normalisation."""
    pairs = [(" ".join(normalised(said)), " ".join(normalised(heard))) for said, heard in pairs]
    return jiwer.process_words([said for said, _ in pairs], [heard for _, heard in pairs])


class Reader:
    """A Whisper model for CTranslate2 in `folder`, on `threads` threads (0: all). Raises TranscriberError."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        sentence = (
            f"There is no model that reads back in {folder} ({{}}). Name a folder with a Whisper model that was "
            "converted for CTranslate2."
        )
        with unreadable(TranscriberError, sentence):
            model = faster_whisper().WhisperModel
            self._model = model(str(folder), device="cpu", compute_type="int8", cpu_threads=threads)

    def read(self, samples: np.ndarray, language: str = "en") -> str:
        """Returns the words of `samples` (float32, 24 kHz)."""
        return " ".join(segment.text.strip() for segment in self._segments(samples, language=language))

    def words(self, samples: np.ndarray, language: str, **how: Any) -> list[tuple[str, float]]:
        """Returns the words of `samples` (float32, 24 kHz), each with the second at which it ends."""
        segments = self._segments(samples, language=language, word_timestamps=True, **how)
        return [(word.word.strip(), float(word.end)) for segment in segments for word in segment.words]

    def _segments(self, samples: np.ndarray, **how: Any) -> Iterable[Any]:
        sound = soxr.resample(samples, SAMPLE_RATE, RATE).astype(np.float32)
        return self._model.transcribe(sound, **{"beam_size": 5, "condition_on_previous_text": False, **how})[0]
