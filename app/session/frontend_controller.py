"""Replaces a front-end that fails while the conversation continues, and brings it back once it works again."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from app.conversation import events as e
from app.frontend.base import FrontEnd, FrontEndError
from app.session.frame_loop import StepMessage
from app.session.mailbox import Message, SwapFrontEnd
from app.session.parts import LatestTask, Loader, SessionParts

STEADY_SECONDS = 60.0
"""A front-end that fails again so soon after its return doesn't come back in this conversation."""

_log = logging.getLogger(__name__)


@runtime_checkable
class Recovering(FrontEnd, Protocol):
    """A front-end whose model is loaded again after it has failed."""

    def recovered(self) -> str:
        """Returns the user-facing message if it has failed and can be entered again, otherwise an empty string."""
        ...


class FrontEndController:
    """Follows the steps of a session. Everything runs on the event loop's thread.

    - `loader`: opens and closes the front-ends of `parts`.
    - `post`, `emit`, `now`: the session's mailbox, events and clock.
    - `quiet`: returns whether neither side has the floor and nothing could make the assistant speak.
    - `replaced`: called with the front-end that was lost when another one takes over in its place.
    - `end`: ends the session with a reason, since no front-end is left.
    """

    def __init__(
        self,
        parts: SessionParts,
        loader: Loader,
        *,
        post: Callable[[Message], None],
        emit: Callable[[e.Event], None],
        now: Callable[[], float],
        quiet: Callable[[], bool],
        replaced: Callable[[FrontEnd], None],
        end: Callable[[str], None],
    ) -> None:
        self._parts, self._loader = parts, loader
        self._post, self._emit, self._now = post, emit, now
        self._quiet, self._replaced, self._end = quiet, replaced, end
        self._replacing = LatestTask("replace the front-end")
        self._reopening = LatestTask("open the first front-end again")
        self._closing = LatestTask("close the front-end that stood in")
        self._lost: Recovering | None = None  # may come back
        self._back: tuple[FrontEnd, str] | None = None  # is open again, with its user-facing message
        self._came_back_at = -STEADY_SECONDS
        self._stood_in: FrontEnd | None = None  # is still stepped, until the one that came back is

    @property
    def replacing(self) -> bool:
        """Whether no front-end is working, since the next one is being loaded."""
        return self._replacing.running

    def follow(self, message: StepMessage) -> None:
        """Handles the message of a step. Call it for each step."""
        if message.lost:
            self._lose(message.lost)
        elif any(isinstance(event, e.FrontEndChanged) for event in message.events) and self._stood_in is not None:
            stood_in, self._stood_in = self._stood_in, None
            self._closing.start(lambda: self._loader.close_part(stood_in))
        elif self._back is not None:
            if self._quiet():
                self._take_back(*self._back)
        elif self._lost is not None and not self.replacing and (sentence := self._lost.recovered()):
            frontend, self._lost = self._lost, None
            self._reopening.start(lambda: self._reopen(frontend, sentence))

    async def wait(self) -> None:
        """Waits until the session has a front-end or has given up. One that isn't open again yet doesn't come back."""
        await self._replacing.wait()
        await self._reopening.stop()
        await self._closing.wait()

    def _lose(self, sentence: str) -> None:
        """Reports the loss to the user, and loads the fallback."""
        if self._parts.fallback is None:
            self._end(sentence)
            return
        self._emit(e.Failure(self._now(), "frontend", sentence))
        lost = self._parts.frontend
        if isinstance(lost, Recovering) and self._now() - self._came_back_at >= STEADY_SECONDS:
            self._lost = lost
        self._replacing.start(self._load_fallback)

    async def _load_fallback(self) -> None:
        lost = self._parts.frontend
        try:
            frontend = await self._loader.replace_frontend()
        except FrontEndError as error:
            self._end(str(error))
            return
        self._post(SwapFrontEnd(frontend))
        self._replaced(lost)

    async def _reopen(self, frontend: FrontEnd, sentence: str) -> None:
        try:
            await self._loader.open_part(frontend)
        except Exception as error:  # of any kind: the conversation has another one
            _log.warning("The front-end could not be opened again: %s: %s", type(error).__name__, error)
            return
        self._back = frontend, sentence

    def _take_back(self, frontend: FrontEnd, sentence: str) -> None:
        self._back, self._came_back_at = None, self._now()
        self._stood_in, self._parts.frontend = self._parts.frontend, frontend
        self._emit(e.Notice(self._now(), "frontend", sentence))
        self._post(SwapFrontEnd(frontend))
