"""Tells the user that the machine is too slow, with the cause if it can be found."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from app.backend import PROVIDERS
from app.conversation import events as e
from app.frontend.slow_card import CardModel, RunsOnCard, explain
from app.platform import nvidia
from app.session.control import BackendChoice
from app.session.overload import WINDOW_SECONDS
from app.session.parts import LatestTask, SessionParts
from app.untrusted.proxies import on_this_machine

LOOK_SECONDS, WAIT_SECONDS = 2.0, 3.0
"""How long the driver may take to say what the graphics card is doing, and how long the user's message waits for it."""


class OverloadReports:
    """Tells the user that the machine is too slow. If the front-end's model is on a graphics card, asks the driver
    first what slows it, on a thread.

    - `parts`: those of the session, whose front-end may change.
    - `backend`: returns the back-end whose answers are spoken.
    """

    def __init__(
        self,
        parts: SessionParts,
        backend: Callable[[], BackendChoice],
        emit: Callable[[e.Event], object],
    ) -> None:
        self._parts = parts
        self._backend = backend
        self._emit = emit
        self._looking = LatestTask("look at the graphics card")

    def tell(self, at: float, what: str) -> None:
        """Emits a Failure event, now or when the cause is known. `what`: what `Overload` has noticed."""
        frontend = self._parts.frontend
        model = frontend.on_card() if isinstance(frontend, RunsOnCard) else None
        if model is not None:
            self._looking.start(lambda: self._tell_cause(at, what, model))
            return
        sentence = (
            f"This machine can't keep up: {what} in the last {WINDOW_SECONDS:.0f} s. Close other programs, or choose a "
            "smaller precision, a shorter context or the built-in voice in the settings."
        )
        self._emit(e.Failure(at, "frontend", sentence))

    async def stop(self) -> None:
        """Ends a look that is under way, with its message."""
        await self._looking.stop()

    async def _tell_cause(self, at: float, what: str, model: CardModel) -> None:
        cards: Sequence[nvidia.CardUse] = ()
        with suppress(TimeoutError):
            cards = await asyncio.wait_for(asyncio.to_thread(nvidia.look_at_use, LOOK_SECONDS), WAIT_SECONDS)
        sentence = explain(what, WINDOW_SECONDS, model, cards, local_server(self._backend()))
        self._emit(e.Failure(at, "frontend", sentence))


def local_server(choice: BackendChoice) -> str:
    """Returns the user-facing name of the server that runs a back-end's model on this machine; empty if none does."""
    spec = PROVIDERS.get(choice.provider)
    address = choice.base_url or (spec.default_url if spec is not None else "")
    if spec is None or not address or not on_this_machine(address) or choice.model.endswith("cloud"):
        return ""  # Ollama passes requests for models such as “gpt-oss:120b-cloud” on
    return spec.label if spec.free else "The language model's server"
