"""Models on the user's own machine through Ollama, with the package `ollama`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from app.backend.base import CONNECT_SECONDS, BackendError, ChatRequest, Traits, guarded

DEFAULT_URL = "http://127.0.0.1:11434"
KEEP_ALIVE = "30m"
"""A model that Ollama unloads in mid-conversation costs seconds at the next turn."""


class OllamaBackend:
    """`base_url` empty: this machine's own Ollama. `model` empty: the first that it has."""

    name = "Ollama"
    traits = Traits()

    def __init__(self, *, base_url: str = "", model: str = "") -> None:
        self.base_url = base_url or DEFAULT_URL
        self.model = model
        self._client: Any = None

    async def open(self) -> None:
        """Finds the server and the model. Raises BackendError."""
        import httpx
        import ollama

        self._client = ollama.AsyncClient(
            host=self.base_url, timeout=httpx.Timeout(None, connect=CONNECT_SECONDS)
        )
        try:
            names = [model.model for model in (await self._client.list()).models]
        except (ollama.ResponseError, httpx.HTTPError, OSError, ValueError) as error:
            raise self._explain(error) from None
        if not self.model:
            if not names:
                raise BackendError(
                    "Ollama runs, but has no model yet. Get one with “ollama pull gemma3:4b”, or choose another brain."
                )
            self.model = names[0]
        elif self.model not in names and f"{self.model}:latest" not in names:
            raise BackendError(
                f"Ollama does not have the model “{self.model}”. Get it with “ollama pull {self.model}”, "
                "or choose another model."
            )

    @asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[AsyncIterator[str]]:
        """See `Backend.stream`."""
        if self._client is None:
            raise BackendError("Ollama has not been opened yet.")
        async with guarded(self._deltas(request), f"Ollama's {self.model}") as deltas:
            yield deltas

    async def prime(self, request: ChatRequest) -> None:
        """Nothing: the server's own cache has to do."""

    async def close(self) -> None:
        """Closes the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _deltas(self, request: ChatRequest) -> AsyncGenerator[str, None]:
        import httpx
        import ollama

        begun = False
        try:
            stream = await self._client.chat(
                model=self.model,
                messages=[{"role": m.role, "content": m.content} for m in request.messages],
                stream=True,
                keep_alive=KEEP_ALIVE,
                options={"temperature": request.temperature, "num_predict": request.max_tokens},
            )
            async for part in stream:
                begun = True
                yield part.message.content or ""
        except (ollama.ResponseError, httpx.HTTPError, OSError, ValueError) as error:
            raise self._explain(error, mid_answer=begun) from None

    def _explain(self, error: Exception, *, mid_answer: bool = False) -> BackendError:
        import ollama

        if isinstance(error, ollama.ResponseError) and error.status_code == 404:
            return BackendError(
                f"Ollama does not have the model “{self.model}”. Get it with “ollama pull {self.model}”, "
                "or choose another model."
            )
        if mid_answer:
            return BackendError(
                "Ollama broke off in mid-answer. What had come is spoken; ask again, or choose another brain."
            )
        if isinstance(error, ollama.ResponseError):
            return BackendError(
                f"Ollama has a fault of its own (status {error.status_code}). Look into its log, or choose another."
            )
        return BackendError(
            f"Ollama does not answer at {self.base_url}. Start it (“ollama serve”), or choose another brain."
        )
