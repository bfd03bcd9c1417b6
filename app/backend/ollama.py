"""The back-end for Ollama, based on the `ollama` package.

The model is loaded before the first question and stays in memory during the conversation.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from app.backend.base import BackendError, ChatRequest, StreamItem, Traits, base_address
from app.backend.deadlines import limited
from app.backend.faults import refused_answer, without_cause
from app.backend.model_record import ModelRecord, ModelRecords
from app.backend.ollama_answer import (
    DEFAULT_URL,
    KEEP_ALIVE,
    OllamaAnswer,
    OllamaServer,
    explain,
    explain_pull,
    first_form,
    no_model,
    status_of,
)
from app.untrusted.http import bounded_hooks, read_json_aside
from app.untrusted.limits import ANSWER, ANSWER_EVENT, ANSWER_STREAM, MODEL_LIST, MODEL_NAME_CHARS, MODELS
from app.untrusted.proxies import async_transport, without_proxies
from app.untrusted.text import one_line

CONNECT_SECONDS = 5.0
KEEP_WARM_SECONDS = 20 * 60.0
"""How often the model's keep-alive is renewed. Reloading the model mid-conversation would take seconds."""
AFTERWARDS = "5m"
"""How long the model stays loaded after the conversation (Ollama's default)."""
LOAD_SECONDS = 180.0


