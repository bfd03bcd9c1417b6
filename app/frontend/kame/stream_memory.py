"""Starts a fresh stream before the model's context is full, and primes it with the newest frames."""

from __future__ import annotations

from collections import deque

import numpy as np

from app.frontend.base import ContextGauge
from app.frontend.kame.stream_engine import Column, StreamEngine

ROLL_OVER_FROM = 0.8
"""Share of the context after which the next pause is used to start a fresh stream."""
PRIME_FRAMES = 125
"""Newest frames of the conversation (10 s) that a fresh stream is primed with."""
PRIME_STEPS = 4
"""Steps along the conversation for each frame of sound while a fresh stream is primed; one of them is the new frame. On
a card as many as fit into `PRIME_SECONDS` of the 80 ms, by the measured time of a step; with less than two it could not
catch up, and a fresh stream is not primed."""
PRIME_SECONDS = 0.06
MOST_PRIME_STEPS = 16
LONGEST_PRIMING_FRAMES = 12
"""Frames of sound (1 s) that priming may take: a user who speaks meanwhile waits no longer."""


class StreamMemory:
    """The newest columns of a stream. `frames`, `steps`: as `PRIME_FRAMES`, `PRIME_STEPS`; None: as measured."""

    def __init__(self, engine: StreamEngine, frames: int = PRIME_FRAMES, steps: int | None = None) -> None:
        self.columns: deque[Column] = deque(maxlen=max(1, frames))
        self._engine = engine
        self._frames = frames
        if steps is None and engine.step_seconds:
            steps = min(MOST_PRIME_STEPS, int(PRIME_SECONDS / engine.step_seconds))
        self._steps = PRIME_STEPS if steps is None else steps
        self._to_replay: deque[Column] | None = None
        self._new = 0  # columns to replay that came since priming started
        self._primed = 0

    @property
    def priming(self) -> bool:
        """Whether a fresh stream is being primed, and can't speak yet."""
        return self._to_replay is not None

    def gauge(self) -> ContextGauge:
        """How full the context is."""
        return ContextGauge(min(self._engine.steps, self._engine.context), self._engine.context)

    def restart_if_due(self, *, pause: bool) -> None:
        """Starts a fresh stream if the context is nearly full and there is a `pause`, or it is full."""
        engine = self._engine
        if self.priming or engine.steps < ROLL_OVER_FROM * engine.context or not (pause or engine.full):
            return
        waiting = [token for token in engine.oracle.rest if token != engine.tokens.start]
        engine.restart_language_model()
        if waiting:
            engine.oracle.push(waiting, reset=True)
        self._primed = min(self._frames, len(self.columns), max(0, self._steps - 1) * LONGEST_PRIMING_FRAMES)
        self._to_replay = deque(list(self.columns)[len(self.columns) - self._primed :])
        self._new = 0

    def skip_to_new(self) -> None:
        """Primes only with what came since priming started: a question waits for its answer."""
        while self._to_replay is not None and len(self._to_replay) > self._new:
            self._to_replay.popleft()

    def prime(self, samples: np.ndarray) -> ContextGauge:
        """Takes a frame of the user's sound while a fresh stream is primed, and replays some columns into it."""
        engine, columns = self._engine, self._to_replay
        assert columns is not None
        padding = engine.tokens.padding
        column = Column(padding, engine.silence, engine.encode(samples), padding)
        columns.append(column)
        self.columns.append(column)
        self._new += 1
        for _ in range(max(1, self._steps)):
            if columns:
                engine.replay(columns.popleft())
                self._new = min(self._new, len(columns))
        if columns:
            return ContextGauge(engine.steps, engine.context)
        self._to_replay = None
        return ContextGauge(engine.steps, engine.context, True, self._primed)
