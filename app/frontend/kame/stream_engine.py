"""The interface between a stream and the engine that steps its model: torch on a card, or numpy for a small model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.frontend.kame.oracle_feed import OracleQueue


@dataclass(frozen=True, slots=True)
class Column:
    """The tokens of one step: the text token, the model's own codes, the user's codes, and the oracle token."""

    text: int
    own: tuple[int, ...]
    user: tuple[int, ...]
    oracle: int


@dataclass(frozen=True, slots=True)
class EngineStep:
    """The result of a step. `samples` are zeros in the first steps of a stream, before the model produces output."""

    samples: np.ndarray
    column: Column


@dataclass(frozen=True, slots=True)
class TextTokens:
    """The special tokens of a model's text.

    `padding`: no text at this step; `start`: the start of an oracle; `silent`: all tokens that aren't words.
    """

    padding: int
    start: int
    silent: frozenset[int]


class StreamEngine(Protocol):
    """One stream of a codec and a language model.

    - `context`: the capacity of the cache in frames
    - `silence`: the model's own codes for silence
    - `step_seconds`: the measured duration of a step, or 0 if unknown
    - `steps`: steps since the start of the stream
    """

    context: int
    silence: tuple[int, ...]
    step_seconds: float

    @property
    def steps(self) -> int: ...

    @property
    def tokens(self) -> TextTokens: ...

    @property
    def oracle(self) -> OracleQueue: ...

    @property
    def full(self) -> bool: ...

    def restart(self) -> None: ...

    def restart_language_model(self) -> None: ...

    def force_silence(self) -> None: ...

    def release(self) -> None: ...

    def step(self, samples: np.ndarray) -> EngineStep: ...

    def encode(self, samples: np.ndarray) -> tuple[int, ...]: ...

    def replay(self, column: Column) -> None: ...
