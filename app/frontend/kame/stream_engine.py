"""The interface between a stream and the engine that steps its model: torch in a process of its own, or numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np


@dataclass(frozen=True, slots=True)
class Column:
    """The tokens of one step: the text token, the model's own codes, the user's codes, and the oracle token."""

    text: int
    own: tuple[int, ...]
    user: tuple[int, ...]
    oracle: int


@dataclass(frozen=True, slots=True)
class EngineStep:
    """The result for one frame.

    - `samples`: float32, a frame; zeros in the first steps of a stream, before the model produces output.
    - `column`: the step's tokens.
    - `spoken`: False if the frame was only encoded. The column then holds padding and the codes for silence.
    """

    samples: np.ndarray
    column: Column
    spoken: bool = True


@dataclass(frozen=True, slots=True)
class TextTokens:
    """The special tokens of a model's text.

    - `padding`: no text at this step
    - `start`: the start of an oracle
    - `vocabulary`: the largest token
    - `silent`: all tokens that aren't words
    """

    padding: int
    start: int
    vocabulary: int
    silent: frozenset[int]


class StreamEngine(Protocol):
    """One stream of a codec and a language model.

    `step` and `encode` return the results that are there, in the order of the frames: usually that of this frame, none
    if the engine is late, and several when it catches up.

    - `context`: the capacity of the cache in frames
    - `silence`: the model's own codes for silence
    - `step_seconds`: the measured duration of a step, or 0 if unknown
    - `tokens`: the special tokens
    """

    context: int
    silence: tuple[int, ...]
    step_seconds: float
    tokens: TextTokens

    @property
    def steps(self) -> int:
        """Steps since the start of the stream."""
        ...

    @property
    def pending(self) -> int:
        """The number of frames whose results are still to come."""
        ...

    def restart(self) -> None:
        """Starts a fresh stream."""
        ...

    def restart_language_model(self) -> None:
        """Starts a fresh stream of the language model, while the codec's streams continue."""
        ...

    def step(self, samples: np.ndarray, oracle: int, *, silent: bool = False) -> tuple[EngineStep, ...]:
        """Steps one frame of the user's audio with an oracle token. `silent`: the model must be silent."""
        ...

    def encode(self, samples: np.ndarray) -> tuple[EngineStep, ...]:
        """Encodes a frame without stepping the language model."""
        ...

    def replay(self, column: Column) -> None:
        """Steps the language model with known tokens, as if they had just been spoken and received."""
        ...


Fault = Literal["memory", "capture", "fault", "lost", "refused"]


class EngineError(Exception):
    """Raised if an engine can't be loaded or can't continue. `str(error)` is a clause that says why.

    `kind`:

    - `memory`: the card's memory ran out
    - `capture`: a frame couldn't be captured
    - `fault`: a call failed
    - `lost`: its process ended or didn't answer
    - `refused`: these weights can't run here; `str(error)` is then a user-facing message
    """

    def __init__(self, kind: Fault, text: str) -> None:
        super().__init__(text)
        self.kind: Fault = kind
