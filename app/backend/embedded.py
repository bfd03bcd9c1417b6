"""The embedded brain: a small model in a child process that the app starts, keeps for the next talk, and ends.

The child (see `embedded_server`) speaks OpenAI's protocol on loopback, so the answers come through the
same adapter as from any other server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from app.backend.base import BackendError, ChatRequest, StreamItem
from app.backend.embedded_models import asking, model_file
from app.backend.openai_compatible import OpenAICompatibleBackend
from app.conversation.prompt import ChatMessage
from app.models.catalogue import DEFAULTS, models_of
from app.models.locations import is_here
from app.models.pool import MODELS, ModelKey, model_key
from app.models.speeds import load_speeds
from app.platform.children import end_child, python_module_command, quiet_child

START_SECONDS = 60.0


def spare_threads(cores: int | None = None) -> int:
    """Return how many threads a language model gets on a machine of so many cores: one is left to ears and voice."""
    return max(1, min(8, (cores or os.cpu_count() or 1) - 1))


@dataclass(slots=True)
class _Server:
    """A child, and where it listens. `works`: its model is loaded, and no request to it has failed."""

    child: subprocess.Popen[bytes]
    url: str = ""
    key: str = ""
    works: bool = False

    def alive(self) -> bool:
        """Whether another talk can use it."""
        return self.works and self.child.poll() is None

    def close(self) -> None:
        """Ends the child."""
        end_child(self.child)


class EmbeddedBackend:
    """Runs a GGUF model by the bundled llama.cpp.

    `model`: a key of the catalogue, or the path of a file; empty means the smallest, which comes with the app.
    `threads`: for the model; 0: as many as speech recognition and voice leave.
    """

    name = "Embedded"

    def __init__(self, model: str | Path = "", *, threads: int = 0) -> None:
        self.model = str(model) or DEFAULTS["llm"]
        self._asking = asking(self.model)
        speed = load_speeds().get(self.model)
        self.traits = self._asking.traits if speed is None else self._asking.traits.at_speed(speed.first, speed.rate)
        self._chosen = self.model
        if "/" in self.model or "\\" in self.model:
            self.model = Path(self.model).stem
        self._threads = threads or spare_threads()
        self._server: _Server | None = None
        self._key: ModelKey | None = None
        self._client: OpenAICompatibleBackend | None = None

    async def open(self) -> None:
        """Takes the child that an earlier talk has left, or starts one and waits until the model is loaded and warm.

        Raises BackendError.
        """
        file = await asyncio.to_thread(model_file, self._chosen)
        self._key = model_key("llm", file, self._threads)
        self._server = await asyncio.to_thread(MODELS.acquire, self._key)
        try:
            async with asyncio.timeout(START_SECONDS):
                if self._server is None:
                    await self._start(file)
                else:
                    await self._connect(self._server)
        except (TimeoutError, ValueError, KeyError):
            await self.close()
            raise BackendError(
                f"The model {self.model} could not be started, so there is no brain. It may need more memory than is "
                "free: close something, or choose a smaller model or another brain."
            ) from None
        except BaseException:
            await self.close()
            raise

    async def _start(self, file: Path) -> None:
        command = python_module_command("app.backend.embedded_server", str(file), str(self._threads))
        child = await asyncio.to_thread(
            subprocess.Popen,
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            **quiet_child(),
        )
        self._server = _Server(child)
        where = json.loads(await asyncio.to_thread(child.stdout.readline))  # type: ignore[union-attr]
        self._server.url, self._server.key = where["url"], where["key"]
        await self._connect(self._server)
        await self._warm_up(self._server)
        self._server.works = True

    async def _connect(self, server: _Server) -> None:
        self._client = OpenAICompatibleBackend(
            base_url=f"{server.url}/v1",
            model=self.model,
            api_key=server.key,
            name="The embedded brain",
            extra=dict(self._asking.sampling),
        )
        await self._client.open()

    @asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        """See `Backend.stream`."""
        if self._client is None or self._server is None:
            raise BackendError("The embedded brain is not running. Choose it anew, or choose another brain.")
        server = self._server
        try:
            async with self._client.stream(request) as items:
                yield items
        except BackendError:
            server.works = False  # the next talk gets another one
            raise

    async def prime(self, request: ChatRequest) -> None:
        """Reads the talk so far while nobody waits for it. What fails here fails again, and is told, when asked."""
        with contextlib.suppress(Exception):
            async with self.stream(replace(request, max_tokens=1)) as deltas:
                async for _ in deltas:
                    pass

    async def models(self) -> list[str]:
        """The keys of those that are on this machine."""
        return [model.key for model in models_of("llm") if is_here(model.key)]

    async def close(self) -> None:
        """Leaves the child to the next talk, or ends it."""
        client, self._client = self._client, None
        server, self._server = self._server, None
        if client is not None:
            with contextlib.suppress(Exception):
                await client.close()
        if server is not None and self._key is not None:
            await asyncio.to_thread(MODELS.release, self._key, server, alive=_Server.alive, close=_Server.close)

    async def _warm_up(self, server: _Server) -> None:
        """Has the persona read once: the first request then starts as quickly as the later ones."""
        request = ChatRequest((ChatMessage("system", self.traits.persona), ChatMessage("user", "Hello.")), max_tokens=1)
        for attempt in range(100):
            try:
                async with self._client.stream(request) as deltas:  # type: ignore[union-attr]
                    async for _ in deltas:
                        pass
                return
            except BackendError:
                if attempt == 99 or server.child.poll() is not None:
                    raise
                await asyncio.sleep(0.1)
