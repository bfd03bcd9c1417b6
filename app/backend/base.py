"""The back-end protocol, which turns chat messages into an asynchronous stream of text, tool calls and token usage.

Adapters raise only `BackendError`, with a user-facing message; any other exception is a bug. This module also parses
server addresses, and strips secrets from them for display.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol
from urllib.parse import SplitResult, urlsplit

from app.conversation.languages import ENGLISH
from app.conversation.prompt import (
    DOCUMENT_BYTES,
    HISTORY_WORDS,
    LONG_DOCUMENT_BYTES,
    LONG_HISTORY_WORDS,
    PERSONA,
    ChatMessage,
)
from app.tools.base import ToolCall, ToolCallMessage, ToolMessage, ToolSpec
from app.tools.consent import Proposal
from app.untrusted.limits import TOKENS


def split_address(url: str) -> SplitResult:
    """Parses a URL; all parts are empty if it is invalid."""
    try:
        parts = urlsplit(url)
        _ = parts.hostname, parts.port  # these properties raise ValueError only on access
    except ValueError:
        return urlsplit("")
    return parts if url.isprintable() else urlsplit("")


_ENDPOINT = re.compile(
    r"(?:/(?:chat/)?completions|(?<=/v1)/(?:models|responses)|/api/(?:chat|generate|tags))?/*(?=\?|$)"
)
_ANY_ADDRESS = re.compile(r"^(\w+://)(?:0\.0\.0\.0|(\[::\]))(?=[:/?]|$)")


def base_address(url: str) -> str:
    """Returns the address of a server itself for that of one of its endpoints, as manuals often give it.

    A server that listens at all of a machine's addresses is reached at the loopback address.
    """
    url = _ENDPOINT.sub("", url.strip(), count=1)
    return _ANY_ADDRESS.sub(lambda found: found[1] + ("[::1]" if found[2] else "127.0.0.1"), url)


def without_secrets(url: str) -> str:
    """Strips the user name, password, query and fragment from a URL, since any of them may contain keys.

    Everything before the last “@” is treated as user name and password, so that no part of a password remains.
    """
    scheme, separator, rest = url.rpartition("://") if url.count("://") == 1 else ("", "", url)
    return scheme + separator + re.split(r"[?#]", rest.rpartition("@")[2], maxsplit=1)[0]


FaultKind = Literal[
    "setup", "key", "quota", "model", "request", "content", "empty", "network", "timeout", "server", "broken"
]
"""The category of a failure.

- `setup`: a package is missing or an address is invalid.
- `key`: the API key is missing or was rejected.
- `quota`: too many requests, or no credit left.
- `model`: the server doesn't have the model.
- `request`: the server rejected the request in every form that was tried.
- `content`: a content filter blocked the answer.
- `empty`: the answer contained no text.
- `network`: no connection to the server.
- `timeout`: the server didn't respond in time.
- `server`: an internal server error.
- `broken`: the answer was cut off or malformed.
"""

USER_FIXABLE: tuple[FaultKind, ...] = ("key", "setup", "model", "quota", "network")
"""Failures that the user may be able to fix by changing a back-end's key or server settings."""


class BackendError(Exception):
    """A back-end failure. `str(error)` is a user-facing message: what happened, what it means and what to do.

    `retry_after`: the number of seconds that the server asked to wait; 0 if unspecified.
    """

    def __init__(self, sentence: str, kind: FaultKind = "server", *, retry_after: float = 0.0) -> None:
        super().__init__(sentence)
        self.kind: FaultKind = kind
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class OpaqueFields:
    """A stream item: fields of the model's message that belong to its tool calls, as a JSON object.

    They are sent back to the server unchanged: DeepSeek and OpenRouter require the reasoning that led to the calls.
    """

    fields: str


@dataclass(frozen=True, slots=True)
class Usage:
    """The token usage of one request. `tokens_cached`: how many of `tokens_in` were served from the prompt cache.

    `counted`: whether the server reported these counts; otherwise they are estimates.
    """

    tokens_in: int
    tokens_out: int
    tokens_cached: int = 0
    counted: bool = True


def token_count(told: Any) -> int:
    """Validates a token count from a server; returns 0 if it is implausible."""
    return int(told) if isinstance(told, int | float) and 0 <= told <= TOKENS else 0


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A stream item: a tool call has started."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A stream item: a tool call ended after `seconds`. `text`: the result that is passed to the model."""

    name: str
    ok: bool
    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Thinking:
    """A stream item: the model is thinking. `letters`: the length of this piece of its thoughts; `text`: the piece."""

    letters: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """A stream item: a user-facing message about the request, which isn't part of the answer.

    `loss`: whether the user loses something, and may want to do something about it.
    """

    sentence: str
    loss: bool = False


@dataclass(frozen=True, slots=True)
class ConsentNeeded:
    """A stream item: the answer has ended with a question, since these calls wait for the user's consent."""

    proposal: Proposal


@dataclass(frozen=True, slots=True)
class CallDeferred:
    """A stream item: the answer has ended without words, since it begins with a call that waits for the whole turn."""


