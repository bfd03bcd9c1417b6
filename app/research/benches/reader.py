"""Reads speech back with a Whisper model, to check what a voice has said and when its words end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.stt.base import TranscriberError
from app.stt.streaming import RATE
from app.stt.whisper_library import faster_whisper


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
