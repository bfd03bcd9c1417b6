"""Any server that speaks OpenAI's chat completions, through the package `openai`.

OpenAI itself, Anthropic and Google by their endpoints for it, llama.cpp, vLLM, LM Studio, OpenRouter and others by
their base URL. Knows nothing of sessions.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from app.backend.address import in_own_network, on_this_machine, split_address, without_secrets
from app.backend.base import (
    CONNECT_SECONDS,
    FIRST_TOKEN_SECONDS,
    BackendError,
    ChatRequest,
    StreamItem,
    ToolCall,
    Traits,
    Usage,
    guarded,
    is_reset,
    without_origin,
    words_that_fit,
)
from app.backend.dialect import Dialect, shorter
from app.backend.openai_faults import (
    CONTENT,
    NO_MODEL,
    NO_MONEY,
    TEMPLATE,
    TOO_LONG,
    TRANSIENT,
    Asked,
    Told,
    Unreadable,
    WebPage,
    complaint_of,
    explain,
    is_key,
    retry_after,
    status_of,
)
from app.backend.thinking_tags import ThinkingTagFilter
from app.conversation.prompt import LONG_HISTORY_WORDS, ChatMessage

MODELS_SECONDS = 8.0
RETRIES = 2
RETRY_SECONDS = 0.4
LONGEST_RETRY_SECONDS = 2.5
"""A listener waits: a server that asks for more patience than this is told of instead."""
MOST_TEACHING = 8
"""So often a request is put differently before the server's refusal counts."""

_NOT_FOR_CHAT = re.compile(
    r"embed|whisper|tts|dall-e|image|imagen|veo|moderation|realtime|audio|transcribe|search|aqa|sora|davinci|babbage|"
    r"computer-use|robotics|live|codex",
    re.I,
)


