"""Builds a session's transcriber from pooled models, which are returned to the pool when the session ends.

One of them is Smart Turn v3 (BSD-2-Clause), which runs on the CPU and estimates from the last 8 s of audio whether a
turn is finished. The model file is read from the wheel that contains it; none of that package's code is run. Its input
is an 80 x 800 log-mel spectrogram, computed as for Whisper. As in training, the audio is normalised and padded in
front.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from app.models.locations import default_model
from app.models.onnx import open_onnx
from app.models.pool import MODELS
from app.platform.children import ChildError
from app.stt import text_endpointing
from app.stt.base import RATE, Decoder, EndOfTurn, WordsJudge
from app.stt.streaming import StreamingTranscriber
from app.stt.whisper_library import faster_whisper

SECONDS = 8


class SmartTurn:
    """An `EndOfTurn` judge that runs the ONNX file `model`. A call takes 30 to 60 ms on one core.

    One whose call has failed isn't kept for the next session.
    """

    def __init__(self, model: Path) -> None:
        self._model = open_onnx(model)
        self._input = self._model.get_inputs()[0].name
        self._mel = faster_whisper("feature_extractor").FeatureExtractor(feature_size=80, chunk_length=SECONDS)

        self._broken = False

    def alive(self) -> bool:
        """Returns whether all calls so far have worked."""
        return not self._broken

    def close(self) -> None:
        """Does nothing, since the model is freed with the object."""

    def probability(self, samples: np.ndarray) -> float:
        try:
            return self._probability(samples)
        except Exception:
            self._broken = True
            raise

    def _probability(self, samples: np.ndarray) -> float:
        samples = samples[-RATE * SECONDS :].astype(np.float32)
        samples = np.pad(samples, (RATE * SECONDS - len(samples), 0))
        samples = (samples - samples.mean()) / np.sqrt(samples.var() + 1e-7)
        mel = self._mel(samples, padding=0)[:, : SECONDS * 100].astype(np.float32)
        mel = np.pad(mel, ((0, 0), (SECONDS * 100 - mel.shape[1], 0)), mode="edge")
        return float(self._model.run(None, {self._input: mel[None]})[0].reshape(-1)[0])


def make_streaming(
    name: str,
    lend_decoder: Callable[[ExitStack], Decoder],
    call_soon: Callable[[Callable[[], None]], object],
    *,
    english: bool = True,
) -> StreamingTranscriber:
    """Creates a transcriber that uses the decoder returned by `lend_decoder`.

    - `name`: the recogniser's name.
    - `lend_decoder`: borrows a decoder from the pool and registers its return on the exit stack passed to it.
    - `call_soon`: schedules a callback on the event loop.
    - `english`: whether the words may be English, in which case the bundled language model also evaluates them.

    If Smart Turn isn't installed, only the length of the silence decides when a turn is over.
    """
    lent, judge = ExitStack(), default_model("endpointing")

    def listen(part: Any) -> None:
        """Passes the notices of a pooled part on, until it is returned to the pool."""
        part.on_notice = lambda sentence: call_soon(lambda: made.on_notice(sentence))
        lent.callback(setattr, part, "on_notice", lambda sentence: None)

    def load() -> tuple[Decoder, EndOfTurn | None]:
        decoder = lend_decoder(lent)
        listen(decoder)
        if not judge.is_file():
            return decoder, None
        return decoder, lent.enter_context(MODELS.borrow("endpointing", _load_judge, judge))

    def load_words() -> WordsJudge | None:
        if not english or not judge.is_file():
            return None  # words are only evaluated together with the audio
        try:
            words = lent.enter_context(MODELS.borrow("words", text_endpointing.open_judge, default_model("llm")))
            listen(words)
            return words
        except ChildError:
            return None  # the audio alone decides

    made = StreamingTranscriber(name, load, call_soon, load_words, lent.close)
    return made


def _load_judge(file: Path) -> SmartTurn:
    judge = SmartTurn(file)
    judge.probability(np.zeros(RATE, np.float32))  # the first call is slow
    return judge
