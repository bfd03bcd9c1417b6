"""Loads the installed recogniser and endpointing models once for a bench or for training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.models.locations import default_model
from app.platform.installation import completing_command
from app.research.benches.timed_transcriber import TimedTranscriber
from app.stt.base import EndOfTurn, TranscriberError, VoiceActivity
from app.stt.streaming import RATE, Decoder, WordsJudge


@dataclass(frozen=True, slots=True)
class SpeechModels:
    """The recogniser, and the judges of a turn's end by its sound and by its words; `words` is None if the language
    model can't be run.
    """

    decoder: Decoder
    judge: EndOfTurn
    words: WordsJudge | None

    @property
    def left_out(self) -> list[str]:
        """Sentences on missing models."""
        if self.words is not None:
            return []
        return ["The language model is not installed, so the words were judged by rules alone."]

    def transcriber(self) -> TimedTranscriber:
        """A transcriber in simulated time that uses these models."""
        return TimedTranscriber(self.decoder, self.judge, self.words)

    def voice_detector(self) -> VoiceActivity:
        """A new voice detector: each recording needs its own, since it keeps state."""
        from app.stt.silero import SileroVoiceActivity

        return SileroVoiceActivity()

    def transcribe(self, samples: np.ndarray) -> str:
        """The words of all of `samples` (float32 24 kHz), decoded in one pass."""
        return self.decoder.decode(soxr.resample(samples, SAMPLE_RATE, RATE).astype(np.float32))


@contextmanager
def speech_models(*, words: bool = True) -> Iterator[SpeechModels]:
    """Loads the models; `words`: the judge of the words too. Raises TranscriberError."""
    from app.stt import text_endpointing
    from app.stt.smart_turn import SmartTurn
    from app.stt.whisper_decoder import WhisperDecoder

    recogniser, judge = default_model("stt"), default_model("endpointing")
    if not recogniser.is_dir() or not judge.is_file():
        raise TranscriberError(f"The models that hear are not installed. Set the app up again: {completing_command()}.")
    decoder, sound_judge = WhisperDecoder(recogniser), SmartTurn(judge)
    words_judge = text_endpointing.load() if words else None
    try:
        yield SpeechModels(decoder, sound_judge, words_judge)
    finally:
        if words_judge is not None:
            words_judge.close()
