"""What a brain is: chat messages in, an asynchronous stream of text out. Knows nothing of speech.

Adapters raise `BackendError` alone, with a sentence; everything else that escapes one is a fault of ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from app.conversation.prompt import HISTORY_WORDS, PERSONA, ChatMessage

CONNECT_SECONDS = 5.0
FIRST_TOKEN_SECONDS = 20.0
"""A model that has to be loaded first (Ollama) can take long; a listener won't wait longer than this."""
NEXT_TOKEN_SECONDS = 10.0


class BackendError(Exception):
    """A brain failed. `str(error)` is a sentence: what happened, what it means, what to do."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is asked. `max_tokens` bounds the answer; about 1.4 tokens make a word."""

    messages: tuple[ChatMessage, ...]
    max_tokens: int = 160
    temperature: float = 0.3


@dataclass(frozen=True, slots=True)
class Traits:
    """What a brain can take, and how it is best asked.

    `concurrent`: it answers two requests at once without slowing the newer one down much; otherwise the
    stream that is superseded is ended as soon as the new one begins, once it has given words.
    `history_words`: how many words of earlier turns it is given. `persona`: its system prompt.
    `enough_words`: its answer is ended at the first sentence's end behind so many words; 0: never.
    """

    concurrent: bool = True
    history_words: int = HISTORY_WORDS
    persona: str = PERSONA
    max_tokens: int = 160
    temperature: float = 0.3
    enough_words: int = 0


class Backend(Protocol):
    """A brain, ready to answer. `name` and `model` are for people."""

    name: str
    model: str
    traits: Traits

    async def open(self) -> None:
        """Makes it ready (starts a child, finds the model). Raises BackendError."""
        ...

    def stream(self, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """Opens a stream: `async with backend.stream(r) as deltas: async for delta in deltas`.

        Leaving it closes the connection, whatever is still to come. Raises BackendError from both.
        """
        ...

    async def prime(self, request: ChatRequest) -> None:
        """Has the beginning of the next request read in advance, where that makes it quicker. Never raises."""
        ...

    async def close(self) -> None:
        """Frees what `open` took; safe to call twice."""
        ...


@asynccontextmanager
async def guarded(deltas: AsyncGenerator[str, None], who: str) -> AsyncIterator[AsyncIterator[str]]:
    """`deltas` under `with_deadlines`, as a context whose leaving closes them, read to the end or not."""
    limited = with_deadlines(deltas, who)
    try:
        yield limited
    finally:
        await limited.aclose()
        await deltas.aclose()


async def with_deadlines(deltas: AsyncIterator[str], who: str) -> AsyncGenerator[str, None]:
    """Passes `deltas` on; raises BackendError when the first or a later one takes too long.

    `who` names the brain in the sentence.
    """
    seconds, first = FIRST_TOKEN_SECONDS, True
    while True:
        try:
            async with asyncio.timeout(seconds):
                delta = await anext(deltas)
        except StopAsyncIteration:
            return
        except TimeoutError:
            if first:
                raise BackendError(
                    f"{who} did not begin to answer within {seconds:.0f} seconds. It may be overloaded or still "
                    "loading its model: wait a little, or choose another brain."
                ) from None
            raise BackendError(
                f"{who} stopped in mid-answer and was silent for {seconds:.0f} seconds. What had come is spoken; "
                "ask again, or choose another brain."
            ) from None
        if delta:
            seconds, first = NEXT_TOKEN_SECONDS, False
            yield delta
