"""Any server that speaks OpenAI's chat completions, through the package `openai`.

OpenAI itself, llama.cpp, vLLM, LM Studio and others by their base URL. Knows nothing of sessions.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from app.backend.base import BackendError, ChatRequest, Traits, guarded

OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-4.1-mini"


class OpenAICompatibleBackend:
    """`base_url` empty: OpenAI's own. `model` empty: OpenAI's default here, elsewhere the server's first.

    `api_key` is kept in memory alone and is in no text that this class makes.
    """

    traits = Traits()

    def __init__(
        self, *, base_url: str = "", model: str = "", api_key: str = "", name: str = "", extra: dict | None = None
    ) -> None:
        self.base_url = "" if base_url.rstrip("/") == OPENAI_URL else base_url
        self.model = model
        self.name = name or (urlsplit(self.base_url).netloc if self.base_url else "OpenAI")
        self._api_key = api_key
        self._extra = extra
        self._client: Any = None

    async def open(self) -> None:
        """Makes the client, and finds the model when none is named."""
        import openai

        if not self.base_url and not self._api_key:
            raise BackendError(
                "There is no API key for OpenAI, so it can't be asked. Set the environment variable "
                "OPENAI_API_KEY before the start, or choose another brain."
            )
        if self.base_url and not urlsplit(self.base_url).netloc:
            raise BackendError(
                f"“{self.base_url}” is no address of a server. Write it like http://127.0.0.1:8080/v1."
            )
        self._client = openai.AsyncOpenAI(
            base_url=self.base_url or None, api_key=self._api_key or "none", max_retries=1, timeout=30.0
        )
        if not self.model:
            self.model = DEFAULT_MODEL if not self.base_url else await self._first_model()

    @asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[AsyncIterator[str]]:
        """See `Backend.stream`."""
        import openai

        if self._client is None:
            raise BackendError(f"{self.name} has not been opened yet.")
        try:
            stream = await self._client.chat.completions.create(
                model=self.model,
                messages=[{"role": m.role, "content": m.content} for m in request.messages],
                max_tokens=request.max_tokens,
                temperature=request.temperature,
                stream=True,
                extra_body=self._extra,
            )
        except (openai.OpenAIError, OSError) as error:
            raise self._explain(error) from None
        async with stream, guarded(self._deltas(stream), self.name) as deltas:
            yield deltas

    async def prime(self, request: ChatRequest) -> None:
        """Nothing: the server's own cache has to do."""

    async def close(self) -> None:
        """Closes the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _deltas(self, stream: Any) -> AsyncGenerator[str, None]:
        import openai

        try:
            async for chunk in stream:
                for choice in chunk.choices[:1]:
                    yield choice.delta.content or ""
        except (openai.OpenAIError, OSError, ValueError) as error:
            raise self._explain(error, mid_answer=True) from None
        except Exception as error:
            # The HTTP library's own errors (a connection reset, half a message) are no OpenAIError here.
            if type(error).__module__.split(".")[0] not in ("httpx", "httpx2", "httpcore", "httpcore2", "h11"):
                raise
            raise self._explain(error, mid_answer=True) from None

    async def _first_model(self) -> str:
        import openai

        try:
            models = await self._client.with_options(timeout=5.0).models.list()
        except (openai.OpenAIError, OSError, ValueError) as error:
            raise self._explain(error) from None
        if not models.data:
            raise BackendError(f"{self.name} answers, but has no model. Load one there, and try again.")
        return models.data[0].id

    def _explain(self, error: Exception, *, mid_answer: bool = False) -> BackendError:
        """A sentence for an error. The server's own words are left out: they may quote a key."""
        import openai

        where = f"{self.name} ({self.base_url})" if self.base_url and self.name not in self.base_url else self.name
        match error:
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                text = f"{where} refuses the API key. Check the key, or choose another brain."
            case openai.NotFoundError():
                text = f"{where} does not know the model “{self.model}”. Choose another model."
            case openai.RateLimitError():
                text = f"{where} takes no more requests just now (limit reached). Wait a little, or choose another."
            case openai.BadRequestError():
                text = f"{where} does not accept the request for “{self.model}”. Choose another model."
            case openai.APITimeoutError():
                text = f"{where} did not answer in time. Try again, or choose another brain."
            case openai.APIStatusError():
                text = f"{where} has a fault of its own (status {error.status_code}). Try again, or choose another."
            case openai.APIConnectionError() if not mid_answer:
                text = f"No server answers at {where}. Start it, check the address, or choose another brain."
            case _:
                text = f"{where} broke off in mid-answer. What had come is spoken; ask again, or choose another brain."
        return BackendError(text)
