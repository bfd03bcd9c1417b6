"""One answer from a server that speaks OpenAI's protocol: the request in a form that it accepts, and its retries."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from copy import deepcopy
from typing import Any

from app.backend.attempts import AnswerAttempts, Finish
from app.backend.base import BackendError, ChatRequest, StreamItem
from app.backend.deadlines import FIRST_TOKEN_SECONDS
from app.backend.dialect import Dialect, without_older_half
from app.backend.faults import is_reset
from app.backend.openai_faults import (
    CONTENT,
    KEY,
    NO_MODEL,
    NO_MONEY,
    TEMPLATE,
    TOO_LONG,
    TRANSIENT,
    ServerInfo,
    complaint_of,
    explain,
    retry_after,
    status_of,
)
from app.backend.openai_stream import read_stream

LONGEST_RETRY_SECONDS = 2.5
"""If a server asks for a longer wait than this, the user is told instead."""
MOST_REFUSALS = 8
"""Times that a request is changed before the server's refusal counts."""


class OpenAIAnswer(AnswerAttempts):
    """The attempts at one answer.

    `create` makes the library's request from a body. `accepted` is told the dialect and the request that the server
    accepted; what is learned counts only then.
    """

    def __init__(
        self,
        request: ChatRequest,
        who: str,
        server: ServerInfo,
        dialect: Dialect,
        create: Callable[[dict[str, Any]], Any],
        accepted: Callable[[Dialect, ChatRequest], None],
    ) -> None:
        super().__init__(request, who)
        self._server, self._dialect = server, deepcopy(dialect)
        self._create, self._accepted = create, accepted

    async def attempt(self) -> AsyncGenerator[StreamItem | Finish, None]:
        async with await self._open() as stream:
            async for item in read_stream(stream):
                yield item

    async def _open(self) -> Any:
        """Opens the stream, changing the request as long as the server refuses it."""
        request, refusals = self.request, 0
        while True:
            try:
                async with asyncio.timeout(FIRST_TOKEN_SECONDS):
                    stream = await self._create(self._dialect.body(request))
                break
            except Exception as error:
                status, complaint = status_of(error), complaint_of(error)
                if status in (400, 413, 422) and TOO_LONG.search(complaint) and (less := without_older_half(request)):
                    request = less
                elif refusals < MOST_REFUSALS and _is_refusal(status, complaint) and self._dialect.learn(complaint):
                    refusals += 1
                else:
                    raise
        self._accepted(self._dialect, request)
        return stream

    def retry_wait(self, error: Exception, usual: float) -> float | None:
        import openai

        status = status_of(error)
        if NO_MONEY.search(complaint_of(error)):
            return None
        if status in TRANSIENT or status == 429:
            wait = retry_after(error) or usual
            return wait if wait <= LONGEST_RETRY_SECONDS else None
        if isinstance(error, openai.APITimeoutError | TimeoutError):
            return None  # it has taken long enough
        return usual if is_reset(error) else None

    def explain(self, error: Exception, *, mid_answer: bool) -> BackendError:
        return explain(error, self._server, mid_answer=mid_answer)

    def allow_more(self) -> bool:
        return self._dialect.allow_more()

    def check_finish(self, reason: str, answered: bool) -> None:
        if reason.startswith(("content_filter", "safety")) or (reason == "refusal" and not answered):
            raise BackendError(
                f"{self._server.where} stopped this answer with its content filter. Ask in other words, or choose "
                "another model.",
                "content",
            )


def _is_refusal(status: int, complaint: str) -> bool:
    """Returns whether a server refused the form of a request, so that another form may be accepted."""
    other = any(pattern.search(complaint) for pattern in (KEY, CONTENT, NO_MODEL, NO_MONEY, TOO_LONG))
    return (status in (400, 422) and not other) or (status == 500 and bool(TEMPLATE.search(complaint)))
