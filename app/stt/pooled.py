"""Makes a session's transcriber from models of the pool, which are returned to it when the session is over."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from app.models.locations import default_model
from app.models.pool import MODELS
from app.stt import text_endpointing
from app.stt.base import RATE, Decoder, EndOfTurn, WordsJudge
from app.stt.streaming import StreamingTranscriber


def make_streaming(
    name: str,
    lend_decoder: Callable[[ExitStack], Decoder],
    call_soon: Callable[[Callable[[], None]], object],
    *,
    english: bool = True,
) -> StreamingTranscriber:
    """Makes a transcriber over the decoder of `lend_decoder`, which enters the models it borrows into the given stack.

    `english`: the words may be English, so the small language model that ships with the app judges them, too. Without
    the judge of the sound the silence alone decides when a turn is over.
    """
    lent, judge = ExitStack(), default_model("endpointing")

    def load() -> tuple[Decoder, EndOfTurn | None]:
        decoder = lend_decoder(lent)
        if not judge.is_file():
            return decoder, None
        return decoder, lent.enter_context(MODELS.borrow("endpointing", _load_judge, judge))

    def load_words() -> WordsJudge | None:
        if not english or not judge.is_file():
            return None  # words are judged only together with the sound
        words, model = text_endpointing.TextEndpointing, default_model("llm")
        return lent.enter_context(
            MODELS.borrow("words", text_endpointing.load, model, alive=words.alive, close=words.close)
        )

    return StreamingTranscriber(name, load, call_soon, load_words, lent.close)


def _load_judge(file: Path) -> EndOfTurn:
    from app.stt.smart_turn import SmartTurn

    judge = SmartTurn(file)
    judge.probability(np.zeros(RATE, np.float32))  # the first call is slow
    return judge
