"""A brain that chooses among brains: what kind of question it is decides who answers.

Knows the user's table from kinds to brains and a policy that tells the kind; no classifier, no session.
"""

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

RESTS_SECONDS = 60.0
"""A brain that has failed is passed over for so long."""
LONGEST_REST_SECONDS = 600.0


class Decision(Protocol):
    """What kind of question it is, as sure as `share`, and why, in words."""

    @property
    def kind(self) -> str: ...
    @property
    def share(self) -> float: ...
    @property
    def reason(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Choice:
    """Who answers, and why."""

    backend: Backend
    kind: str
    share: float
    reason: str


class RouterBackend:
    """`table`: a brain for each kind of question; one brain may stand for several. `decide` tells the kind of the words
    of a turn so far. `now`: any steady clock, in seconds.
    """

    name = "Router"

    def __init__(
        self,
        table: Mapping[str, Backend],
        decide: Callable[[int, str], Decision],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        if not table:
            raise BackendError(
                "The router's table is empty. Choose a brain for one kind of question at least.", "setup"
            )
        self._table = dict(table)
        self._decide = decide
        self._now = now
        self._out: dict[Backend, float] = {}
        self._kind = next(iter(self._table))
        self.lost: list[tuple[Backend, BackendError]] = []
        """Brains of the table that could not be opened, and what is wrong with them."""

    @property
    def model(self) -> str:
        """The models of the table."""
        return ", ".join(filter(None, dict.fromkeys(backend.model for backend in self._table.values())))

    @property
    def traits(self) -> Traits:
        """Those of the brain that was chosen last."""
        return self._table[self._kind].traits

    async def open(self) -> None:
        """Opens the table's brains, side by side. Raises BackendError when none of them can be had."""
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
            self._out[backend] = float("inf")

    def choose(self, turn: int, words: str, allowed: Callable[[Backend], bool] = lambda backend: True) -> Choice:
        """Who answers `words`, the user's words of `turn` so far, of those that are `allowed` to."""
        decision = self._decide(turn, words)
        kind, reason = decision.kind, decision.reason
        now = self._now()
        rests = {k: self._out.get(answering, 0.0) for k, answering in self._table.items()}
        fit = [k for k in (kind, "everyday", *self._table) if rests.get(k, math.inf) < math.inf]
        may = [k for k in fit if allowed(self._table[k])]
        # When all are to rest, the one that has rested longest is tried before nobody is.
        chosen = next((k for k in may if rests[k] <= now), None) or min(may or fit, key=rests.__getitem__)
        if chosen != kind and kind in fit and kind not in may:
            reason = f"{reason}; its brain costs too much by now, so the one for {chosen} answers"
        elif chosen != kind and kind in self._table:
            reason = f"{reason}; its brain failed, so the one for {chosen} answers"
        elif chosen != kind:
            reason = f"{reason}; there is no brain for it, so the one for {chosen} answers"
        self._kind = chosen
        return Choice(self._table[chosen], kind, decision.share, reason)

    def failed(self, backend: Backend, rest: float = 0.0) -> bool:
        """Passes `backend` over for a while, `rest` seconds at least; whether another one can answer meanwhile."""
        rest = max(RESTS_SECONDS, min(rest, LONGEST_REST_SECONDS))
        self._out[backend] = max(self._out.get(backend, 0.0), self._now() + rest)
        now = self._now()
        return any(self._out.get(other, 0.0) <= now for other in self._table.values())

    def stream(self, request: ChatRequest) -> AbstractAsyncContextManager[Any]:
        """See `Backend.stream`: asks the brain that was chosen last."""
        return self._table[self._kind].stream(request)

    async def models(self) -> list[str]:
        """The models of the table."""
        return list(dict.fromkeys(backend.model for backend in self._table.values()))

    async def prime(self, request: ChatRequest) -> None:
        """See `Backend.prime`."""
        await self._table[self._kind].prime(request)

    async def close(self) -> None:
        """Closes all."""
        for backend in dict.fromkeys(self._table.values()):
            with contextlib.suppress(Exception):  # the others are to be closed all the same
                await backend.close()
