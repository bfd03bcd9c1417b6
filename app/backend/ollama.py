"""Models on the user's own machine through Ollama, with the package `ollama`.

A model is loaded before it is asked, and kept loaded while a conversation uses it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from app.backend.address import on_this_machine, without_secrets
from app.backend.base import (
    CONNECT_SECONDS,
    AskedTools,
    BackendError,
    ChatRequest,
    Message,
    StreamItem,
    ToolAnswer,
    ToolCall,
    Traits,
    Usage,
    guarded,
    is_reset,
    no_connection,
    tool_schemas,
    without_origin,
    words_that_fit,
)
from app.backend.thinking_tags import ThinkingTagFilter
from app.conversation.prompt import ChatMessage

DEFAULT_URL = "http://127.0.0.1:11434"
KEEP_ALIVE = "30m"
KEEP_WARM_SECONDS = 20 * 60.0
"""A model that Ollama unloads in mid-conversation costs seconds at the next turn."""
AFTERWARDS = "5m"
"""How long it stays loaded when the conversation is over: Ollama's own default."""
LOAD_SECONDS = 180.0
ANSWER_SECONDS = 8.0
"""To a question about the server itself."""
RETRIES = 2
RETRY_SECONDS = 0.4
_TRANSIENT = {408, 429, 500, 502, 503, 504, 529}


