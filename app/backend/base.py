"""What a brain is: chat messages in, an asynchronous stream of text out. Knows nothing of speech.

Adapters raise `BackendError` alone, with a sentence; everything else that escapes one is a fault of ours.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from app.backend.address import without_secrets
from app.conversation.prompt import HISTORY_WORDS, LONG_HISTORY_WORDS, PERSONA, ChatMessage
from app.tools.base import ToolSpec

CONNECT_SECONDS = 5.0
FIRST_TOKEN_SECONDS = 20.0
"""A model that has to be loaded first (Ollama) can take long; a listener won't wait longer than this."""
NEXT_TOKEN_SECONDS = 10.0
BREATH_SECONDS = 0.01
"""A flood of tokens lets others on the loop have their turn so often."""
MOST_CHARS_PER_TOKEN = 8
LEAST_CHARS = 2_000
"""An answer's text is cut off behind this many letters for each token that it may have: English has about four."""


FaultKind = Literal[
    "setup", "key", "quota", "model", "request", "content", "empty", "network", "timeout", "server", "broken"
]
"""What a failure is about: `setup` (a package, an address), `key`, `quota` (too many requests, no money), `model` (not
known there), `request` (refused as it stands), `content` (a filter), `empty` (no words), `network` (nobody there),
`timeout`, `server` (a fault over there), `broken` (it broke off, or spoke nonsense)."""


class BackendError(Exception):
    """A brain failed. `str(error)` is a sentence: what happened, what it means, what to do.

    `retry_after`: so many seconds it asked not to be asked again; 0 when it said nothing.
    """

    def __init__(self, sentence: str, kind: FaultKind = "server", *, retry_after: float = 0.0) -> None:
        super().__init__(sentence)
        self.kind: FaultKind = kind
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The brain asks for a tool: `arguments` is JSON as it wrote it. `id` joins the call and its result."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class AskedTools:
    """In a request: what the brain said before was a wish for these tools (and `content`, if it said words too)."""

    calls: tuple[ToolCall, ...]
    content: str = ""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """In a request: what the tool of call `id` gave."""

    id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What one request took, in tokens; `tokens_cached` of `tokens_in` were read from the server's cache.

    `counted`: by the server; otherwise estimated.
    """

    tokens_in: int
    tokens_out: int
    tokens_cached: int = 0
    counted: bool = True


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool is at work for the answer."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool has ended after `seconds`; `text` is what the brain got to read."""

    name: str
    ok: bool
    text: str
    seconds: float


StreamItem = str | ToolCall | Usage | ToolStarted | ToolEnded
"""What a stream gives: text, and what goes with it. A reader takes what it knows and leaves the rest."""

Message = ChatMessage | AskedTools | ToolAnswer


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is asked. `max_tokens` bounds the answer; about 1.4 tokens make a word.

    `final`: tools that change something may be called: the user's turn is complete, it is the answer that is spoken,
    and none of them has been called for it yet.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 160
    temperature: float = 0.3
    tools: tuple[ToolSpec, ...] = ()
    final: bool = True


@dataclass(frozen=True, slots=True)
class Traits:
    """What a brain can take, and how it is best asked.

    `concurrent`: it answers two requests at once without slowing the newer one down much; otherwise the
    stream that is superseded is ended as soon as the new one begins, once it has given words.
    `history_words`: how many words of earlier turns it is given. `persona`: its system prompt.
    `enough_words`: its answer is ended at the first sentence's end behind so many words; 0: never. `partial_words`: its
    answer to words of somebody who still speaks is ended behind so many; 0: never.
    `least_interval`: seconds between two requests on partial transcripts that it needs at least, since it shares
    this machine. `free`: asking it costs no money. `first_seconds` to an answer's first word and `words_per_second`:
    as measured on this machine; None: not measured.
    """

    concurrent: bool = True
    history_words: int = HISTORY_WORDS
    persona: str = PERSONA
    max_tokens: int = 160
    temperature: float = 0.3
    enough_words: int = 0
    partial_words: int = 0
    least_interval: float = 0.1
    free: bool = False
    first_seconds: float | None = None
    words_per_second: float | None = None

    def at_speed(self, first_seconds: float, words_per_second: float) -> Traits:
        """The same for a brain that was measured."""
        return replace(self, first_seconds=first_seconds, words_per_second=words_per_second)

    def is_enough(self, text: str, words: int) -> bool:
        """Whether an answer of so many words that ends in `text` may end here: see `enough_words`."""
        return 0 < self.enough_words <= words and text.rstrip().endswith((".", "!", "?"))


MENDABLE: tuple[FaultKind, ...] = ("key", "setup", "model", "quota", "network")
"""Faults that the user may put right where a brain's key and connection are."""


def words_that_fit(context: int) -> int:
    """How many words of earlier turns a model is given that reads `context` tokens: rules and answer need room, too."""
    return max(60, min(LONG_HISTORY_WORDS, int(context * 0.4)))


def tool_schemas(request: ChatRequest) -> list[dict[str, Any]]:
    """The tools of a request as OpenAI's protocol and Ollama's want them."""
    return [
        {
            "type": "function",
            "function": {"name": t.name, "description": t.description, "parameters": dict(t.parameters)},
        }
        for t in request.tools
    ]


