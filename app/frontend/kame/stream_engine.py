"""What a stream asks of the engine that steps its model: torch's on a card, numpy's for a small model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.frontend.kame.oracle_feed import OracleQueue


@dataclass(frozen=True, slots=True)
class Column:
    """One step's tokens, as they were chosen: the text, the model's own codes, the user's codes, the oracle's token."""

    text: int
    own: tuple[int, ...]
    user: tuple[int, ...]
    oracle: int


@dataclass(frozen=True, slots=True)
class EngineStep:
    """A step's result. `samples` are zeros while the stream has not said anything yet (its first step)."""

    samples: np.ndarray
    column: Column


@dataclass(frozen=True, slots=True)
class TextTokens:
    """The special tokens of a model's text: where nothing is said, where an oracle starts, all that are no words."""

    padding: int
    start: int
    silent: frozenset[int]


class StreamEngine(Protocol):
    """One stream of a codec and a language model. `steps`, `context`: frames in the cache, and the most it holds.

    `silence`: the model's own codes for silence. `step_seconds`: what a step takes, where it was measured; else 0.
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
