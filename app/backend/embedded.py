"""The embedded back-end: a small model in a child process that is reused across conversations.

If the child process dies or hangs, it is restarted and asked again. It runs an OpenAI-compatible server
(`embedded_server`) on the loopback interface, so the same adapter is used as for any other server.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.backend.base import BackendError, ChatRequest, Notice, StreamItem, split_address
from app.backend.embedded_models import model_file, profile_of
from app.backend.model_record import ModelRecords
from app.backend.openai_compatible import OpenAICompatibleBackend
from app.conversation.prompt import ChatMessage
from app.models.catalogue import DEFAULTS, models_of
from app.models.locations import is_here
from app.models.pool import MODELS, ModelKey, model_key
from app.models.selection import load_speeds
from app.platform.children import ChildError, ChildWorker
from app.platform.supervision import acquire
from app.untrusted.json_text import read_json
from app.untrusted.limits import CHILD_LINE

START_SECONDS = 60.0
RESTART_SECONDS = 1.0
"""How long a question waits for a restart that isn't allowed yet, since the last answer's error has promised one."""
WARM_UP_ATTEMPTS = 100
CHECK_SECONDS = 1.0
"""How often the child is checked while it works on a request."""
REPLY_SECONDS = 2.0
"""Time limit for the reply to a check, or twice that if the child computes meanwhile. A child that takes longer hangs;
its server replies while the model computes."""

_log = logging.getLogger(__name__)


def spare_threads(cores: int | None = None) -> int:
    """Returns the number of threads for the model, which leaves one core for speech recognition and the voice."""
    return max(1, min(8, (cores or os.cpu_count() or 1) - 1))


@dataclass(slots=True)
class _Server:
    """A child process and its address. `works`: whether the model is loaded and no request has failed so far."""

    child: ChildWorker
    url: str = ""
    key: str = ""
    works: bool = False

    def alive(self) -> bool:
        return self.works and self.child.alive()

    def close(self) -> None:
        self.child.close()


@dataclass(frozen=True, slots=True)
class Served:
    """Connection details for direct access to a running server: its URL without a path, API key and process ID."""

    url: str
    key: str = field(repr=False)
    pid: int


class EmbeddedBackend:
    """A GGUF model run by the bundled llama.cpp.

    `model`: a catalogue key or the path of a file; empty for the smallest model, which ships with the app.
    """

    name = "Built-in"

    def __init__(self, model: str | Path = "") -> None:
        self._chosen = str(model) or DEFAULTS["llm"]
        self.model = Path(self._chosen).stem if "/" in self._chosen or "\\" in self._chosen else self._chosen
        self.records = ModelRecords()
        self._profile = profile_of(self._chosen)
        speed = load_speeds().get(self._chosen)
        traits = self._profile.traits
        self.traits = traits if speed is None else traits.at_speed(speed.first, speed.rate)
        self._threads, self._at_once = spare_threads(), 1
        self._server: _Server | None = None
        self._key: ModelKey | None = None
        self._client: OpenAICompatibleBackend | None = None
        self._starting: asyncio.Task[OpenAICompatibleBackend] | None = None

    def answer_together(self, at_once: int) -> None:
        """Allows `at_once` concurrent requests on all cores, for use outside conversations. Call it before `open`."""
        self._threads, self._at_once = os.cpu_count() or 1, at_once

    async def open(self) -> None:
        """Reuses the child process of an earlier conversation, or starts one and waits until the model is warmed up.

        Raises BackendError.
        """
        file = await asyncio.to_thread(model_file, self._chosen)
        self._key = key = model_key("llm", file, self._threads, self._at_once)
        how = (str(self._threads), str(self._at_once))

        def load() -> _Server:
            child = ChildWorker("app.backend.embedded_server", str(file), *how, start_seconds=START_SECONDS)
            return MODELS.acquire(key) or _Server(child)

        self._server = server = await acquire(load, functools.partial(MODELS.release, key))
        try:
            await self._running(server)
        except BaseException:
            await self.close()
            raise

    async def _running(self, server: _Server) -> OpenAICompatibleBackend:
        """Returns a client for the child process, starting the process if it isn't running. Raises BackendError."""
        starting = self._starting
        if starting is None or (starting.done() and (self._client is None or not server.child.alive())):
            starting = self._starting = asyncio.create_task(self._start(server), name="start the embedded model")
            starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(starting)  # a cancelled request must not cancel the start

    async def _start(self, server: _Server) -> OpenAICompatibleBackend:
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._disconnect()
                fresh = not server.child.alive()
                if fresh:
                    address = read_json(await asyncio.to_thread(server.child.start, RESTART_SECONDS), CHILD_LINE)
                    server.url, server.key = address["url"], address["key"]
                self._client = client = await self._connect(server)
                if fresh:
                    async with _checked(server):
                        await self._warm_up(server, client)
                server.works = True
                return client
        except (BackendError, ChildError, TimeoutError, ValueError, KeyError) as error:
            await self._disconnect()
            if isinstance(error, BackendError):
                raise
            cause = str(error) if isinstance(error, ChildError) else "its process was not ready in time"
            raise BackendError(
                f"The model {self.model} could not be started, so nothing can answer: {cause}. It may need more memory "
                "than is free: close something and ask again, or choose a smaller model or another provider."
            ) from None

    async def _connect(self, server: _Server) -> OpenAICompatibleBackend:
        client = OpenAICompatibleBackend(
            base_url=f"{server.url}/v1",
            model=self.model,
            api_key=server.key,
            name="The built-in model",
            extra=dict(self._profile.sampling),
        )
        await client.open()
        client.record = record = self.records.of(self.name, self.model)  # its address changes with each start
        if record.unopened is None:
            record.unopened = self._profile.unopened
        return client

    async def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(Exception):
                await client.close()

    @asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        async with aclosing(self._items(request)) as items:
            yield items

    async def _items(self, request: ChatRequest) -> AsyncGenerator[StreamItem, None]:
        """Yields the answer. If the child process dies before the first item, asks a new process once."""
        server = self._server
        if server is None:
            raise BackendError("The built-in model is not running. Choose it again, or choose another model.")
        for last in (False, True):
            before, cause = server.child.pid, "" if server.child.alive() else server.child.ending()
            client, begun = await self._running(server), False
            child = server.child.pid
            if child != before:
                yield Notice(f"The built-in model had stopped and was started again: {cause}.")
            try:
                async with _checked(server), client.stream(request) as items:
                    async for item in items:
                        begun = True
                        server.child.worked()
                        yield item
                return
            except BackendError as error:
                server.works = False  # the next conversation starts a new child process
                if error.kind not in ("network", "broken"):
                    raise
                cause = "its process had to be started again"  # by another request, if the PID has changed
                if server.child.pid == child:
                    cause = await asyncio.to_thread(server.child.ending)
                    if server.child.alive():
                        raise
                _log.warning("The built-in model has stopped: %s.", cause)
                if begun or last:
                    raise BackendError(
                        f"The model {self.model} stopped while it was answering: {cause}. Your next question starts it "
                        "again. If it keeps stopping, close other programs, or choose a smaller model or another "
                        "provider.",
                        "broken",
                    ) from None

    async def prime(self, request: ChatRequest) -> None:
        """Has the model process the conversation so far. Ignores failures, since the next request will report them."""
        with contextlib.suppress(Exception):
            async with self.stream(replace(request, max_tokens=1)) as items:
                async for _ in items:
                    pass

    @property
    def served(self) -> Served:
        """The address, key and process ID of the server. Raises BackendError if it isn't running."""
        if self._server is None:
            raise BackendError("The built-in model is not running. Choose it again, or choose another model.")
        return Served(self._server.url, self._server.key, self._server.child.pid)

    async def models(self) -> list[str]:
        """Returns the keys of the models installed on this machine."""
        return [model.key for model in models_of("llm") if is_here(model.key)]

    async def close(self) -> None:
        """Returns the child process to the model pool, or terminates it if it no longer works."""
        server, self._server = self._server, None
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.cancel()
            await asyncio.wait([starting])
        await self._disconnect()
        if server is not None and self._key is not None:
            await asyncio.to_thread(MODELS.release, self._key, server)
            await self.records.keep()

    async def _warm_up(self, server: _Server, client: OpenAICompatibleBackend) -> None:
        """Has the model process its system prompt, so that the first request is as fast as later ones."""
        request = ChatRequest((ChatMessage("system", self.traits.persona), ChatMessage("user", "Hello.")), max_tokens=1)
        for attempt in range(1, WARM_UP_ATTEMPTS + 1):
            try:
                async with client.stream(request) as items:
                    async for _ in items:
                        pass
                return
            except BackendError:
                if not server.child.alive():
                    raise ChildError(await asyncio.to_thread(server.child.ending)) from None
                if attempt == WARM_UP_ATTEMPTS:
                    raise
                await asyncio.sleep(0.1)


@asynccontextmanager
async def _checked(server: _Server) -> AsyncIterator[None]:
    """Kills the child if it stops replying during the block, so that the request in the block fails."""
    checking = asyncio.create_task(_check(server), name="check the embedded model")
    try:
        yield
    finally:
        checking.cancel()
        await asyncio.wait([checking])


async def _check(server: _Server) -> None:
    replies = True
    while True:
        if replies:
            await asyncio.sleep(CHECK_SECONDS)
        before = server.child.progress()
        try:
            async with asyncio.timeout(REPLY_SECONDS):
                await _health(server.url)
            replies = True
        except TimeoutError:
            if not replies or (before is not None and server.child.progress() == before):
                _log.warning("The embedded model does not reply, so its process is ended.")
                server.child.kill()
                return
            replies = False
        except OSError:
            return  # it has ended, which the request notices itself


async def _health(url: str) -> None:
    """Returns once the server has replied anything."""
    address = split_address(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        writer.write(b"GET /health HTTP/1.0\r\n\r\n")
        await writer.drain()
        await reader.read(1)
    finally:
        writer.close()
