"""What a window may ask of a session, and of whoever builds sessions. Protocols only."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from app.conversation.events import Event, Manner


@dataclass(frozen=True, slots=True)
class BackendChoice:
    """A brain by name: a key of `app.backend.PROVIDERS`, a model (empty: the provider's default), a URL."""

    provider: str = "embedded"
    model: str = ""
    base_url: str = ""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """How a front-end with weights of its own runs.

    `weights`: a folder (empty: where downloads go). `precision`: `auto`, `bf16`, `int8` or `int4`; `device`: `auto`
    (a CUDA card, or a refusal), `cuda` or `cpu`. `context`: frames of memory (0: as many as fit). `delay` and
    `lead`: see `app.frontend.base.SetDials`.
    """

    weights: str = ""
    precision: str = "auto"
    device: str = "auto"
    context: int = 0
    delay: int = 0
    lead: int = 0


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """What a talk on devices is made of. Device names: empty for the system's default."""

    frontend: str = "cascade"
    model: ModelChoice = ModelChoice()
    backend: BackendChoice = BackendChoice()
    manner: Manner = "thinking"
    duplex: bool = False
    microphone: str = ""
    loudspeaker: str = ""
    record_folder: str = ""


class SessionControl(Protocol):
    """A running session. All calls come from the event loop's thread; none blocks."""

    def add_listener(self, listener: Callable[[Event], None]) -> None:
        """Has every event from now on passed to `listener`, on the event loop's thread.

        The first one gets what happened before it, too.
        """
        ...

    def press(self) -> None:
        """The talk button went down."""
        ...

    def release(self) -> None:
        """The talk button went up."""
        ...

    def set_duplex(self, duplex: bool) -> None:
        """Whether the voice alone opens and closes turns (full duplex), or the button does."""
        ...

    def set_manner(self, manner: Manner) -> None:
        """Answers in this manner from now on."""
        ...

    def set_dials(self, delay: int, lead: int) -> None:
        """Waits `delay` frames before answering and hears the user `lead` frames late, from now on."""
        ...

    async def set_backend(self, choice: BackendChoice) -> None:
        """Answers with this brain from the next revision on. Raises BackendError with a sentence."""
        ...

    async def stop(self) -> None:
        """Ends the session and waits until all of it has ended; safe to call twice."""
        ...


class WeightsStore(Protocol):
    """The weights of front-ends on this machine; the composition root gives the window one."""

    def missing(self, frontend: str) -> str:
        """What is missing of a front-end's weights, in words for the user; empty when nothing is."""
        ...

    def get(self, frontend: str, report: Callable[[str, float], None], cancelled: threading.Event) -> None:
        """Downloads them; blocks, on any thread. `report` gets words and a share done. Raises UserError."""
        ...


class SessionFactory(Protocol):
    """Builds and starts sessions for the window; the composition root gives it one."""

    async def __call__(self, choice: SessionChoice, progress: Callable[[str], None]) -> SessionControl:
        """Loads everything off the loop's thread, tells what it does in words through `progress`, starts.

        Raises `app.session.errors.UserError` with a sentence when the user can put it right.
        """
        ...
