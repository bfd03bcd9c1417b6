"""Streaming Whisper on this machine: `StreamingTranscriber` with faster-whisper and Smart Turn behind it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.installed import completing_command
from app.stt import finished_words
from app.stt.base import EndOfTurn, TranscriberError
from app.stt.streaming import Decoder, StreamingTranscriber


def make(
    model: Path, judge: Path, call_soon: Callable[[Callable[[], None]], object]
) -> StreamingTranscriber:
    """`model`: a CTranslate2 folder. `judge`: Smart Turn's ONNX file; without it silence alone decides.

    Whether the words make a whole turn is asked of the small language model that ships with the app.
    """

    def load() -> tuple[Decoder, EndOfTurn | None]:
        if not model.is_dir():
            raise TranscriberError(
                "The speech recognition model is not installed, so nothing can be heard. Set the app up again: "
                f"{completing_command()}."
            )
        from app.stt.smart_turn import SmartTurn
        from app.stt.whisper_decoder import WhisperDecoder

        return WhisperDecoder(model), SmartTurn(judge) if judge.is_file() else None

    return StreamingTranscriber(f"whisper {_name(model)}", load, call_soon, finished_words.load)


def _name(model: Path) -> str:
    # The packaged tiny.en lies in a folder called "model".
    return "tiny.en" if model.name == "model" else model.name