class OllamaBackend:
    """A model on an Ollama server. `base_url`: empty for the local server. `model`: empty for the first one listed."""

    name = "Ollama"

    def __init__(self, *, base_url: str = "", model: str = "") -> None:
        self.base_url = base_address(base_url).removesuffix("/v1") or DEFAULT_URL
        self.model = model
        self.traits = Traits(free=True, concurrent=False)  # by default, Ollama handles few requests at a time
        self._client: Any = None
        self.records = ModelRecords()
        """Where what is known of the model is looked up, in memory unless `make_backend` sets another."""
        self.record: ModelRecord | None = None
        self._first = first_form({})
        self._warm: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Checks that the server has the model and loads it. Raises BackendError."""
        with without_cause():
            names = await self._list()
            if not self.model:
                if not names:
                    raise BackendError(
                        "Ollama runs, but has no model yet. Get one (“Models and servers…” in the window, or "
                        "“ollama pull gemma3:4b”), or choose another provider.",
                        "model",
                    )
                self.model = names[0]
            elif self.model not in names and f"{self.model}:latest" not in names:
                raise no_model(self.model)
            self._first = first_form(await self._show())
            self.record = self.records.of(self.base_url, self.model)
            await self._load()
            await self._read_context()
        self._warm = asyncio.get_running_loop().create_task(self._keep_warm(), name="keep the model loaded")

    async def models(self) -> list[str]:
        """Returns the models on the server. Doesn't require `open`. Raises BackendError."""
        opened = self._client is not None
        try:
            with without_cause():
                return await self._list()
        finally:
            if not opened:
                await self.close()

    async def pull(self, model: str) -> AsyncGenerator[tuple[str, float], None]:
        """Has the server download a model; yields (status text, fraction completed). Raises BackendError.

        Closing the generator early stops the download; the server keeps the partial download for the next attempt.
        """
        opened = self._client is not None
        await self._connect()
        layers: dict[str, tuple[int, int]] = {}
        try:
            async with contextlib.aclosing(await self._client.pull(model, stream=True)) as stream:
                async for part in stream:
                    if part.status == "success":
                        yield "it is here", 1.0
                        return
                    if part.digest and part.total:
                        layers[part.digest] = (part.completed or 0, part.total)
                    done, total = (sum(layer[i] for layer in layers.values()) for i in (0, 1))
                    told = one_line(part.status or "", 80)
                    words = f"{done / 1e9:.2f} of {total / 1e9:.2f} GB" if total else told or "working"
                    yield words, done / total if total else 0.0
            raise EOFError
        except Exception as error:
            raise explain_pull(error, OllamaServer(self.base_url, model)) from None
        finally:
            if not opened:
                await self.close()

    @asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        record = self.record
        if self._client is None or record is None:
            raise BackendError("Ollama has not been opened yet.", "setup")
        answer = OllamaAnswer(request, self._server, self._client, record, self._first)
        who, first = f"Ollama's {self.model}", record.first_token_seconds
        async with limited(answer.items(), who, request, first_seconds=first) as items:
            yield items

    async def prime(self, request: ChatRequest) -> None:
        """No-op, since the server caches prompts itself."""

    async def close(self) -> None:
        """Resets the model's keep-alive to the default and closes the connections."""
        warm, self._warm = self._warm, None
        client, self._client = self._client, None
        if warm is not None:
            warm.cancel()
            await asyncio.wait([warm])
            with contextlib.suppress(Exception):
                async with asyncio.timeout(1.0):
                    await client.generate(model=self.model, keep_alive=AFTERWARDS)
        if client is not None:
            await client.close()
        if self.record is not None:
            await self.records.keep()

    @property
    def _server(self) -> OllamaServer:
        return OllamaServer(self.base_url, self.model)

    async def _connect(self) -> None:
        if self._client is not None:
            return
        try:
            self._client = await asyncio.to_thread(self._make_client)
        except ValueError as error:
            if refused := refused_answer(error, self._server.where):
                raise refused from None
            raise BackendError(
                f"“{self._server.address}” is not a server address. Write it like {DEFAULT_URL}.", "setup"
            ) from None

    def _make_client(self) -> Any:
        """Creates the client; runs on a worker thread, since the imports take 0.4 s.

        Raises ValueError if the address is invalid.
        """
        import httpx

        with without_proxies():  # the package makes a client of its own when it is imported
            import ollama

        if not re.match(r"https?://", self.base_url) and "://" in self.base_url:
            raise ValueError
        timeout = httpx.Timeout(None, connect=CONNECT_SECONDS)
        try:
            return ollama.AsyncClient(
                host=self.base_url,
                timeout=timeout,
                transport=async_transport(
                    httpx, self.base_url if "://" in self.base_url else f"http://{self.base_url}"
                ),
                event_hooks=bounded_hooks(ANSWER, ANSWER_STREAM, ANSWER_EVENT),
            )
        except httpx.InvalidURL:
            raise ValueError from None

    async def _list(self) -> list[str]:
        await self._connect()
        try:
            async with asyncio.timeout(MODEL_LIST.seconds):
                # `list` would skip models that other servers with Ollama's protocol list under `name`.
                answer = await self._client._request_raw("GET", "/api/tags")
                if "html" in answer.headers.get("content-type", ""):
                    raise ValueError
                listed = await read_json_aside(answer.content, MODEL_LIST)
            return _names_of(listed)
        except Exception as error:
            raise explain(error, self._server) from None

    async def _show(self) -> dict[str, Any]:
        """Returns what the server says about the model; empty if it doesn't."""
        with contextlib.suppress(Exception):  # otherwise it is learned from the server's error messages
            async with asyncio.timeout(MODEL_LIST.seconds):
                # `show` would drop the values of `think`, which the package doesn't know yet.
                answer = await self._client._request_raw("POST", "/api/show", json={"model": self.model})
                shown = await read_json_aside(answer.content, ANSWER)
            return shown if isinstance(shown, dict) else {}
        return {}

    async def _load(self) -> None:
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                await self._client.generate(model=self.model, keep_alive=KEEP_ALIVE)
        except TimeoutError:
            raise BackendError(
                f"Ollama could not load “{self.model}” within {LOAD_SECONDS:.0f} seconds. Choose a smaller model.",
                "timeout",
            ) from None
        except Exception as error:
            # Other servers with Ollama's protocol may lack this endpoint and load the model on demand.
            unknown = status_of(error) in (400, 405, 501)
            if not unknown and (status_of(error) != 404 or "model" in str(error).lower()):
                raise explain(error, self._server) from None

    async def _read_context(self) -> None:
        """Adapts the traits to the loaded model's context size."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(MODEL_LIST.seconds):
                running = (await self._client.ps()).models
            size = next((m.context_length for m in running if m.model == self.model and m.context_length), 0)
            if size:
                self.traits = self.traits.for_context(size)

    async def _keep_warm(self) -> None:
        while True:
            await asyncio.sleep(KEEP_WARM_SECONDS)
            with contextlib.suppress(Exception):  # the next question reports any problem
                await self._client.generate(model=self.model, keep_alive=KEEP_ALIVE)


def _names_of(listed: Any) -> list[str]:
    """Returns the names in a list of models. Raises various exceptions if the list is malformed."""
    names = [model.get("model") or model.get("name") for model in listed["models"][:MODELS]]
    return [name for name in names if isinstance(name, str) and 0 < len(name) <= MODEL_NAME_CHARS]
