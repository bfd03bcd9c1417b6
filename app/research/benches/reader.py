"""Reads speech back with a Whisper model, to check what a voice has said and when its words end.

Compares recognised words with what was said.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import jiwer
import numpy as np
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.conversation.words import fold
from app.stt.base import TranscriberError
from app.stt.streaming import RATE
from app.stt.whisper_library import faster_whisper

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {**{word: n for n, word in enumerate(_UNITS)}, **{word: 10 * n for n, word in enumerate(_TENS, 2)}}
_SPELLINGS = {"okay": "ok", "gonna": "going to", "wanna": "want to", "uh": "", "um": "", "ah": "", "er": "", "hmm": ""}


def word_distance(reference: tuple[str, ...], words: tuple[str, ...]) -> int:
    """Substitutions, insertions and deletions between two word lists (Levenshtein)."""
    if not reference or not words:
        return len(reference) + len(words)
    found = jiwer.process_words(" ".join(reference), " ".join(words))
    return found.substitutions + found.insertions + found.deletions


def normalised(text: str) -> tuple[str, ...]:
    """The words of `text` for a comparison: no case, no punctuation, numbers below a hundred in digits, no "um"."""
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
    """Compares all pairs of what was said and what was recognised, after normalisation."""
    pairs = [(" ".join(normalised(said)), " ".join(normalised(heard))) for said, heard in pairs]
    return jiwer.process_words([said for said, _ in pairs], [heard for _, heard in pairs])


class Reader:
    """A Whisper model for CTranslate2 in `folder`, on `threads` threads (0: all). Raises TranscriberError."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        try:
            self._model = faster_whisper().WhisperModel(
                str(folder), device="cpu", compute_type="int8", cpu_threads=threads
            )
        except (RuntimeError, ValueError, OSError) as error:
            raise TranscriberError(
                f"There is no model that reads back in {folder} ({error}). Name a folder with a Whisper model that was "
                "converted for CTranslate2."
            ) from error

    def read(self, samples: np.ndarray, language: str = "en") -> str:
        """The words of `samples` (float32 24 kHz)."""
        segments, _ = self._model.transcribe(
            soxr.resample(samples, SAMPLE_RATE, RATE), language=language, beam_size=5, condition_on_previous_text=False
        )
        return " ".join(segment.text.strip() for segment in segments)

    def words(
        self, samples: np.ndarray, language: str, *, beam_size: int = 5, previous_text: bool = False
    ) -> list[tuple[str, float]]:
        """The words of `samples` (float32 24 kHz), each with the second at which it ends."""
        segments, _ = self._model.transcribe(
            soxr.resample(samples, SAMPLE_RATE, RATE).astype(np.float32),
            language=language,
            beam_size=beam_size,
            word_timestamps=True,
            condition_on_previous_text=previous_text,
        )
        return [(word.word.strip(), float(word.end)) for segment in segments for word in segment.words]