class OllamaBackend:
    """`base_url` empty: this machine's own Ollama. `model` empty: the first that it has."""

    name = "Ollama"

    def __init__(self, *, base_url: str = "", model: str = "") -> None:
        self.base_url = base_url or DEFAULT_URL
        self.model = model
        self.traits = Traits(free=True)
        self._client: Any = None
        self._thinks = self._tools = True
        self._warm: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Finds the server and the model, and has it loaded. Raises BackendError."""
        with without_origin():
            await self._open()

    async def _open(self) -> None:
        names = await self._list()
        if not self.model:
            if not names:
                raise BackendError(
                    "Ollama runs, but has no model yet. Get one (“Key and models…” in the window, or "
                    "“ollama pull gemma3:4b”), or choose another brain.",
                    "model",
                )
            self.model = names[0]
        elif self.model not in names and f"{self.model}:latest" not in names:
            raise self._no_model()
        await self._look_at_model()
        await self._load()
        self._warm = asyncio.get_running_loop().create_task(self._keep_warm(), name="keep the model loaded")

    async def models(self) -> list[str]:
        """The models that it has; needs no `open`. Raises BackendError."""
        opened = self._client is not None
        try:
            with without_origin():
                return await self._list()
        finally:
            if not opened:
                await self.close()

    async def pull(self, model: str) -> AsyncGenerator[tuple[str, float], None]:
        """Has the server fetch a model; gives what it does in words, and the share done. Raises BackendError.

        Closed before its end, the server stops too; what has come stays there for the next try.
        """
        opened = self._client is not None
        await self._connect()
        done: dict[str, tuple[int, int]] = {}
        try:
            stream = await self._client.pull(model, stream=True)
            async with contextlib.aclosing(stream):
                async for part in stream:
                    if part.digest and part.total:
                        done[part.digest] = (part.completed or 0, part.total)
                    have, total = (sum(pair[i] for pair in done.values()) for i in (0, 1))
                    words = part.status or "working"
                    if total:
                        words = f"{have / 1e9:.2f} of {total / 1e9:.2f} GB"
                    if part.status == "success":
                        yield "it is here", 1.0
                        return
                    yield words, have / total if total else 0.0
        except Exception as error:
            raise self._explain_pull(error, model) from None
        finally:
            if not opened:
                await self.close()
        raise self._explain_pull(EOFError(), model)

    @asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        """See `Backend.stream`."""
        if self._client is None:
            raise BackendError("Ollama has not been opened yet.", "setup")
        async with guarded(self._items(request), f"Ollama's {self.model}", request) as items:
            yield items

    async def prime(self, request: ChatRequest) -> None:
        """Nothing: the server's own cache has to do."""

    async def close(self) -> None:
        """Lets the model go after a while, and closes the connections."""
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

    # -- the server --------------------------------------------------------------------------------

    async def _connect(self) -> None:
        if self._client is not None:
            return
        try:
            self._client = await asyncio.to_thread(self._make_client)
        except ValueError:
            raise BackendError(
                f"“{self._shown}” is no address of a server. Write it like {DEFAULT_URL}.", "setup"
            ) from None

    def _make_client(self) -> Any:
        """The client; on a thread, since the imports take 0.4 s. Raises ValueError for what is no address."""
        import httpx
        import ollama

        if not re.match(r"https?://", self.base_url) and "://" in self.base_url:
            raise ValueError
        timeout = httpx.Timeout(None, connect=CONNECT_SECONDS)
        try:
            return ollama.AsyncClient(host=self.base_url, timeout=timeout, trust_env=not on_this_machine(self.base_url))
        except httpx.InvalidURL:
            raise ValueError from None

    async def _list(self) -> list[str]:
        await self._connect()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return [model.model for model in (await self._client.list()).models if model.model]
        except Exception as error:
            raise self._explain(error) from None

    async def _look_at_model(self) -> None:
        """What it can do; a server that doesn't tell is asked as if it could, and teaches by refusing."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(ANSWER_SECONDS):
                shown = await self._client.show(self.model)
            if shown.capabilities is not None:
                self._thinks = "thinking" in shown.capabilities
                self._tools = "tools" in shown.capabilities

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
            if getattr(error, "status_code", 0) == 404 and "model" not in str(error).lower():
                return  # a server that only speaks like Ollama: it has it loaded, or loads it when asked
            raise self._explain(error) from None
        with contextlib.suppress(Exception):  # how much it reads at once is known now
            async with asyncio.timeout(ANSWER_SECONDS):
                running = (await self._client.ps()).models
            size = next((m.context_length for m in running if m.model == self.model and m.context_length), 0)
            if size:
                self.traits = replace(self.traits, history_words=words_that_fit(size))

    async def _keep_warm(self) -> None:
        while True:
            await asyncio.sleep(KEEP_WARM_SECONDS)
            with contextlib.suppress(Exception):  # the next question tells what is wrong
                await self._client.generate(model=self.model, keep_alive=KEEP_ALIVE)

    # -- one answer --------------------------------------------------------------------------------

    async def _items(self, request: ChatRequest) -> AsyncGenerator[StreamItem, None]:
        """The answer's items. Asks again where that helps, and with more room when thoughts have taken it all."""
        retries, more, again = 0, 1, 0.0
        while True:
            await asyncio.sleep(again)
            begun = ended = False
            again, number, reason = 0.0, 0, ""
            thoughts = ThinkingTagFilter()
            try:
                stream = await self._client.chat(
                    model=self.model,
                    messages=list(_messages(request.messages)),
                    stream=True,
                    keep_alive=KEEP_ALIVE,
                    options={"temperature": request.temperature, "num_predict": request.max_tokens * more},
                    **self._ways(request),
                )
                async with contextlib.aclosing(stream):
                    async for part in stream:
                        for call in part.message.tool_calls or ():
                            number += 1
                            arguments = json.dumps(dict(call.function.arguments), ensure_ascii=False)
                            yield ToolCall(f"call-{number}", call.function.name, arguments)
                        text = thoughts.push(part.message.content or "")
                        if part.done:
                            text += thoughts.flush()
                        begun = begun or number > 0 or bool(text.strip())
                        yield text
                        if part.done:
                            if part.eval_count is not None:
                                yield Usage(part.prompt_eval_count or 0, part.eval_count)
                            ended, reason = True, part.done_reason or ""
                            break
            except Exception as error:
                if begun:
                    raise self._explain(error, mid_answer=True) from None
                if self._learn(error):
                    continue
                if retries >= RETRIES or not _may_pass(error):
                    raise self._explain(error) from None
                again = RETRY_SECONDS * 2**retries
                retries += 1
                continue
            if not ended:
                raise self._explain(EOFError(), mid_answer=begun)
            if begun or request.max_tokens <= 1:  # one token: it was to read, not to answer
                return
            if reason != "length" or more > 1:
                raise BackendError(
                    f"“{self.model}” in Ollama gave an empty answer. Ask again, or choose another model.", "empty"
                )
            more = 8

    def _ways(self, request: ChatRequest) -> dict[str, Any]:
        ways: dict[str, Any] = {"think": False} if self._thinks else {}
        if request.tools and self._tools:
            ways["tools"] = tool_schemas(request)
        return ways

    def _learn(self, error: Exception) -> bool:
        """A model that can't think, or use tools, is asked without; whether to ask again."""
        text = str(error).lower()
        if getattr(error, "status_code", 0) != 400:
            return False
        if "think" in text and self._thinks:
            self._thinks = False
        elif "tool" in text and self._tools:
            self._tools = False
        else:
            return False
        return True

    @property
    def _shown(self) -> str:
        return without_secrets(self.base_url)

    # -- sentences ---------------------------------------------------------------------------------

    def _no_model(self) -> BackendError:
        return BackendError(
            f"Ollama does not have the model “{self.model}”. Get it (“ollama pull {self.model}”), or choose another "
            "model.",
            "model",
        )

    def _explain(self, error: Exception, *, mid_answer: bool = False) -> BackendError:
        """A sentence for an error; what the server said is left out."""
        import httpx
        import ollama

        status = error.status_code if isinstance(error, ollama.ResponseError) else 0
        text = str(error).lower()
        where = f"Ollama ({self._shown})" if self._shown != DEFAULT_URL else "Ollama"
        if isinstance(error, BackendError):
            return error
        if status == 404 and "model" in text:
            return self._no_model()
        if mid_answer:
            return BackendError(
                "Ollama broke off in mid-answer. What had come is spoken; ask again, or choose another brain.", "broken"
            )
        if status in (401, 403):
            return BackendError(
                f"{where} does not let this app in. Check what it wants, or choose another brain.", "key"
            )
        if status and "memory" in text:
            return BackendError(
                f"This machine has not enough memory for “{self.model}”. Close something, or choose a smaller model.",
                "model",
            )
        if status in (429, 503, 529):
            return BackendError(
                f"{where} has too much to do just now. Ask again in a while, or choose another brain.",
                "quota" if status == 429 else "server",
            )
        if status in (408, 504):
            error, status = TimeoutError(), 0
        if status == 400:
            return BackendError(
                f"{where} does not accept the request for “{self.model}”. Choose another model.", "request"
            )
        if status == 404:
            return BackendError(
                f"At {self._shown} is no Ollama, but something else. Check the address, or choose another brain.",
                "setup",
            )
        if status and status > 0:
            return BackendError(
                f"{where} has a fault of its own (status {status}). Look into its log, or choose another brain.",
                "server",
            )
        match error:
            case ollama.ResponseError():  # told inside of a stream
                return BackendError(f"{where} reports a fault. Look into its log, or choose another brain.", "server")
            case EOFError() | httpx.RemoteProtocolError() | httpx.ReadError() | httpx.WriteError():
                return BackendError(
                    f"{where} broke off before it answered. Ask again, or choose another brain.", "broken"
                )
            case httpx.ConnectTimeout():
                return no_connection(error, where)
            case TimeoutError() | httpx.TimeoutException():
                return BackendError(
                    f"{where} did not answer in time. Look whether it hangs, or choose another brain.", "timeout"
                )
            case httpx.HTTPError() | OSError():
                return no_connection(error, f"{self._shown} (Ollama)", "Start it (“ollama serve”)")
            case ValueError() | TypeError() | AttributeError() | UnicodeError():
                return BackendError(
                    f"What answers at {self._shown} does not speak as Ollama does. Check the address, or "
                    "choose another brain.",
                    "broken",
                )
        raise error

    def _explain_pull(self, error: Exception, model: str) -> BackendError:
        import ollama

        text = str(error).lower()
        if isinstance(error, ollama.ResponseError):
            if "not exist" in text or "not found" in text or error.status_code == 404:
                return BackendError(f"There is no model “{model}” to fetch. Check how it is written.", "model")
            if "space" in text:
                return BackendError(
                    f"The disk is too full for “{model}”. Make room where Ollama keeps its models.", "setup"
                )
            return BackendError(
                f"Ollama could not fetch “{model}”. Check the network; what has come stays, so try again.", "server"
            )
        if isinstance(error, EOFError) or is_reset(error):
            return BackendError(
                f"Ollama broke off while it fetched “{model}”. What has come stays; choose it again to go on.", "broken"
            )
        return self._explain(error)


def _messages(messages: Iterable[Message]) -> Iterable[dict[str, Any]]:
    for message in messages:
        match message:
            case ChatMessage(role, content):
                yield {"role": role, "content": content}
            case AskedTools(calls, content):
                yield {
                    "role": "assistant",
                    "content": content,
                    "tool_calls": [{"function": {"name": c.name, "arguments": _object(c.arguments)}} for c in calls],
                }
            case ToolAnswer(_, name, text):
                yield {"role": "tool", "tool_name": name, "content": text}


def _may_pass(error: Exception) -> bool:
    """Whether asking again may help: it is busy, its runner has died (it starts another), the connection broke."""
    if "memory" in str(error).lower():
        return False
    return getattr(error, "status_code", 0) in _TRANSIENT or is_reset(error)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
