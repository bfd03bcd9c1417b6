"""What the adapters' answer requests share: retries and error messages."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace

from app.backend.base import BackendError, ChatRequest, Notice, StreamItem, Thinking
from app.backend.dialect import Refusal, RequestForm, forms_after
from app.backend.model_record import LOSSES, ModelRecord
from app.backend.thinking import AnswerFilter
from app.tools.base import ToolCall

RETRIES = 2
RETRY_SECONDS = 0.4
"""Delay before the first retry; it doubles with each further retry."""
LOAD_SECONDS = 180.0
"""How long to wait for a server that reports that it is loading its model."""
LOAD_POLL_SECONDS = 1.0
MOST_REFUSALS = 8
"""How many times a rejected request is adapted before the failure is reported."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The last item of an attempt, which carries the server's finish reason ("stop", "length", …)."""

    reason: str


class AnswerAttempts(ABC):
    """The request attempts for a single answer. Subclasses implement a server's protocol.

    - `who`: the model's name in user-facing messages
    - `record`: what is known of the model
    - `first`: the form of a request if nothing is known
    """

    def __init__(self, request: ChatRequest, who: str, record: ModelRecord, first: RequestForm) -> None:
        self.request = request
        self.record = record
        self.form = record.form(first)
        self._who = who
        self._first = first
        self._begun = self.form
        self._tried = {self.form}

    async def items(self) -> AsyncGenerator[StreamItem, None]:
        """Yields the answer's items. Retries only while no text or tool call has been received. Raises BackendError."""
        retries, loading = 0, 0.0
        while True:
            answered, reason = False, ""
            try:
                async with aclosing(self.attempt()) as items:
                    async for item in items:
                        if isinstance(item, Finish):
                            reason = item.reason
                            continue
                        if isinstance(item, Thinking) and self.form.room == 1:
                            self.record.thinks()  # the next answers get more room from the start
                        answered = (
                            answered or isinstance(item, ToolCall) or (isinstance(item, str) and item.strip() != "")
                        )
                        yield item
            except BackendError:
                raise
            except Exception as error:
                if not answered and self.learn(error):
                    continue
                if not answered and self.is_loading(error) and loading < LOAD_SECONDS:
                    if not loading:
                        yield Notice(f"{self._who} is still loading. The answer comes when it is ready.")
                    loading += LOAD_POLL_SECONDS
                    await asyncio.sleep(LOAD_POLL_SECONDS)
                    yield ""  # a sign of life
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
            if reason != "length" or not (more := self.form.with_more_room()):
                raise BackendError(f"{self._who} gave an empty answer. Ask again, or choose another model.", "empty")
            self.record.thinks()
            self.form = more

    def filter(self) -> AnswerFilter:
        """Returns the filter for the text of an answer, according to what is known of the model."""
        return AnswerFilter(thinks=self.form.room > 1, unopened=self.record.unopened)

    async def filtered(
        self, used: AnswerFilter, items: AsyncIterator[StreamItem | Finish]
    ) -> AsyncGenerator[StreamItem | Finish, None]:
        """Yields the items that went through a filter, and learns from a complete answer, but not from one token.

        If the stream breaks off, the words that the filter has held back come before the error.
        """
        try:
            async for item in items:
                yield item
        except Exception:
            if words := used.broken_off():
                yield words
            raise
        if used.closed_unopened or (not used.thought and self.request.max_tokens > 1):
            self.record.unopened = used.closed_unopened

    @abstractmethod
    def attempt(self) -> AsyncGenerator[StreamItem | Finish, None]:
        """Makes one request and yields the answer's items. Propagates the client library's exceptions."""

    @abstractmethod
    def learn(self, error: Exception) -> bool:
        """Adapts the request to what the server rejected; returns whether to retry immediately."""

    @abstractmethod
    def retry_wait(self, error: Exception, usual: float) -> float | None:
        """Returns the delay in seconds before the next retry (`usual` by default), or None if a retry is pointless."""

    @abstractmethod
    def explain(self, error: Exception, *, mid_answer: bool) -> BackendError:
        """Converts an exception to a BackendError with a user-facing message."""

    def is_loading(self, error: Exception) -> bool:
        """Returns whether the server rejected the request because it is still loading the model."""
        return False

    def adapt(self, refusal: Refusal, extra: Iterable[str] = ()) -> bool:
        """Changes the form of the request after a refusal; returns False if there is nothing left to try.

        What was accepted after an earlier refusal is tried first.
        """
        for form in forms_after(self.form, refusal, extra) if len(self._tried) <= MOST_REFUSALS else ():
            doubted = {
                name: value
                for name, value in self.record.doubted.items()
                if form.plain or getattr(form, name) != getattr(self.form, name)
            }
            for candidate in (replace(form, **doubted), form):
                if candidate not in self._tried:
                    self._tried.add(candidate)
                    self.form = candidate
                    return True
        return False

    def accepted(self) -> list[Notice]:
        """Records that the server accepted the request; returns notices about what had to be left out."""
        used = set() if self.form.plain else {"temperature", "limits", "plain"}
        if self.request.tools and self.request.may_call and not self.form.plain:
            used.add("tools")
        lost = self.record.accepted(self._first, self._begun, self.form, used)
        if "tools" in used and not self._first.tools and self.record.lacks_tools():
            lost.append("tools")
        self._begun = self.form
        return [Notice(LOSSES[name].format(who=self._who), loss=True) for name in lost]

    def check_finish(self, reason: str, answered: bool) -> None:
        """Raises BackendError if the server's finish reason indicates a failure."""
        return
