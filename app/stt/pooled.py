"""Puts a talk's transcriber together from models of the pool, which takes them back when the talk is over."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from app.models.locations import default_model
from app.models.pool import MODELS
from app.stt import finished_words
from app.stt.base import EndOfTurn
from app.stt.streaming import RATE, Decoder, StreamingTranscriber, WordsJudge


def make_streaming(
    name: str,
    open_decoder: Callable[[ExitStack], Decoder],
    judge: Path,
    call_soon: Callable[[Callable[[], None]], object],
    *,
    english: bool = True,
) -> StreamingTranscriber:
    """A transcriber over what `open_decoder` makes, which enters what it borrows into the stack that it is given.

    `judge`: Smart Turn's ONNX file; without it silence alone decides. `english`: the words may be English, so whether
    they make a whole turn is asked of the small language model that ships with the app.
    """
    lent = ExitStack()

    def load() -> tuple[Decoder, EndOfTurn | None]:
        decoder = open_decoder(lent)
        return decoder, lent.enter_context(MODELS.lend("endpointing", _load_judge, judge)) if judge.is_file() else None

    def load_words() -> WordsJudge | None:
        if not english or not judge.is_file():
            return None  # where the sound isn't judged, nobody asks
        words, model = finished_words.FinishedWords, default_model("llm")
        return lent.enter_context(
            MODELS.lend("words", finished_words.load, model, alive=words.alive, close=words.close)
        )

    return StreamingTranscriber(name, load, call_soon, load_words, lent.close)


def _load_judge(file: Path) -> EndOfTurn:
    from app.stt.smart_turn import SmartTurn

    judge = SmartTurn(file)
    judge.probability(np.zeros(RATE, np.float32))  # the first time is slow
    return judge