class OpenAICompatibleBackend:
    """`base_url` empty: none yet, and `open` says so. `model` empty: the server's first.

    `key_wanted`: the variable of the key without which nothing goes. `dialect`: the provider whose ways are known.
    `api_key` is kept in memory alone and is in no text that this class makes.
    """

    def __init__(
        self,
        *,
        base_url: str = "",
        model: str = "",
        api_key: str = "",
        name: str = "",
        extra: dict[str, Any] | None = None,
        key_wanted: str = "",
        dialect: str = "",
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._id = model
        self.name = name or split_address(self.base_url).netloc.rpartition("@")[2] or "The server"
        self.traits = (
            Traits(history_words=LONG_HISTORY_WORDS) if key_wanted else Traits(free=in_own_network(self.base_url))
        )
        self._api_key = api_key
        self._extra = extra
        self._key_wanted = key_wanted
        self._provider = dialect if dialect in ("openai", "anthropic", "google") else ""
        self._dialect: Dialect | None = None
        self._client: Any = None

    @property
    def model(self) -> str:
        """The model for people: a file's name where the server calls it by its path."""
        return PurePath(self._id.replace("\\", "/")).stem if self._id.endswith(".gguf") else self._id

    async def open(self) -> None:
        """Makes the client, and finds the model when none is named."""
        await self._connect()
        if not self._id:
            names = await self.models()
            if not names:
                raise BackendError(f"{self.name} answers, but has no model. Load one there, and try again.", "model")
            self._id = names[0]
        self._dialect = Dialect(self._provider, self._id, self._extra)

    async def models(self) -> list[str]:
        """The models that can be talked with, as the server lists them; needs no `open`. Raises BackendError."""
        opened = self._client is not None
        await self._connect()
        try:
            with without_origin():
                found = await self._list()
        finally:
            if not opened:
                await self.close()
        if self._provider:
            found = [name for name in found if not _NOT_FOR_CHAT.search(name)]
        return found

    @asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        """See `Backend.stream`."""
        if self._client is None or self._dialect is None:
            raise BackendError(f"{self.name} has not been opened yet.", "setup")
        async with guarded(self._answer(request, self._dialect), self.name, request) as items:
            yield items

    async def prime(self, request: ChatRequest) -> None:
        """Nothing: the server's own cache has to do."""

    async def close(self) -> None:
        """Closes the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    # -- one answer --------------------------------------------------------------------------------

    async def _answer(self, request: ChatRequest, dialect: Dialect) -> AsyncGenerator[StreamItem, None]:
        """The answer's items. Asks again where that helps, and with more room when thoughts have taken it all."""
        dialect = deepcopy(dialect)  # what is learned counts when the server has accepted it
        retries = 0
        while True:
            said, finish = False, ""
            try:
                async with await self._ask(request, dialect) as stream:
                    self._dialect = dialect
                    async for item in self._items(stream):
                        if isinstance(item, _Finish):
                            finish = item.reason
                            continue
                        said = said or isinstance(item, ToolCall) or (isinstance(item, str) and bool(item.strip()))
                        yield item
            except BackendError:
                raise
            except Exception as error:
                wait = None if said else self._retry_wait(error, retries)
                if wait is None:
                    raise self._explain(error, mid_answer=said) from None
            else:
                if finish.startswith(("content_filter", "safety")) or (finish == "refusal" and not said):
                    raise BackendError(
                        f"{self._where} stopped this answer with its content filter. Ask in other words, or choose "
                        "another brain.",
                        "content",
                    )
                if said or request.max_tokens <= 1:  # one token: it was to read, not to answer
                    return
                if finish != "length" or not dialect.allow_more():
                    raise BackendError(
                        f"{self.name} gave an empty answer. Ask again, or choose another brain.", "empty"
                    )
                continue
            retries += 1
            await asyncio.sleep(wait)

    async def _ask(self, request: ChatRequest, dialect: Dialect) -> Any:
        """Opens the stream: puts the request as the server wants it."""
        asked, taught = request, 0
        while True:
            try:
                async with asyncio.timeout(FIRST_TOKEN_SECONDS):
                    stream = await self._client.chat.completions.create(model=self._id, **dialect.body(asked))
                break
            except Exception as error:
                status, complaint = status_of(error), complaint_of(error)
                if status in (400, 413, 422) and TOO_LONG.search(complaint) and (less := shorter(asked)):
                    asked = less
                    continue
                other = is_key(complaint) or any(e.search(complaint) for e in (CONTENT, NO_MODEL, NO_MONEY, TOO_LONG))
                refused = status in (400, 422) and not other
                refused = refused or (status == 500 and bool(TEMPLATE.search(complaint)))
                if refused and taught < MOST_TEACHING and dialect.learn(complaint):
                    taught += 1
                    continue
                raise
        if asked is not request:  # the talk's next requests are to fit at once
            words = sum(len(m.content.split()) for m in asked.messages[1:-1] if isinstance(m, ChatMessage))
            self.traits = replace(self.traits, history_words=max(60, min(self.traits.history_words, words)))
        return stream

    def _retry_wait(self, error: Exception, retries: int) -> float | None:
        """Seconds after which asking again may help; None when it won't, or not soon enough."""
        import openai

        status = status_of(error)
        if retries >= RETRIES or NO_MONEY.search(complaint_of(error)):
            return None
        if status in TRANSIENT or status == 429:
            wait = retry_after(error) or RETRY_SECONDS * 2**retries
            return wait if wait <= LONGEST_RETRY_SECONDS else None
        if isinstance(error, openai.APITimeoutError | TimeoutError):
            return None  # it has taken long enough
        return RETRY_SECONDS * 2**retries if is_reset(error) else None

    async def _items(self, stream: Any) -> AsyncGenerator[StreamItem | _Finish, None]:
        kind = stream.response.headers.get("content-type", "")
        if "html" in kind:
            raise WebPage
        if "application/json" in kind:  # it does not stream, or has only a fault to tell
            for item in _whole(await stream.response.aread()):
                yield item
            return
        thoughts = ThinkingTagFilter()
        calls: list[list[str]] = []
        places: dict[int, int] = {}
        finish, usage = "", None
        async for chunk in stream:
            usage = getattr(chunk, "usage", None) or usage  # some servers count anew in every chunk
            for choice in (chunk.choices or ())[:1]:
                delta = choice.delta
                for part in getattr(delta, "tool_calls", None) or ():
                    place = places.get(part.index or 0)
                    if place is None or (part.id and calls[place][0] not in ("", part.id)):  # Google: all are 0
                        place = places[part.index or 0] = len(calls)
                        calls.append(["", "", ""])
                    call = calls[place]
                    call[0] = part.id or call[0]
                    if part.function is not None:
                        if part.function.name != call[1]:  # some repeat it
                            call[1] += part.function.name or ""
                        call[2] += part.function.arguments or ""
                yield thoughts.push(_text(getattr(delta, "content", None) or getattr(delta, "refusal", None)))
                finish = choice.finish_reason or finish
        yield thoughts.flush()
        for number, (id, name, arguments) in enumerate(calls):
            yield ToolCall(id or f"call-{number}", name, arguments or "{}")
        if usage:
            details = getattr(usage, "prompt_tokens_details", None)
            yield Usage(
                usage.prompt_tokens or 0, usage.completion_tokens or 0, getattr(details, "cached_tokens", 0) or 0
            )
        yield _Finish(finish)

    # -- the connection ----------------------------------------------------------------------------

    async def _list(self) -> list[str]:
        try:
            async with asyncio.timeout(MODELS_SECONDS):
                answer = await self._client.models.with_raw_response.list()
            if "html" in answer.headers.get("content-type", ""):
                raise WebPage
            page = answer.parse()
            self._learn_context(page.data or ())
            return [item.id.removeprefix("models/") for item in page.data or ()]
        except Exception as error:
            raise self._explain(error) from None

    async def _connect(self) -> None:
        if self._client is not None:
            return
        if self._key_wanted and not self._api_key:
            raise BackendError(
                f"There is no API key for {self.name}, so it can't be asked. Give the app one (“Key and connection…” "
                f"in the window, or `keys set`), or set the environment variable {self._key_wanted}; or choose "
                "another brain.",
                "key",
            )
        parts = split_address(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BackendError(
                f"“{without_secrets(self.base_url)}” is no address of a server. Write it like "
                "http://127.0.0.1:8080/v1.",
                "setup",
            )
        headers = {}
        if self._provider == "anthropic":  # its list of models is not part of what it has of OpenAI's protocol
            headers = {"x-api-key": self._api_key, "anthropic-version": "2023-06-01"}
        try:
            self._client = await asyncio.to_thread(self._make_client, headers)
        except Exception as error:  # an address that looked like one, a proxy or a certificate that can't be read
            raise BackendError(
                f"The way to {self._where} could not be set up ({type(error).__name__}). Check its address, and this "
                "machine's settings for proxies and certificates.",
                "setup",
            ) from None

    def _make_client(self, headers: dict[str, str]) -> Any:
        """The client; on a thread, since reading the certificates takes 30 ms."""
        import httpx  # noqa: F401  # `openai` looks at it while another thread may be importing it
        import openai

        return openai.AsyncOpenAI(
            base_url=self.base_url,
            api_key=self._api_key or "none",
            max_retries=0,  # the library would wait for up to a minute
            timeout=openai.Timeout(None, connect=CONNECT_SECONDS),
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False) if on_this_machine(self.base_url) else None,
            default_headers=headers,
        )

    def _learn_context(self, listed: Any) -> None:
        """Servers of one's own tell how much a model can read: the history must leave room for the rest."""
        for item in listed:
            if self._id and item.id != self._id:
                continue
            meta = getattr(item, "meta", None) or {}
            size = next(
                (
                    v
                    for v in (
                        getattr(item, "max_model_len", None),
                        getattr(item, "context_length", None),
                        meta.get("n_ctx") if isinstance(meta, dict) else None,
                    )
                    if isinstance(v, int)
                ),
                0,
            )
            if size:
                self.traits = replace(self.traits, history_words=words_that_fit(size))
            return

    @property
    def _where(self) -> str:
        shown = without_secrets(self.base_url)
        return f"{self.name} ({shown})" if not self._provider and self.name not in shown else self.name

    def _explain(self, error: Exception, *, mid_answer: bool = False) -> BackendError:
        asked = Asked(self._where, self.model, bool(self._api_key), bool(self._provider))
        return explain(error, asked, mid_answer=mid_answer)


class _Finish:
    def __init__(self, reason: str) -> None:
        self.reason = reason


def _whole(body: bytes) -> Iterator[StreamItem | _Finish]:
    """The items of an answer that came in one piece. Raises Unreadable when it is none."""
    value = json.loads(body)
    if isinstance(value, dict) and value.get("error"):
        raise Told(value["error"])
    try:
        choice = value["choices"][0]
        message = choice["message"]
        thoughts = ThinkingTagFilter()
        yield thoughts.push(_text(message.get("content"))) + thoughts.flush()
        for number, call in enumerate(message.get("tool_calls") or ()):
            function = call["function"]
            yield ToolCall(call.get("id") or f"call-{number}", function["name"], function.get("arguments") or "{}")
        if isinstance(usage := value.get("usage"), dict):
            yield Usage(int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))
        yield _Finish(choice.get("finish_reason") or "")
    except (LookupError, TypeError, AttributeError, ValueError):
        raise Unreadable from None


def _text(content: Any) -> str:
    """A message's text, whether it is one, or a list of parts (of which thoughts are left out)."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return str(content or "")
