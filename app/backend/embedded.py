"""The embedded back-end: a small model in a child process that the app starts, keeps for the next conversation, and
ends.

The child (`embedded_server`) speaks OpenAI's protocol on loopback, so its answers come through the same adapter as
those of any other server.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.backend.base import BackendError, ChatRequest, StreamItem
from app.backend.embedded_models import model_file, profile_of
from app.backend.openai_compatible import OpenAICompatibleBackend
from app.conversation.prompt import ChatMessage
from app.models.catalogue import DEFAULTS, models_of
from app.models.locations import is_here
from app.models.pool import MODELS, ModelKey, model_key
from app.models.selection import load_speeds
from app.platform.children import end_child, python_module_command, quiet_child
from app.untrusted.files import read_json_line
from app.untrusted.limits import CHILD_LINE

START_SECONDS = 60.0
WARM_UP_ATTEMPTS = 100


def spare_threads(cores: int | None = None) -> int:
    """Returns the number of threads for a model: one core is left to speech recognition and voice."""
    return max(1, min(8, (cores or os.cpu_count() or 1) - 1))


@dataclass(slots=True)
class _Server:
    """A child process and its address. `works`: its model is loaded, and no request to it has failed."""

    child: subprocess.Popen[bytes]
    url: str = ""
    key: str = ""
    works: bool = False

    def alive(self) -> bool:
        return self.works and self.child.poll() is None

    def close(self) -> None:
        end_child(self.child)


@dataclass(frozen=True, slots=True)
class Served:
    """Where a running model's server is, for others: its address without the path, its key and its process."""

    url: str
    key: str = field(repr=False)
    pid: int


class EmbeddedBackend:
    """Runs a GGUF model by the bundled llama.cpp.

    `model`: a key of the catalogue, or the path of a file; empty: the smallest one, which comes with the app.
    """

    name = "Embedded"

    def __init__(self, model: str | Path = "") -> None:
        self._chosen = str(model) or DEFAULTS["llm"]
        self.model = Path(self._chosen).stem if "/" in self._chosen or "\\" in self._chosen else self._chosen
        self._profile = profile_of(self._chosen)
        speed = load_speeds().get(self._chosen)
        traits = self._profile.traits
        self.traits = traits if speed is None else traits.at_speed(speed.first, speed.rate)
        self._threads, self._at_once = spare_threads(), 1
        self._server: _Server | None = None
        self._key: ModelKey | None = None
        self._client: OpenAICompatibleBackend | None = None

    def answer_together(self, at_once: int) -> None:
        """Makes it answer so many requests at a time, on all cores, where nobody talks. Call it before `open`."""
        self._threads, self._at_once = os.cpu_count() or 1, at_once

    async def open(self) -> None:
        """Takes over the child of an earlier conversation, or starts one and waits until its model is loaded and warm.

        Raises BackendError.
        """
        file = await asyncio.to_thread(model_file, self._chosen)
        self._key = model_key("llm", file, self._threads, self._at_once)
        self._server = await asyncio.to_thread(MODELS.acquire, self._key)
        try:
            async with asyncio.timeout(START_SECONDS):
                if self._server is None:
                    await self._start(file)
                else:
                    self._client = await self._connect(self._server)
        except (TimeoutError, ValueError, KeyError):
            await self.close()
            raise BackendError(
                f"The model {self.model} could not be started, so nothing can answer. It may need more memory than is "
                "free: close something, or choose a smaller model or another provider."
            ) from None
        except BaseException:
            await self.close()
            raise

    async def _start(self, file: Path) -> None:
        how = (str(self._threads), str(self._at_once))
        command = python_module_command("app.backend.embedded_server", str(file), *how)
        server = self._server = _Server(await asyncio.to_thread(_start_child, command))
        address = await asyncio.to_thread(_read_address, server.child)
        server.url, server.key = address["url"], address["key"]
        self._client = await self._connect(server)
        await self._warm_up(server, self._client)
        server.works = True

    async def _connect(self, server: _Server) -> OpenAICompatibleBackend:
        client = OpenAICompatibleBackend(
            base_url=f"{server.url}/v1",
            model=self.model,
            api_key=server.key,
            name="The embedded model",
            extra=dict(self._profile.sampling),
        )
        await client.open()
        return client

    @asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        client, server = self._client, self._server
        if client is None or server is None:
            raise BackendError("The embedded model is not running. Choose it again, or choose another model.")
        try:
            async with client.stream(request) as items:
                yield items
        except BackendError:
            server.works = False  # the next conversation starts another child
            raise

    async def prime(self, request: ChatRequest) -> None:
        """Lets the model read the conversation so far; a failure here will come again with the next request."""
        with contextlib.suppress(Exception):
            async with self.stream(replace(request, max_tokens=1)) as items:
                async for _ in items:
                    pass

    @property
    def served(self) -> Served:
        """Where its server is. Raises BackendError if it does not run."""
        if self._server is None:
            raise BackendError("The embedded model is not running. Choose it again, or choose another model.")
        return Served(self._server.url, self._server.key, self._server.child.pid)

    async def models(self) -> list[str]:
        """Returns the keys of the models that are on this machine."""
        return [model.key for model in models_of("llm") if is_here(model.key)]

    async def close(self) -> None:
        """Leaves the child to the next conversation, or ends it."""
        client, self._client = self._client, None
        server, self._server = self._server, None
        if client is not None:
            with contextlib.suppress(Exception):
                await client.close()
        if server is not None and self._key is not None:
            await asyncio.to_thread(MODELS.release, self._key, server, alive=_Server.alive, close=_Server.close)

    async def _warm_up(self, server: _Server, client: OpenAICompatibleBackend) -> None:
        """Lets the model read its persona, so that the first request starts as quickly as the later ones."""
        request = ChatRequest((ChatMessage("system", self.traits.persona), ChatMessage("user", "Hello.")), max_tokens=1)
        for attempt in range(1, WARM_UP_ATTEMPTS + 1):
            try:
                async with client.stream(request) as items:
                    async for _ in items:
                        pass
                return
            except BackendError:
                if attempt == WARM_UP_ATTEMPTS or server.child.poll() is not None:
                    raise
                await asyncio.sleep(0.1)


def _start_child(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **quiet_child()
    )


def _read_address(child: subprocess.Popen[bytes]) -> dict[str, str]:
    assert child.stdout is not None
    address: dict[str, str] = read_json_line(child.stdout, CHILD_LINE)
    return address
