"""The protocol of a back-end: chat messages in, an asynchronous stream of text, tool calls and usage out.

Adapters raise only `BackendError`, with a sentence for the user; any other exception from one is a bug. Server
addresses are split and shown here, without their secrets.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol
from urllib.parse import SplitResult, urlsplit

from app.conversation.prompt import (
    DOCUMENT_BYTES,
    HISTORY_WORDS,
    LONG_DOCUMENT_BYTES,
    LONG_HISTORY_WORDS,
    PERSONA,
    ChatMessage,
)
from app.tools.base import ToolSpec
from app.untrusted.limits import TOKENS


def split_address(url: str) -> SplitResult:
    """Returns the parts of an address; all of them are empty when `url` is not one."""
    try:
        parts = urlsplit(url)
        _ = parts.hostname, parts.port  # these raise ValueError only when they are read
    except ValueError:
        return urlsplit("")
    return parts if url.isprintable() else urlsplit("")


def on_this_machine(url: str) -> bool:
    """Returns whether a server is reached by loopback, so that no proxy of the environment may be used for it."""
    host = split_address(url if "://" in url else f"//{url}").hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def in_own_network(url: str) -> bool:
    """Returns whether a server is on this machine or in its private network, where requests cost no money."""
    host = split_address(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost"


def without_secrets(url: str) -> str:
    """Returns an address without user, password, query and fragment, all of which may hold keys.

    All that stands before the last “@” counts as user and password, so that no part of a password is left.
    """
    scheme, separator, rest = url.rpartition("://") if url.count("://") == 1 else ("", "", url)
    return scheme + separator + re.split(r"[?#]", rest.rpartition("@")[2], maxsplit=1)[0]


FaultKind = Literal[
    "setup", "key", "quota", "model", "request", "content", "empty", "network", "timeout", "server", "broken"
]
"""What failed: `setup` (a package, an address), `key`, `quota` (too many requests, no credit), `model` (unknown to the
server), `request` (refused in every form), `content` (a filter), `empty` (no words), `network` (no connection),
`timeout`, `server` (an error of the server's own), `broken` (the answer broke off or could not be read)."""

USER_FIXABLE: tuple[FaultKind, ...] = ("key", "setup", "model", "quota", "network")
"""Faults that the user may fix in the settings of a back-end's key and connection."""


class BackendError(Exception):
    """A back-end failed. `str(error)` is a sentence: what happened, what it means, what to do.

    `retry_after`: seconds that the server asked clients to wait; 0 when it said nothing.
    """

    def __init__(self, sentence: str, kind: FaultKind = "server", *, retry_after: float = 0.0) -> None:
        super().__init__(sentence)
        self.kind: FaultKind = kind
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model calls a tool. `arguments` is JSON as the model wrote it; `id` links the call and its result."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolCallMessage:
    """In a request: the assistant message in which the model called tools, with the text that it wrote besides."""

    calls: tuple[ToolCall, ...]
    content: str = ""


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """In a request: the result of the tool call `id`."""

    id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one request; `tokens_cached` of `tokens_in` were read from the server's cache.

    `counted`: by the server; otherwise estimated.
    """

    tokens_in: int
    tokens_out: int
    tokens_cached: int = 0
    counted: bool = True


def token_count(told: Any) -> int:
    """Returns a number of tokens as a server tells it; 0 for what is no such number."""
    return int(told) if isinstance(told, int | float) and 0 <= told <= TOKENS else 0


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool has started for the answer."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool has ended after `seconds`; `text` is its result as the model reads it."""

    name: str
    ok: bool
    text: str
    seconds: float


StreamItem = str | ToolCall | Usage | ToolStarted | ToolEnded
"""An item of an answer's stream. Readers ignore the types that they have no use for."""

Message = ChatMessage | ToolCallMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request. `max_tokens` bounds the answer; about 1.4 tokens make a word.

    `final`: tools with side effects may be called: the user's turn is complete, this answer is the one that is
    spoken, and no such tool has been called for it yet.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 160
    temperature: float = 0.3
    tools: tuple[ToolSpec, ...] = ()
    final: bool = True


@dataclass(frozen=True, slots=True)
class Traits:
    """What a back-end can handle, and how requests to it are best made.

    `concurrent`: it answers two requests at once without slowing the newer one down much; otherwise a superseded stream
    is closed as soon as the new one has given words. `history_words`: how many words of earlier turns it is sent;
    `document_bytes`: how much of the user's documents, in UTF-8. `persona`: its system prompt. `enough_words`: its
    answer is ended at the first end of a sentence after so many words; 0: never. `partial_words`: its answer to a
    partial transcript is ended after so many words; 0: never. `least_interval`: the least number of seconds between two
    requests on partial transcripts, for a model that shares this machine. `free`: requests cost no money.
    `first_seconds` (to the first word) and `words_per_second`: as measured on this machine; None: not measured.
    """

    concurrent: bool = True
    history_words: int = HISTORY_WORDS
    document_bytes: int = DOCUMENT_BYTES
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
        """Returns the traits with a measured speed."""
        return replace(self, first_seconds=first_seconds, words_per_second=words_per_second)

    def for_context(self, tokens: int) -> Traits:
        """Returns the traits for a model that reads so many tokens; the prompt and the answer need room, too."""
        return replace(
            self,
            history_words=max(60, min(LONG_HISTORY_WORDS, int(tokens * 0.4))),
            # 40 % of the tokens, each of at least three bytes; the history gives up half of its room for them.
            document_bytes=max(300, min(LONG_DOCUMENT_BYTES, int(tokens * 1.2))),
        )

    def is_enough(self, text: str, words: int) -> bool:
        """Returns whether an answer of so many words that ends in `text` may end here (`enough_words`)."""
        return 0 < self.enough_words <= words and text.rstrip().endswith((".", "!", "?"))


class Backend(Protocol):
    """A language model that answers requests. `name` and `model` are shown to the user."""

    name: str

    @property
    def model(self) -> str:
        """The model's name."""
        ...

    @property
    def traits(self) -> Traits:
        """What it can take, and how it is to be asked."""
        ...

    async def open(self) -> None:
        """Makes the back-end ready (starts a child process, finds the model). Raises BackendError."""
        ...

    def stream(self, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[StreamItem]]:
        """Opens a stream: `async with backend.stream(r) as items: async for item in items`.

        Leaving the context closes the connection, even in mid-answer. Both steps may raise BackendError.
        """
        ...

    async def models(self) -> list[str]:
        """Returns the models that the server offers; needs no `open`. Raises BackendError."""
        ...

    async def prime(self, request: ChatRequest) -> None:
        """Lets the model read the beginning of the next request in advance, if that saves time. Never raises."""
        ...

    async def close(self) -> None:
        """Frees what `open` acquired; safe to call twice."""
        ...


async def text_of(items: AsyncIterator[StreamItem]) -> AsyncGenerator[str, None]:
    """Yields only the text of a stream."""
    async for item in items:
        if isinstance(item, str):
            yield item


def made_for(backend: Backend) -> tuple[str, str, str]:
    """Returns the provider, model and URL (without secrets) that `make_backend` was given; empty for others."""
    provider, model, url = getattr(backend, "made_for", ("", "", ""))
    return provider, model, without_secrets(url)