class Backend(Protocol):
    """A brain, ready to answer. `name` and `model` are for people."""

    name: str
    model: str
    traits: Traits

    async def open(self) -> None:
        """Makes it ready (starts a child, finds the model). Raises BackendError."""
        ...

    def stream(self, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[StreamItem]]:
        """Opens a stream: `async with backend.stream(r) as items: async for item in items`.

        Leaving it closes the connection, whatever is still to come. Raises BackendError from both.
        """
        ...

    async def models(self) -> list[str]:
        """The models that its server offers; needs no `open`. Raises BackendError."""
        ...

    async def prime(self, request: ChatRequest) -> None:
        """Has the beginning of the next request read in advance, where that makes it quicker. Never raises."""
        ...

    async def close(self) -> None:
        """Frees what `open` took; safe to call twice."""
        ...


@asynccontextmanager
async def guarded(
    items: AsyncGenerator[StreamItem, None], who: str, request: ChatRequest
) -> AsyncIterator[AsyncIterator[StreamItem]]:
    """`items` under `with_deadlines`, as a context whose leaving closes them, read to the end or not."""
    limited = with_deadlines(items, who, max(LEAST_CHARS, request.max_tokens * MOST_CHARS_PER_TOKEN))
    try:
        yield limited
    finally:
        await limited.aclose()
        await items.aclose()


async def with_deadlines(
    items: AsyncIterator[StreamItem], who: str, most_chars: int
) -> AsyncGenerator[StreamItem, None]:
    """Passes `items` on; raises BackendError when the first or a later one takes too long.

    `who` names the brain in the sentence. The text is cut off behind `most_chars` letters: there are servers that
    don't keep to the limit that they are given, and nobody listens for ever.
    """
    clock = asyncio.get_running_loop().time
    seconds, first = FIRST_TOKEN_SECONDS, True
    deadline, rested = clock() + seconds, clock()
    while most_chars > 0:
        try:
            with without_origin():
                async with asyncio.timeout_at(deadline):
                    item = await anext(items)
        except StopAsyncIteration:
            return
        except TimeoutError:
            if first:
                raise BackendError(
                    f"{who} did not begin to answer within {seconds:.0f} seconds. It may be overloaded or still "
                    "loading its model: wait a little, or choose another brain.",
                    "timeout",
                ) from None
            raise BackendError(
                f"{who} stopped in mid-answer and was silent for {seconds:.0f} seconds. What had come is spoken; "
                "ask again, or choose another brain.",
                "timeout",
            ) from None
        if item:  # signs of life without a word are none
            seconds, first = NEXT_TOKEN_SECONDS, False
            if isinstance(item, str):
                item = item[:most_chars]
                most_chars -= len(item)
            yield item
            deadline = clock() + seconds
        if clock() - rested > BREATH_SECONDS:
            await asyncio.sleep(0)
            rested = clock()


async def text_of(items: AsyncIterator[StreamItem]) -> AsyncGenerator[str, None]:
    """The text alone of a stream."""
    async for item in items:
        if isinstance(item, str):
            yield item


@contextmanager
def without_origin() -> Iterator[None]:
    """Lets a BackendError out without the errors that it came of: a server's own words may quote the key."""
    try:
        yield
    except BackendError as error:
        error.__cause__ = error.__context__ = None
        raise


def chain_of(error: BaseException | None) -> list[BaseException]:
    """An error and what led to it."""
    out: list[BaseException] = []
    while error is not None and len(out) < 12:
        out.append(error)
        error = error.__cause__ or error.__context__
    return out


def is_reset(error: BaseException) -> bool:
    """Whether a connection that stood broke: asking again may help."""
    return any(
        isinstance(e, ConnectionResetError | BrokenPipeError)
        or type(e).__name__ in ("ReadError", "RemoteProtocolError", "WriteError")
        for e in chain_of(error)
    )


def no_connection(error: BaseException, where: str, start: str = "Start it") -> BackendError:
    """The sentence when no connection came about. `start` says how the server is started."""
    chain = chain_of(error)
    text = " ".join(str(e) for e in chain).lower()
    if any(isinstance(e, ssl.SSLError) for e in chain) or "certificate" in text:
        sentence = (
            f"The connection to {where} is not safe: its certificate can't be trusted, or it does not speak TLS. "
            "Check the address and this machine's date, or choose another brain."
        )
    elif any(isinstance(e, socket.gaierror) for e in chain) or "name or service" in text or "getaddrinfo" in text:
        sentence = f"The name of {where} can't be found. Check the address and the network, or choose another brain."
    elif any(type(e).__name__ == "ConnectTimeout" for e in chain):
        sentence = (
            f"{where} can't be reached: nothing came back. Check the address and the network, or choose another brain."
        )
    else:
        sentence = f"No server answers at {where}. {start}, check the address, or choose another brain."
    return BackendError(sentence, "network")


def made_for(backend: Backend) -> tuple[str, str, str]:
    """The provider, model and URL that a brain was made for, the URL without secrets; empty where nobody noted it."""
    provider, model, url = getattr(backend, "made_for", ("", "", ""))
    return provider, model, without_secrets(url)
