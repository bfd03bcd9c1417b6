"""The five adapters in front of a wire, and what holds for each of their sentences."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import Any

import pytest

from app.backend.base import Backend, BackendError, ChatRequest, StreamItem, text_of
from app.backend.ollama import OllamaBackend
from app.backend.openai_compatible import OpenAICompatibleBackend
from app.conversation.prompt import ChatMessage
from app.tools.base import ToolSpec, object_schema
from tests.support.provider_protocols import SECRET, SERVER_WORDS, Anthropic, Google, LlamaCpp, Ollama, Speech
from tests.support.wire import Reply, Wire

SPEECHES: dict[str, Speech] = {
    "openai": Speech(),
    "anthropic": Anthropic(),
    "google": Google(),
    "compatible": LlamaCpp(),
    "ollama": Ollama(),
}
ADAPTERS = list(SPEECHES)
TEXT = "Paris is it."
"""The text of `Speech.answer`."""
each = pytest.mark.parametrize("kind", ADAPTERS)
each_openai_like = pytest.mark.parametrize("kind", ADAPTERS[:-1])
REQUEST = ChatRequest((ChatMessage("system", "Be short."), ChatMessage("user", "Where is it?")), max_tokens=50)
CLOCK = ToolSpec("clock", "Tells the time.", object_schema({"zone": {"type": "string"}}))
_LABELS = {"openai": "OpenAI", "anthropic": "Anthropic", "google": "Google"}
_DO = tuple("Ask|ask again|Check|Choose|choose|Give|Add|Begin|Start|Try|Look|Make".split("|"))


def standing(kind: str) -> dict[str, Reply]:
    """What the server answers beside the conversation."""
    return SPEECHES["ollama"].standing("tiny:latest") if kind == "ollama" else {}  # type: ignore[union-attr]


def wire_for(kind: str, *script: Reply) -> Wire:
    """A wire that speaks as `kind`'s provider."""
    return Wire(script, standing=standing(kind))


def make(
    kind: str,
    url: str,
    *,
    speech: Speech | None = None,
    model: str | None = None,
    key: str = SECRET,
    extra: Mapping[str, Any] | None = None,
) -> Backend:
    """The adapter for `kind`, at this address instead of the provider's own."""
    speech = speech or SPEECHES[kind]
    model = speech.model if model is None else model
    if kind == "ollama":
        return OllamaBackend(base_url=url, model=model)
    return OpenAICompatibleBackend(
        base_url=url + speech.path,
        model=model,
        api_key=key,
        name=_LABELS.get(kind, ""),
        key_wanted=f"{kind.upper()}_API_KEY" if kind in _LABELS else "",
        provider=kind,
        extra=dict(extra or {}),
    )


@asynccontextmanager
async def opened(
    kind: str, *script: Reply, wire: Wire | None = None, model: str | None = None
) -> AsyncIterator[tuple[Wire, Backend]]:
    """A running wire and an open adapter for `kind` in front of it."""
    async with wire or wire_for(kind, *script) as running, opening(make(kind, running.url, model=model)) as backend:
        yield running, backend


@asynccontextmanager
async def opening(backend: Backend) -> AsyncIterator[Backend]:
    """Opens the adapter, and closes it in any case."""
    try:
        await backend.open()
        yield backend
    finally:
        await backend.close()


async def ask(backend: Backend, request: ChatRequest = REQUEST) -> list[StreamItem]:
    """All items of an answer that say something."""
    async with backend.stream(request) as items:
        return [item async for item in items if item]


async def say(backend: Backend, request: ChatRequest = REQUEST) -> str:
    """The answer's text."""
    async with backend.stream(request) as items:
        return "".join([text async for text in text_of(items)])


async def fail(backend: Backend, request: ChatRequest = REQUEST) -> tuple[str, BackendError]:
    """The text up to the fault, and the fault, whose sentence is one."""
    got: list[str] = []
    try:
        async with backend.stream(request) as items:
            async for text in text_of(items):
                got.append(text)
    except BackendError as error:
        check_sentence(error)
        return "".join(got), error
    raise AssertionError(f"no fault, but an answer: {''.join(got)!r}")


def check_sentence(error: BackendError) -> None:
    """What happened, what it means, what to do; nothing of the server's, no key."""
    sentence = str(error)
    assert sentence.endswith(".") and any(word in sentence for word in _DO), sentence
    assert len(sentence.rstrip(".").split(". ")) >= 2 or "; " in sentence or ": " in sentence, sentence
    assert SECRET not in sentence and SERVER_WORDS not in sentence and "Error" not in sentence, sentence
    assert error.__cause__ is None and (error.__suppress_context__ or error.__context__ is None)


async def fault_then_answer(
    kind: str, *faults: Reply, during: AbstractContextManager[object] | None = None
) -> tuple[str, BackendError, Wire]:
    """Requests an answer that fails, and another one afterwards, which succeeds. `during` is entered for the first of
    them: a deadline that is shortened there doesn't hold for the second, nor for what a process's very first request
    imports, since one that succeeds then comes before it."""
    answer = SPEECHES[kind].answer()
    async with opened(kind, *([answer] if during else []), *faults, answer) as (wire, backend):
        if during:
            assert await say(backend) == TEXT
        with during or nullcontext():
            got, error = await fail(backend)
        assert await say(backend) == TEXT
    return got, error, wire


async def answered_after(kind: str, *script: Reply) -> Wire:
    """The script's last reply is an answer, and its text comes as if nothing had been before."""
    async with opened(kind, *script) as (wire, backend):
        assert await say(backend) == TEXT
    return wire


def has_words(error: BackendError, words: str) -> bool:
    with pytest.raises(BackendError, match=words):
        raise error
    return True


async def answers_to(
    kind: str,
    *script: Reply,
    request: ChatRequest = REQUEST,
    times: int = 1,
    model: str | None = None,
    wire: Wire | None = None,
) -> tuple[list[StreamItem], list[Any]]:
    """The last answer's items, and the bodies of all requests."""
    async with opened(kind, *script, wire=wire, model=model) as (running, backend):
        for _ in range(times):
            items = await ask(backend, request)
    return items, [seen.body for seen in running.seen]


def words_in(items: list[StreamItem]) -> str:
    """The text of an answer's items."""
    return "".join(item for item in items if isinstance(item, str))
