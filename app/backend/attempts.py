"""The base class for answer requests, which implements retries and converts errors to user-facing messages."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from app.backend.base import BackendError, ChatRequest, StreamItem, ToolCall

RETRIES = 2
RETRY_SECONDS = 0.4
"""Delay before the first retry; it doubles with each further retry."""
MORE_ROOM = 8
"""Factor by which the token limit is raised if the model used it up by thinking."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The last item of an attempt, which carries the server's finish reason ("stop", "length", …)."""

    reason: str


class AnswerAttempts(ABC):
    """The request attempts for a single answer. Subclasses implement a server's protocol.

    `who`: the model's name in user-facing messages.
    """

    def __init__(self, request: ChatRequest, who: str) -> None:
        self.request = request
        self._who = who

    async def items(self) -> AsyncGenerator[StreamItem, None]:
        """Yields the answer's items. Retries only while no text or tool call has been received. Raises BackendError."""
        retries = 0
        while True:
            answered, reason = False, ""
            try:
                async with aclosing(self.attempt()) as items:
                    async for item in items:
                        if isinstance(item, Finish):
                            reason = item.reason
                            continue
                        answered = (
                            answered or isinstance(item, ToolCall) or (isinstance(item, str) and item.strip() != "")
                        )
                        yield item
            except BackendError:
                raise
            except Exception as error:
                if not answered and self.learn(error):
                    continue
                wait = None
                if not answered and retries < RETRIES:
                    wait = self.retry_wait(error, RETRY_SECONDS * 2**retries)
                if wait is None:
                    raise self.explain(error, mid_answer=answered) from None
                retries += 1
                await asyncio.sleep(wait)
                continue
            self.check_finish(reason, answered)
            if answered or self.request.max_tokens <= 1:  # a limit of one token is used only to process the prompt
                return
            if reason != "length" or not self.allow_more():
                raise BackendError(f"{self._who} gave an empty answer. Ask again, or choose another model.", "empty")

    @abstractmethod
    def attempt(self) -> AsyncGenerator[StreamItem | Finish, None]:
        """Makes one request and yields the answer's items. Propagates the client library's exceptions."""

    @abstractmethod
    def retry_wait(self, error: Exception, usual: float) -> float | None:
        """Returns the delay in seconds before the next retry (`usual` by default), or None if a retry is pointless."""

    @abstractmethod
    def explain(self, error: Exception, *, mid_answer: bool) -> BackendError:
        """Converts an exception to a BackendError with a user-facing message."""

    @abstractmethod
    def allow_more(self) -> bool:
        """Raises the token limit once, after the model used it up without producing text; returns whether it did."""

    def learn(self, error: Exception) -> bool:
        """Adapts further requests by omitting what the server rejected; returns whether to retry immediately."""
        return False

    def check_finish(self, reason: str, answered: bool) -> None:
        """Raises BackendError if the server's finish reason indicates a failure."""
        return
