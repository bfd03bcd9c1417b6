"""The back-end protocol: chat messages in, an asynchronous stream of text, tool calls and usage out.

Adapters raise only `BackendError`, with a user-facing message; any other exception is a bug. This module also parses
server addresses and strips secrets from them for display.
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
    """Splits an address into its parts; all are empty if `url` is invalid."""
    try:
        parts = urlsplit(url)
        _ = parts.hostname, parts.port  # these properties raise ValueError only on access
    except ValueError:
        return urlsplit("")
    return parts if url.isprintable() else urlsplit("")


def on_this_machine(url: str) -> bool:
    """Returns whether a server is on the loopback interface, so that the environment's proxies must not be used."""
    host = split_address(url if "://" in url else f"//{url}").hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def in_own_network(url: str) -> bool:
    """Returns whether a server is on this machine or in a private network, where requests are free of charge."""
    host = split_address(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost"


def without_secrets(url: str) -> str:
    """Returns an address without user, password, query and fragment, any of which may contain keys.

    Everything before the last “@” counts as user and password, so that no part of a password remains.
    """
    scheme, separator, rest = url.rpartition("://") if url.count("://") == 1 else ("", "", url)
    return scheme + separator + re.split(r"[?#]", rest.rpartition("@")[2], maxsplit=1)[0]


FaultKind = Literal[
    "setup", "key", "quota", "model", "request", "content", "empty", "network", "timeout", "server", "broken"
]
"""What failed: `setup` (a package, an address), `key`, `quota` (too many requests, no credit), `model` (unknown to the
server), `request` (rejected in every form), `content` (a filter), `empty` (no words), `network` (no connection),
`timeout`, `server` (an internal server error), `broken` (the answer broke off or was unreadable)."""

USER_FIXABLE: tuple[FaultKind, ...] = ("key", "setup", "model", "quota", "network")
"""Faults that the user may be able to fix in a back-end's key and connection settings."""


class BackendError(Exception):
    """A back-end failed. `str(error)` is a user-facing message: what happened, what it means, what to do.

    `retry_after`: seconds that the server asked clients to wait; 0 if unspecified.
    """

    def __init__(self, sentence: str, kind: FaultKind = "server", *, retry_after: float = 0.0) -> None:
        super().__init__(sentence)
        self.kind: FaultKind = kind
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call by the model. `arguments`: JSON as written by the model; `id`: links the call to its result."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolCallMessage:
    """In a request: the assistant message in which the model called tools, with any text that accompanied the calls."""

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
    """The token usage of one request; `tokens_cached` of the `tokens_in` were read from the server's cache.

    `counted`: reported by the server rather than estimated.
    """

    tokens_in: int
    tokens_out: int
    tokens_cached: int = 0
    counted: bool = True


def token_count(told: Any) -> int:
    """Validates a token count reported by a server; returns 0 if it isn't plausible."""
    return int(told) if isinstance(told, int | float) and 0 <= told <= TOKENS else 0


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool was started for the answer."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool finished after `seconds`; `text` is its result as passed to the model."""

    name: str
    ok: bool
    text: str
    seconds: float


StreamItem = str | ToolCall | Usage | ToolStarted | ToolEnded
"""An item of an answer's stream. Consumers ignore item types they don't need."""

Message = ChatMessage | ToolCallMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request. `max_tokens` bounds the answer; a word takes about 1.4 tokens.

    `final`: allows tools with side effects. It means that the user's turn is complete, this answer will be spoken, and
    no such tool has been called for it yet.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 160
    temperature: float = 0.3
    tools: tuple[ToolSpec, ...] = ()
    final: bool = True


@dataclass(frozen=True, slots=True)
class Traits:
    """A back-end's capabilities, and how best to make requests to it.

    - `concurrent`: answers two requests at once without slowing the newer one down much; if False, a superseded stream
      is closed as soon as the new one has produced words.
    - `history_words`: words of earlier turns to send.
    - `document_bytes`: UTF-8 bytes of the user's documents to send.
    - `persona`: its system prompt.
    - `enough_words`: its answer is ended at the first end of a sentence after this many words; 0: never.
    - `partial_words`: its answer to a partial transcript is ended after this many words; 0: never.
    - `least_interval`: minimum seconds between two requests on partial transcripts, for a model on this machine.
    - `free`: whether requests are free of charge.
    - `first_seconds` (to the first word), `words_per_second`: as measured on this machine; None if not measured.
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
        """Returns the traits for a model with a context of `tokens`, leaving room for the prompt and the answer."""
        return replace(
            self,
            history_words=max(60, min(LONG_HISTORY_WORDS, int(tokens * 0.4))),
            # 40 % of the tokens, at three bytes or more each; the history gives up half of its share for them.
            document_bytes=max(300, min(LONG_DOCUMENT_BYTES, int(tokens * 1.2))),
        )

    def is_enough(self, text: str, words: int) -> bool:
        """Returns whether an answer of `words` words ending in `text` may be ended here (see `enough_words`)."""
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
        """Its capabilities and request parameters."""
        ...

    async def open(self) -> None:
        """Prepares the back-end (starts a child process, finds the model). Raises BackendError."""
        ...

    def stream(self, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[StreamItem]]:
        """Opens a stream: `async with backend.stream(r) as items: async for item in items`.

        Exiting the context closes the connection, even mid-answer. Both steps may raise BackendError.
        """
        ...

    async def models(self) -> list[str]:
        """Returns the models that the server offers; works without `open`. Raises BackendError."""
        ...

    async def prime(self, request: ChatRequest) -> None:
        """Has the model process the start of the next request in advance, if that saves time. Never raises."""
        ...

    async def close(self) -> None:
        """Releases what `open` acquired; safe to call twice."""
        ...


async def text_of(items: AsyncIterator[StreamItem]) -> AsyncGenerator[str, None]:
    """Yields only the text of a stream."""
    async for item in items:
        if isinstance(item, str):
            yield item


def made_for(backend: Backend) -> tuple[str, str, str]:
    """Returns the provider, model and URL (without secrets) passed to `make_backend`; empty for other back-ends."""
    provider, model, url = getattr(backend, "made_for", ("", "", ""))
    return provider, model, without_secrets(url)
