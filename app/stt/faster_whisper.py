"""Streaming Whisper on this machine: `StreamingTranscriber` with faster-whisper and Smart Turn behind it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.stt import finished_words
from app.stt.base import EndOfTurn, TranscriberError
from app.stt.choose import AUTOMATIC
from app.stt.streaming import Decoder, StreamingTranscriber


def open_decoder(model: Path, language: str = "en") -> Decoder:
    """The decoder over the CTranslate2 folder `model`. Raises TranscriberError for a language that it can't hear."""
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
    """`model`: a CTranslate2 folder. `judge`: Smart Turn's ONNX file; without it silence alone decides.

    Whether English words make a whole turn is asked of the small language model that ships with the app.
    """

    def load() -> tuple[Decoder, EndOfTurn | None]:
        from app.stt.smart_turn import SmartTurn

        return open_decoder(model, language), SmartTurn(judge) if judge.is_file() else None

    load_words = finished_words.load if language in ("en", AUTOMATIC) else lambda: None
    return StreamingTranscriber(f"whisper {_name(model)}", load, call_soon, load_words)


def _name(model: Path) -> str:
    # The packaged tiny.en lies in a folder called "model".
    return "tiny.en" if model.name == "model" else model.name.removeprefix("whisper-")
