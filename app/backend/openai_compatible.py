"""The back-end for any server that implements OpenAI's chat completions API, based on the `openai` package.

It supports OpenAI itself, the compatible endpoints of Anthropic and Google, and, given a base URL, llama.cpp, vLLM,
LM Studio, OpenRouter and others.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import PurePath
from typing import Any
from urllib.parse import parse_qsl

from app.backend.attempts import LOAD_POLL_SECONDS, LOAD_SECONDS
from app.backend.base import (
    BackendError,
    ChatRequest,
    Notice,
    StreamItem,
    Traits,
    base_address,
    split_address,
    without_secrets,
)
from app.backend.deadlines import limited
from app.backend.dialect import RequestForm, first_form, request_body, stated_form
from app.backend.faults import refused_answer, without_cause
from app.backend.model_record import ModelRecord, ModelRecords
from app.backend.openai_answer import OpenAIAnswer
from app.backend.openai_faults import ErrorInAnswer, ServerInfo, UnreadableAnswer, WebPage, explain, is_loading
from app.conversation.prompt import LONG_DOCUMENT_BYTES, LONG_HISTORY_WORDS, ChatMessage
from app.untrusted.http import bounded_hooks, read_json_aside
from app.untrusted.limits import ANSWER, ANSWER_EVENT, ANSWER_STREAM, MODEL_LIST, MODEL_NAME_CHARS, MODELS
from app.untrusted.proxies import async_transport, in_own_network, may_have_key

CONNECT_SECONDS = 5.0
LOOK_SECONDS = 3.0
"""How long it is looked whether an address is meant with /v1, if the model is known."""

_NOT_FOR_CHAT = re.compile(
    r"embed|whisper|tts|dall-e|image|imagen|veo|moderation|realtime|audio|transcribe|search|aqa|sora|davinci|babbage|"
    r"computer-use|robotics|live|codex",
    re.I,
)


class OpenAICompatibleBackend:
    """A model on one server. The API key is held only in memory and never appears in messages.

    - `base_url`: the server's address; `open` raises if it is empty.
    - `model`: empty for the first one listed.
    - `name`: the server's name in messages; empty to use its host name.
    - `later_key`: returns the API key once the server has asked for one; runs on a thread.
    - `extra`: additional request parameters.
    - `key_wanted`: the environment variable for the API key if the server requires a key, otherwise empty.
    - `provider`: a key of `PROVIDERS` if this is the provider's own server, otherwise empty.
    """

    def __init__(
        self,
        *,
        base_url: str = "",
        model: str = "",
        api_key: str = "",
        later_key: Callable[[], str] | None = None,
        name: str = "",
        extra: dict[str, Any] | None = None,
        key_wanted: str = "",
        provider: str = "",
    ) -> None:
        self.base_url = base_address(base_url)
        self._id = model
        self.name = name or split_address(self.base_url).netloc.rpartition("@")[2] or "The server"
        own = in_own_network(self.base_url)
        # Most self-hosted servers process one request at a time, and the newest must not wait for an older one.
        self.traits = (
            Traits(history_words=LONG_HISTORY_WORDS, document_bytes=LONG_DOCUMENT_BYTES)
            if key_wanted
            else Traits(free=own, concurrent=not own)
        )
        self._api_key = api_key
        self._later_key = None if api_key else later_key
        self._extra = dict(extra or {})
        self._key_wanted = key_wanted
        self._provider = provider if provider in ("openai", "anthropic", "google") else ""
        self.records = ModelRecords()
        """Where what is known of the model is looked up, in memory unless `make_backend` sets another."""
        self.record: ModelRecord | None = None
        self._first = RequestForm()
        self._parameters: object = None
        self._client: Any = None
        self.notice = ""
        """A message about the address, which the next answer brings to the user."""

    @property
    def model(self) -> str:
        """The model's name as shown to the user; only the file's stem if the server identifies the model by path."""
        return PurePath(self._id.replace("\\", "/")).stem if self._id.endswith(".gguf") else self._id

    async def open(self) -> None:
        """Creates the client and, if no model was given, selects the first one listed. Raises BackendError.

        An address without a path is often meant with /v1, so that is tried if there are no models at it.
        """
        await self._connect()
        if self._id and not self._has_path:
            with contextlib.suppress(BackendError, TimeoutError):  # the first request says what is wrong
                async with asyncio.timeout(LOOK_SECONDS):
                    await self.models()
        if not self._id:
            names = await self.models()
            if not names:
                raise BackendError(f"{self.name} answers, but has no model. Load one there, and try again.", "model")
            self._id = names[0]
        self._first = stated_form(first_form(self._provider, self._id), self._parameters)
        self.record = self.records.of(self.base_url, self._id)

    async def models(self) -> list[str]:
        """Returns the server's chat models. Doesn't require `open`. Raises BackendError."""
        opened = self._client is not None
        await self._connect()
        try:
            with without_cause():
                found = await self._find()
        finally:
            if not opened:
                await self.close()
        if self._provider:
            found = [name for name in found if not _NOT_FOR_CHAT.search(name)]
        return found

    @asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        client = self._client
        record = self.record
        if client is None or record is None:
            raise BackendError(f"{self.name} has not been opened yet.", "setup")
        most_temperature = 1.0 if self._provider == "anthropic" else 2.0

        def create(form: RequestForm, request: ChatRequest) -> Any:
            body = request_body(form, request, self._extra, most_temperature)
            return client.chat.completions.create(model=self._id, **body)

        def accepted(final: ChatRequest) -> None:
            if final is not request:  # make the conversation's next requests fit on the first try
                words = sum(len(m.content.split()) for m in final.messages[1:-1] if isinstance(m, ChatMessage))
                self.traits = replace(self.traits, history_words=max(60, min(self.traits.history_words, words)))

        def make() -> OpenAIAnswer:
            return OpenAIAnswer(request, self._server, record, self._first, create, accepted, self._extra)

        answer = make()

        async def answered() -> AsyncGenerator[StreamItem, None]:
            nonlocal answer
            try:
                async for item in answer.items():
                    yield item
                return
            except BackendError as error:
                if error.kind != "key" or not await self._take_key():
                    raise
            answer = make()
            async for item in answer.items():
                yield item

        async with limited(
            answered(),
            self.name,
            request,
            first_seconds=record.first_token_seconds,
            received=lambda: answer.received,
        ) as items:
            yield self._with_notice(items)

    async def _with_notice(self, items: AsyncIterator[StreamItem]) -> AsyncIterator[StreamItem]:
        if self.notice:
            yield Notice(self.notice)
            self.notice = ""
        async for item in items:
            yield item

    async def prime(self, request: ChatRequest) -> None:
        """No-op, since servers cache prompts themselves."""

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()
        if self.record is not None:
            await self.records.keep()

    @property
    def _server(self) -> ServerInfo:
        shown = without_secrets(self.base_url)
        where = f"{self.name} ({shown})" if not self._provider and self.name not in shown else self.name
        clear = not may_have_key(self.base_url)
        return ServerInfo(self.name, where, self._id, bool(self._api_key), bool(self._provider), clear)

    @property
    def _has_path(self) -> bool:
        """Whether the address names more than a host: then it is taken as it is."""
        return bool(self._provider) or bool(split_address(self.base_url).path.strip("/"))

    async def _find(self) -> list[str]:
        """Returns the models at the address, or at the same one with /v1, which is used from then on."""
        first: BackendError | None = None
        try:
            names = await self._list()
            if names or self._has_path:
                return names
        except BackendError as error:
            if self._has_path or error.kind not in ("setup", "model", "broken"):
                raise
            first = error
        given, (address, _, query) = self.base_url, self.base_url.partition("?")
        await self._use(f"{address}/v1{'?' if query else ''}{query}")
        try:
            names = await self._list()
        except BackendError:
            await self._use(given)
            if first is not None:
                raise first from None
            return []
        self.notice = (
            f"{self.name} has its models at {without_secrets(self.base_url)}, so that address is used in place of "
            f"{without_secrets(given)}."
        )
        return names

    async def _take_key(self) -> bool:
        """Fetches the key that the server has asked for; returns whether there is one that was not sent before."""
        later, self._later_key = self._later_key, None
        if later is None or self._client is None:
            return False
        self._api_key = await asyncio.to_thread(later)
        if self._api_key:
            self._client.api_key = self._api_key
        return bool(self._api_key)

    async def _use(self, address: str) -> None:
        """Connects to another address of the server."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()
        self.base_url = address
        await self._connect()

    async def _list(self) -> list[str]:
        waited = 0.0
        while True:
            try:
                return await self._ask_for_list()
            except Exception as error:
                explained = explain(error, self._server)
                if explained.kind == "key" and await self._take_key():
                    continue
                if not is_loading(error) or waited >= LOAD_SECONDS:
                    raise explained from None
            waited += LOAD_POLL_SECONDS
            await asyncio.sleep(LOAD_POLL_SECONDS)

    async def _ask_for_list(self) -> list[str]:
        async with asyncio.timeout(MODEL_LIST.seconds):
            answer = await self._client.models.with_raw_response.list()
        if "html" in answer.headers.get("content-type", ""):
            raise WebPage
        models = _listed(await read_json_aside(answer.content, MODEL_LIST))
        self._learn_context(models)
        return [item["id"].removeprefix("models/") for item in models]

    def _learn_context(self, models: Iterable[dict[str, Any]]) -> None:
        """Adapts the traits to the model's context size, if the server reports it."""
        listed = next((item for item in models if not self._id or item["id"] == self._id), {})
        meta = listed.get("meta")
        self._parameters = listed.get("supported_parameters")  # OpenRouter
        sizes = (
            listed.get("max_model_len"),  # vLLM
            listed.get("context_length"),  # OpenRouter
            meta.get("n_ctx") if isinstance(meta, dict) else None,  # llama.cpp
        )
        size = next((size for size in sizes if isinstance(size, int)), 0)
        if size > 0:
            self.traits = self.traits.for_context(size)

    async def _connect(self) -> None:
        if self._client is not None:
            return
        if self._key_wanted and not self._api_key:
            raise BackendError(
                f"There is no API key for {self.name}, so it can't be asked. Give the app one (“Key and server…” "
                f"in the window, or `keys set`), or set the environment variable {self._key_wanted}; or choose "
                "another model.",
                "key",
            )
        parts = split_address(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BackendError(
                f"“{without_secrets(self.base_url)}” is not a server address. Write it like http://127.0.0.1:8080/v1.",
                "setup",
            )
        try:
            self._client = await asyncio.to_thread(self._make_client)
        except Exception as error:  # an invalid address, or invalid proxy or certificate settings
            if refused := refused_answer(error, self._server.where):
                raise refused from None
            raise BackendError(
                f"The connection to {self._server.where} could not be set up ({type(error).__name__}). Check its "
                "address, and this machine's proxy and certificate settings.",
                "setup",
            ) from None

    def _make_client(self) -> Any:
        """Creates the client. Runs on a worker thread, since loading the certificates takes 30 ms."""
        import httpx  # noqa: F401  # before `openai`, which inspects it: another thread may still be importing it
        import httpx2
        import openai

        address, _, query = self.base_url.partition("?")  # Azure's addresses have one
        headers = {}
        if self._provider == "anthropic":  # its model list isn't part of its OpenAI-compatible endpoint
            headers = {"x-api-key": self._api_key, "anthropic-version": "2023-06-01"}
        return openai.AsyncOpenAI(
            base_url=address,
            default_query=dict(parse_qsl(query)),
            api_key=self._api_key or "none",
            max_retries=0,  # the library would wait for up to a minute
            timeout=openai.Timeout(None, connect=CONNECT_SECONDS),
            http_client=openai.DefaultAsyncHttpxClient(
                transport=async_transport(httpx2, self.base_url),
                event_hooks=bounded_hooks(ANSWER, ANSWER_STREAM, ANSWER_EVENT),
            ),
            default_headers=headers,
        )


def _listed(value: Any) -> list[dict[str, Any]]:
    """Returns the entries with a valid ID in a server's list of models. Raises UnreadableAnswer or ErrorInAnswer."""
    if isinstance(value, dict) and value.get("error"):
        raise ErrorInAnswer(value["error"])
    models = value.get("data") or [] if isinstance(value, dict) else value  # some servers send the bare list
    if not isinstance(models, list):
        raise UnreadableAnswer
    named = (item for item in models if isinstance(item, dict) and isinstance(item.get("id"), str))
    return [item for item in named if 0 < len(item["id"]) <= MODEL_NAME_CHARS][:MODELS]
