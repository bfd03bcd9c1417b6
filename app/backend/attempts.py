"""Requests one answer, again where that can help, and explains the failure where it can't."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from app.backend.base import BackendError, ChatRequest, StreamItem, ToolCall

RETRIES = 2
RETRY_SECONDS = 0.4
"""Before the first retry; twice as much before each further one."""
MORE_ROOM = 8
"""Times the token limit for a model that has used its limit up by thinking."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The last item of an attempt: why the server ended its answer ("stop", "length", …)."""

    reason: str


class AnswerAttempts(ABC):
    """The attempts at one answer. Subclasses speak one server's protocol. `who` names the model to the user."""

    def __init__(self, request: ChatRequest, who: str) -> None:
        self.request = request
        self._who = who

    async def items(self) -> AsyncGenerator[StreamItem, None]:
        """Yields the answer's items. A request is repeated only before the first words. Raises BackendError."""
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
            if answered or self.request.max_tokens <= 1:  # with one token the model was only to read
                return
            if reason != "length" or not self.allow_more():
                raise BackendError(f"{self._who} gave an empty answer. Ask again, or choose another model.", "empty")

    @abstractmethod
    def attempt(self) -> AsyncGenerator[StreamItem | Finish, None]:
        """Makes one request and yields its items; raises the library's own exceptions."""

    @abstractmethod
    def retry_wait(self, error: Exception, usual: float) -> float | None:
        """Returns the seconds after which another request may succeed; None when it won't, or not soon enough."""

    @abstractmethod
    def explain(self, error: Exception, *, mid_answer: bool) -> BackendError:
        """Returns the sentence for an exception."""

    @abstractmethod
    def allow_more(self) -> bool:
        """The model used its token limit up without a word: raises the limit once and returns whether it did."""

    def learn(self, error: Exception) -> bool:
        """Leaves out of later requests what the server refused; returns whether to make the request again at once."""
        return False

    def check_finish(self, reason: str, answered: bool) -> None:
        """Raises BackendError if the reason for which the server ended its answer is a failure."""
        return
