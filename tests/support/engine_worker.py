"""A process that stands in for a model's: the app's own worker around an engine of numpy, with faults on request.

What it does is written in the request's folder, as JSON:

- `plan_seconds`, `load_seconds`: how long it plans and loads
- `unreadable`: a disk fails while it loads
- `slow`: the seconds that a step takes, by its number
- `fails_at`: the number of the step that fails, and `how`: `raise`, `memory`, `exit`, or `silent` (no answer)
- `restarts`: how many conversations it serves before its card is lost
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from app.frontend.kame.engine import worker
from app.frontend.kame.messages import LoadRequest, Ready
from app.frontend.kame.stream_engine import Column, EngineStep, TextTokens

OWN, HEARD = 2, 3
SILENT_CODES = (7, 8)


class EchoEngine:
    """Says half of what it hears. Its text token is the number of steps since the start of the stream."""

    silence = SILENT_CODES
    context, step_seconds, pending = 400, 0.0, 0
    tokens = TextTokens(0, 1000, 1000, frozenset({0}))

    def __init__(self, behaviour: dict[str, Any]) -> None:
        self.steps = 0
        self._behaviour = behaviour
        self._all = self._restarts = 0

    def restart(self) -> None:
        self._restarts += 1
        if self._restarts > self._behaviour.get("restarts", 1000):
            raise RuntimeError("CUDA error: the context is lost")
        self.restart_language_model()

    def restart_language_model(self) -> None:
        self.steps = 0

    def step(self, samples: np.ndarray, oracle: int, *, silent: bool = False) -> tuple[EngineStep, ...]:
        self._all += 1
        self.steps += 1
        if self._all == self._behaviour.get("fails_at"):
            self._fail(self._behaviour["how"])
        time.sleep(self._behaviour.get("slow", {}).get(str(self._all), 0.0))
        own = SILENT_CODES if silent else (1, 2)
        sound = np.zeros_like(samples) if silent else samples / 2
        return (EngineStep(sound, Column(0 if silent else self.steps, own, self._codes(samples), oracle)),)

    def encode(self, samples: np.ndarray) -> tuple[EngineStep, ...]:
        column = Column(0, SILENT_CODES, self._codes(samples), 0)
        return (EngineStep(np.zeros_like(samples), column, spoken=False),)

    def replay(self, column: Column) -> None:
        assert column.own and len(column.user) == HEARD
        self.steps += 1

    @staticmethod
    def _codes(samples: np.ndarray) -> tuple[int, ...]:
        return tuple(round(float(x) * 1000) for x in samples[:HEARD])

    @staticmethod
    def _fail(how: str) -> None:
        match how:
            case "raise":
                raise RuntimeError("CUDA error: unspecified launch failure\nmore")
            case "memory":
                raise MemoryError("no more")
            case "exit":
                os._exit(3)
            case "silent":
                threading.Event().wait()


@contextlib.contextmanager
def loaded(request: LoadRequest, report: worker.Report) -> Iterator[tuple[EchoEngine, Ready]]:
    behaviour = json.loads(request.folder)
    time.sleep(behaviour.get("plan_seconds", 0.0))
    if behaviour.get("unreadable"):
        raise OSError(5, "Input/output error")
    report(fit="KAME fits.")
    for part in range(1, 5):
        time.sleep(behaviour.get("load_seconds", 0.0) / 4)
        report(loaded=part * 10**9, of=4 * 10**9)
    engine = EchoEngine(behaviour)
    tokens = engine.tokens
    yield (
        engine,
        Ready(
            device="cpu",
            precision="bf16",
            context=engine.context,
            step_seconds=0.0,
            silence=engine.silence,
            own=OWN,
            heard=HEARD,
            padding=tokens.padding,
            start=tokens.start,
            vocabulary=tokens.vocabulary,
            silent=tuple(tokens.silent),
        ),
    )


if __name__ == "__main__":
    worker._loaded = loaded  # type: ignore[assignment]
    raise SystemExit(worker.main(sys.argv[1:]))
