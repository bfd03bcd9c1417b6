"""A back-end that delegates to other back-ends according to the kind of question."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from app.backend.base import Backend, BackendError, ChatRequest, Traits

COOLDOWN_SECONDS = 60.0
"""Minimum time for which a back-end is skipped after a failure."""
LONGEST_REST_SECONDS = 600.0


class Decision(Protocol):
    """A classification: the kind of question, its probability (`share`) and a user-facing reason."""

    @property
    def kind(self) -> str: ...
    @property
    def share(self) -> float: ...
    @property
    def reason(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Choice:
    """The back-end selected for an answer. `kind`, `share`, `reason`: see `Decision`."""

    backend: Backend
    kind: str
    share: float
    reason: str


class RouterBackend:
    """A back-end that delegates each request to the back-end last selected by `choose`.

    - `table`: maps each kind of question to a back-end. Several kinds may share one.
    - `decide`: classifies a turn, given its number and its transcript so far.
    - `now`: a monotonic clock, in seconds.
    """

    name = "Router"

    def __init__(
        self,
        table: Mapping[str, Backend],
        decide: Callable[[int, str], Decision],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        if not table:
            raise BackendError("The routing table is empty. Choose a model for at least one kind of question.", "setup")
        self._table = dict(table)
        self._decide = decide
        self._now = now
        self._rests_until: dict[Backend, float] = {}
        self._kind = next(iter(self._table))
        self.lost: list[tuple[Backend, BackendError]] = []
        """The back-ends that could not be opened, with their errors."""

    @property
    def model(self) -> str:
        """The names of all models in the table, comma-separated."""
        return ", ".join(filter(None, dict.fromkeys(backend.model for backend in self._table.values())))

    @property
    def traits(self) -> Traits:
        """The traits of the back-end selected last."""
        return self._table[self._kind].traits

    async def open(self) -> None:
        """Opens all back-ends concurrently. Raises BackendError if all of them fail."""
        backends = list(dict.fromkeys(self._table.values()))
        results = await asyncio.gather(*(backend.open() for backend in backends), return_exceptions=True)
        for backend, result in zip(backends, results, strict=True):
            if isinstance(result, BackendError):
                self.lost.append((backend, result))
            elif isinstance(result, BaseException):
                raise result
        if len(self.lost) == len(backends):
            raise BackendError(str(self.lost[0][1]), "setup")
        for backend, _ in self.lost:
            self._rests_until[backend] = math.inf

    def choose(self, turn: int, words: str, allowed: Callable[[Backend], bool] = lambda backend: True) -> Choice:
        """Selects a back-end, preferably an `allowed` one. `words`: the transcript so far of turn number `turn`."""
        decision = self._decide(turn, words)
        kind, reason = decision.kind, decision.reason
        rests = {k: self._rests_until.get(backend, 0.0) for k, backend in self._table.items()}
        working = [k for k in (kind, "everyday", *self._table) if rests.get(k, math.inf) < math.inf]
        candidates = [k for k in working if allowed(self._table[k])]
        # If all candidates are being skipped, try the one that becomes available first.
        chosen = next((k for k in candidates if rests[k] <= self._now()), None)
        chosen = chosen or min(candidates or working, key=rests.__getitem__)
        if chosen != kind:
            if kind in working and kind not in candidates:
                why = "its model costs too much by now"
            else:
                why = "its model failed" if kind in self._table else "there is no model for it"
            reason = f"{reason}; {why}, so the one for {chosen} answers"
        self._kind = chosen
        return Choice(self._table[chosen], kind, decision.share, reason)

    def failed(self, backend: Backend, rest: float = 0.0) -> bool:
        """Skips a failed back-end for `rest` seconds, clamped to [60, 600]; returns whether another is available."""
        rest = max(COOLDOWN_SECONDS, min(rest, LONGEST_REST_SECONDS))
        now = self._now()
        self._rests_until[backend] = max(self._rests_until.get(backend, 0.0), now + rest)
        return any(self._rests_until.get(other, 0.0) <= now for other in self._table.values())

    def stream(self, request: ChatRequest) -> AbstractAsyncContextManager[Any]:
        return self._table[self._kind].stream(request)

    async def models(self) -> list[str]:
        return list(dict.fromkeys(backend.model for backend in self._table.values()))

    async def prime(self, request: ChatRequest) -> None:
        await self._table[self._kind].prime(request)

    async def close(self) -> None:
        for backend in dict.fromkeys(self._table.values()):
            with contextlib.suppress(Exception):  # one failure must not prevent the others from being closed
                await backend.close()
