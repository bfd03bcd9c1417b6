"""Selects the best language model that answers in time on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.models.catalogue import DEFAULTS, models_of
from app.models.entry import Model
from app.models.locations import is_here
from app.models.speeds import Speed, expected_speed, load_speeds
from app.platform.hardware import memory_bytes

LEAST_WORDS_A_SECOND = 4.0
"""Voices speak some 2.7 words a second; a model that writes hardly faster would leave pauses."""
MOST_FIRST_CLAUSE = 2.5
"""Seconds to the end of a first clause of `CLAUSE_WORDS`, with which a voice starts. An opening starts some 0.4 s after
the question and lasts a second or more, so at most a second of silence follows it."""
CLAUSE_WORDS = 8
SHARE_OF_MEMORY = 0.4
"""The share of the machine's memory that a language model may take."""


def in_time(speed: Speed) -> bool:
    """Returns whether a language model with this speed keeps up with a conversation."""
    clause = speed.first + CLAUSE_WORDS / speed.rate if speed.rate > 0 else float("inf")
    return speed.rate >= LEAST_WORDS_A_SECOND and clause <= MOST_FIRST_CLAUSE


def best_language_model(
    models: Iterable[Model], speeds: Mapping[str, Speed], memory: int, language: str = "en"
) -> Model | None:
    """Returns the best of `models` that is fast enough here and speaks the language; None if there is none.

    `speeds`: as measured here. `memory`: the machine's bytes; 0: unknown. Best: the most correct answers where both
    were measured, else the larger one. `language`: its two letters; empty: any.
    """
    fitting = [
        model
        for model in models
        if model.kind == "llm"
        and (not language or model.speaks(language))
        and (not memory or model.memory <= memory * SHARE_OF_MEMORY)
        and (speed := expected_speed(model, speeds)) is not None
        and in_time(speed)
    ]
    best: Model | None = None
    for model in fitting:
        if best is None or _better(model, best):
            best = model
    return best


def language_model_here(language: str = "en") -> str:
    """Returns the key of the best language model that is here and fast enough; else of the smallest one."""
    here = [model for model in models_of("llm") if is_here(model.key)]
    best = best_language_model(here, load_speeds(), memory_bytes(), language)
    return best.key if best is not None else DEFAULTS["llm"]


def _better(one: Model, other: Model) -> bool:
    if one.right and other.right:
        return one.right > other.right
    return one.bytes > other.bytes
