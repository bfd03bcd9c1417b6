"""Opens the tools that the model may use in a session, and exchanges them while it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

from app.backend.base import Backend, BackendError, ChatRequest, StreamItem
from app.backend.tool_calls import stream_with_tools
from app.session.control import ToolChoice
from app.tools.base import ToolError
from app.tools.toolbox import Toolbox


class ToolAccess:
    """The toolbox in use, none at first. `make` builds the toolbox of a choice, not opened yet; None: no tools here.

    `choice` is what is in use. Calls of `change` must not overlap.
    """

    def __init__(self, make: Callable[[ToolChoice], Toolbox] | None) -> None:
        self.choice = ToolChoice()
        self._make = make
        self._toolbox: Toolbox | None = None
        self._replaced: list[Toolbox] = []  # not closed yet
        self._acted: set[int] = set()

    @property
    def acting(self) -> frozenset[str]:
        """The names of the tools that may change something in the world."""
        specs = self._toolbox.specs if self._toolbox is not None else ()
        return frozenset(spec.name for spec in specs if spec.acts)

    def used(self, turn: int, tool: str) -> None:
        """Note that a tool was called for `turn`: no back-end and no second attempt acts for that turn again."""
        if tool in self.acting:
            self._acted.add(turn)

    def may_act(self, turn: int) -> bool:
        """Whether tools may still change something for `turn`."""
        return turn not in self._acted

    def stream(self, backend: Backend, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[StreamItem]]:
        """Ask `backend`, with the tools if there are any."""
        if self._toolbox is None:
            return backend.stream(request)
        return stream_with_tools(backend, request, self._toolbox)

    async def change(self, choice: ToolChoice) -> list[str]:
        """Use the tools of `choice` from the next request on; return a sentence for each server that is missing.

        Raises BackendError for tools that don't exist; then nothing has changed. The same holds
        if it is cancelled while the tools are opened.
        """
        old, new, problems = self._toolbox, None, []
        if choice.names and self._make is not None:
            try:
                new = self._make(choice)
            except ToolError as error:
                raise BackendError(str(error), "setup") from None
            if choice == self.choice and old is not None and new.is_like(old):
                return []  # the new one was never opened
            try:
                problems = await new.open()
            except BaseException:
                await new.close()
                raise
        self._toolbox, self.choice = new, choice
        if old is not None:
            self._replaced.append(old)
        await self._close_replaced()
        return problems

    async def close(self) -> None:
        """Close the connections to tool servers."""
        if self._toolbox is not None:
            self._replaced.append(self._toolbox)
            self._toolbox = None
        await self._close_replaced()

    async def _close_replaced(self) -> None:
        while self._replaced:
            await self._replaced[-1].close()  # cancelled: it is closed again by the next call
            self._replaced.pop()
