"""The embedded brain: a small model in a child process that the app starts and ends.

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
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

from app.backend.base import BackendError, ChatRequest, StreamItem
from app.backend.embedded_models import asking, model_file
from app.backend.openai_compatible import OpenAICompatibleBackend
from app.childprocess import end_child, python_module_command, quiet_child
from app.conversation.prompt import ChatMessage
from app.models.catalogue import DEFAULTS, models_of
from app.models.places import is_here

START_SECONDS = 60.0


def spare_threads(cores: int | None = None) -> int:
    """Return how many threads a language model gets on a machine of so many cores: one is left to ears and voice."""
    return max(1, min(8, (cores or os.cpu_count() or 1) - 1))


class EmbeddedBackend:
    """Runs a GGUF model by the bundled llama.cpp.

    `model`: a key of the catalogue, or the path of a file; empty means the smallest, which comes with the app.
    `threads`: for the model; 0: as many as speech recognition and voice leave.
    """

    name = "Embedded"

    def __init__(self, model: str | Path = "", *, threads: int = 0) -> None:
        self.model = str(model) or DEFAULTS["llm"]
        self._asking = asking(self.model)
        self.traits = self._asking.traits
        self._chosen = self.model
        if "/" in self.model or "\\" in self.model:
            self.model = Path(self.model).stem
        self._threads = threads or spare_threads()
        self._child: subprocess.Popen[bytes] | None = None
        self._client: OpenAICompatibleBackend | None = None

    async def open(self) -> None:
        """Starts the child and waits until the model is loaded and warm. Raises BackendError."""
        file = await asyncio.to_thread(model_file, self._chosen)
        command = python_module_command("app.backend.embedded_server", str(file), str(self._threads))
        self._child = await asyncio.to_thread(
            subprocess.Popen,
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            **quiet_child(),
        )
        try:
            async with asyncio.timeout(START_SECONDS):
                line = await asyncio.to_thread(self._child.stdout.readline)  # type: ignore[union-attr]
                where = json.loads(line)
                self._client = OpenAICompatibleBackend(
                    base_url=f"{where['url']}/v1",
                    model=self.model,
                    api_key=where["key"],
                    name="The embedded brain",
                    extra=dict(self._asking.sampling),
                )
                await self._client.open()
                await self._warm_up()
        except (TimeoutError, ValueError, KeyError):
            await self.close()
            raise BackendError(
                f"The model {self.model} could not be started, so there is no brain. It may need more memory than is "
                "free: close something, or choose a smaller model or another brain."
            ) from None
        except BaseException:
            await self.close()
            raise

    def stream(self, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[StreamItem]]:
        """See `Backend.stream`."""
        if self._client is None:
            raise BackendError("The embedded brain is not running. Choose it anew, or choose another brain.")
        return self._client.stream(request)

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
        """Ends the child."""
        client, self._client = self._client, None
        child, self._child = self._child, None
        if client is not None:
            with contextlib.suppress(Exception):
                await client.close()
        if child is not None:
            await asyncio.to_thread(end_child, child)

    async def _warm_up(self) -> None:
        """Has the persona read once: the first request then starts as quickly as the later ones."""
        request = ChatRequest((ChatMessage("system", self.traits.persona), ChatMessage("user", "Hello.")), max_tokens=1)
        for attempt in range(100):
            try:
                async with self._client.stream(request) as deltas:  # type: ignore[union-attr]
                    async for _ in deltas:
                        pass
                return
            except BackendError:
                if attempt == 99 or (self._child is not None and self._child.poll() is not None):
                    raise
                await asyncio.sleep(0.1)
