"""Streaming Whisper on this machine: a `StreamingTranscriber` with faster-whisper and Smart Turn."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from app.conversation.languages import AUTOMATIC
from app.models.pool import MODELS
from app.stt.base import RATE, Decoder, TranscriberError
from app.stt.pooled import make_streaming
from app.stt.streaming import StreamingTranscriber

if TYPE_CHECKING:
    from app.stt.whisper_decoder import LoadedWhisper


def open_decoder(model: Path | LoadedWhisper, language: str = "en") -> Decoder:
    """The decoder over the CTranslate2 folder `model`, or over one that is loaded.

    Raises TranscriberError for a language that Whisper doesn't know.
    """
    from app.stt.whisper_decoder import WhisperDecoder

    try:
        return WhisperDecoder(model, language=language)
    except ValueError as error:
        raise TranscriberError(
            f"Whisper doesn't know the language “{language}”. Name one by its two letters, as en or de."
        ) from error


def make(
    model: Path, judge: Path, call_soon: Callable[[Callable[[], None]], object], language: str = "en"
) -> StreamingTranscriber:
    """Makes a transcriber. `model`: a CTranslate2 folder. `judge`: Smart Turn's ONNX file, if it is there."""

    def decoder(lent: ExitStack) -> Decoder:
        from app.stt.whisper_decoder import LoadedWhisper

        loaded = lent.enter_context(MODELS.lend("stt", _load, model, close=LoadedWhisper.close))
        return open_decoder(loaded, language)

    english = language in ("en", AUTOMATIC)
    return make_streaming(f"whisper {_name(model)}", decoder, judge, call_soon, english=english)


def _load(model: Path) -> LoadedWhisper:
    """Loads the model alone, which sessions share; each has a decoder for its own language."""
    from app.stt.whisper_decoder import WhisperDecoder, load_whisper

    loaded = load_whisper(model)
    # The first pass is slow (buffers, caches): it is made before the user speaks.
    WhisperDecoder(loaded).decode(np.zeros(RATE, np.float32))
    return loaded


def _name(model: Path) -> str:
    # The packaged tiny.en lies in a folder called "model".
    return "tiny.en" if model.name == "model" else model.name.removeprefix("whisper-")