@dataclass(frozen=True, slots=True)
class CallRefused:
    """A stream item: a call was not made, since it needs the user's consent and the user can't be asked."""

    name: str
    arguments: str


StreamItem = (
    str
    | ToolCall
    | OpaqueFields
    | Usage
    | ToolStarted
    | ToolEnded
    | ConsentNeeded
    | CallDeferred
    | CallRefused
    | Thinking
    | Notice
)
"""An item of a streamed answer. Consumers must ignore the types they don't need."""

Message = ChatMessage | ToolCallMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request for an answer. `max_tokens` limits the answer's length (about 1.4 tokens per word).

    - `final`: whether tools that do more than read are offered, which requires that the user's turn is complete, that
      this answer will be spoken, and that no such tool has been called for it yet.
    - `defers`: whether they are offered before that, too: a call of one is not made and ends the answer. The model then
      doesn't say that it can't do what the user is still asking for.
    - `may_call`: False if the model must answer without further calls. `tools` are still sent if possible, since the
      messages contain calls to them.
    - `granted`: earlier calls that the user has allowed by this turn. They are made before the model is asked.
    - `language`: that of the conversation, two letters.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 160
    temperature: float = 0.3
    tools: tuple[ToolSpec, ...] = ()
    final: bool = True
    defers: bool = False
    may_call: bool = True
    granted: Proposal | None = None
    language: str = ENGLISH


@dataclass(frozen=True, slots=True)
class Traits:
    """The capabilities of a back-end, and the best parameters for requests to it.

    - `concurrent`: whether it can process two requests in parallel without slowing the newer one down much. If False, a
      superseded stream is closed as soon as the new one has produced text.
    - `history_words`: the maximum number of words of earlier turns to send.
    - `document_bytes`: the maximum size of the user's documents to send, in UTF-8 bytes.
    - `persona`: the system prompt.
    - `enough_words`: an answer is cut at the end of the sentence that reaches this many words; 0 for no limit.
    - `least_interval`: the minimum time in seconds between requests on partial transcripts; longer for a local model.
    - `free`: whether requests are free of charge.
    - `first_seconds`, `words_per_second`: the measured time to the first word and speed; None if not measured.
    """

    concurrent: bool = True
    history_words: int = HISTORY_WORDS
    document_bytes: int = DOCUMENT_BYTES
    persona: str = PERSONA
    max_tokens: int = 160
    temperature: float = 0.3
    enough_words: int = 0
    least_interval: float = 0.1
    free: bool = False
    first_seconds: float | None = None
    words_per_second: float | None = None

    def at_speed(self, first_seconds: float, words_per_second: float) -> Traits:
        """Returns a copy with the speed measured on this machine."""
        return replace(self, first_seconds=first_seconds, words_per_second=words_per_second)

    def for_context(self, tokens: int) -> Traits:
        """Returns a copy for a context window of `tokens` tokens, leaving room for the prompt and the answer."""
        return replace(
            self,
            history_words=max(60, min(LONG_HISTORY_WORDS, int(tokens * 0.4))),
            # 40 % of the tokens, at three or more bytes each; documents may also use half of the history's share.
            document_bytes=max(300, min(LONG_DOCUMENT_BYTES, int(tokens * 1.2))),
        )

    def is_enough(self, text: str, words: int) -> bool:
        """Returns whether an answer of `words` words that ends in `text` may be cut here (see `enough_words`)."""
        return 0 < self.enough_words <= words and text.rstrip().endswith((".", "!", "?"))


class Backend(Protocol):
    """The protocol for language models that answer requests. `name` and `model` are shown to the user."""

    name: str

    @property
    def model(self) -> str:
        """The model's name."""
        ...

    @property
    def traits(self) -> Traits:
        """The capabilities and request parameters; they may change once the context size is known."""
        ...

    async def open(self) -> None:
        """Prepares the back-end, for example by starting a child process or loading the model. Raises BackendError."""
        ...

    def stream(self, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[StreamItem]]:
        """Requests an answer: `async with backend.stream(request) as items: async for item in items`.

        Exiting the context closes the connection, even mid-answer. Entering it and iterating may raise BackendError.
        """
        ...

    async def models(self) -> list[str]:
        """Returns the models available on the server. Doesn't require `open`. Raises BackendError."""
        ...

    async def prime(self, request: ChatRequest) -> None:
        """Has the model process the start of the next prompt in advance, if that saves time. Never raises."""
        ...

    async def close(self) -> None:
        """Releases the resources acquired by `open`. Idempotent."""
        ...


async def text_of(items: AsyncIterator[StreamItem]) -> AsyncGenerator[str, None]:
    """Yields only the text items of a stream."""
    async for item in items:
        if isinstance(item, str):
            yield item


def made_for(backend: Backend, *, with_secrets: bool = False) -> tuple[str, str, str]:
    """Returns the provider, model and URL that were passed to `make_backend`, by default without the URL's secrets.

    All are empty if the back-end wasn't created by `make_backend`.
    """
    provider, model, url = getattr(backend, "made_for", ("", "", ""))
    return provider, model, url if with_secrets else without_secrets(url)
