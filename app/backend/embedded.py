"""The embedded brain: a small model in a child process that the app starts and ends.

The child (see `embedded_server`) speaks OpenAI's protocol on loopback, so the answers come through the
same adapter as from any other server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

from app.backend.base import BackendError, ChatRequest, StreamItem
from app.backend.embedded_models import MODELS, SAMPLING, TRAITS
from app.backend.openai_compatible import OpenAICompatibleBackend
from app.childprocess import end_child, python_module_command, quiet_child
from app.conversation.prompt import ChatMessage
from app.installed import completing_command

START_SECONDS = 60.0


class EmbeddedBackend:
    """`model_file`: a GGUF file, or the name of one of `MODELS`. `threads`: for the model; one leaves a core of two to
    ears and voice.
    """

    name = "Embedded"
    traits = TRAITS

    def __init__(self, model_file: Path, *, threads: int = 1) -> None:
        self._known = MODELS.get(str(model_file))
        self.model = model_file.stem if self._known is None else str(model_file)
        if self._known is not None:
            self.traits = self._known.traits
        self._file = model_file
        self._threads = threads
        self._child: subprocess.Popen[bytes] | None = None
        self._client: OpenAICompatibleBackend | None = None

    async def open(self) -> None:
        """Starts the child and waits until the model is loaded and warm. Raises BackendError."""
        known = self._known
        if known is not None:
            self._file = await asyncio.to_thread(known.file)
        elif not self._file.is_file():
            raise BackendError(
                "The embedded model is not installed, so there is no brain. Set the app up again: "
                f"{completing_command()}, or choose another brain.",
                "setup",
            )
        command = python_module_command(
            "app.backend.embedded_server", str(self._file), str(self._threads), *([known.template] if known else [])
        )
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
                    extra=dict(known.sampling) if known else SAMPLING,
                )
                await self._client.open()
                await self._warm_up()
        except (TimeoutError, ValueError, KeyError):
            await self.close()
            raise BackendError(
                "The embedded model could not be started, so there is no brain. It needs about 0.5 GB of free "
                "memory: close something, or choose another brain."
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
        """The one that is installed."""
        return [self.model]

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
