"""The adapter at a real server on loopback: llama.cpp's with a real model, in a child process behind a random key."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import PurePath

import httpx
import pytest

from app.backend import make_backend
from app.backend.base import Backend, BackendError, ChatRequest, Usage, text_of
from app.backend.embedded import ChildWorker, Served
from app.conversation.prompt import ChatMessage
from app.models.locations import default_model
from app.untrusted.json_text import read_json
from app.untrusted.limits import CHILD_LINE

MODEL = default_model("llm")
PERSONA = ChatMessage("system", "You answer spoken questions briefly and correctly, in plain words.")
QUESTION = ChatRequest((PERSONA, ChatMessage("user", "What is the capital of France?")), 30, 0.0)
LONG = ChatRequest((ChatMessage("user", "Count from one to two hundred."),), 400, 0.0)
SHORT = ChatRequest((ChatMessage("user", "Say yes."),), 3, 0.0)
pytestmark = pytest.mark.skipif(not MODEL.is_file(), reason="the embedded model is not installed")


@pytest.fixture(scope="module")
def llama() -> Iterator[Served]:
    child = ChildWorker("app.backend.embedded_server", str(MODEL), "1", "1", start_seconds=60)
    server = Served(**read_json(child.start(), CHILD_LINE), pid=child.pid)
    while httpx.get(f"{server.url}/health", trust_env=False).status_code != 200:
        time.sleep(0.05)
    yield server
    child.close()
    assert not child.alive()


@pytest.fixture
async def backend(llama: Served) -> AsyncIterator[Backend]:
    made = make_backend("compatible", base_url=f"{llama.url}/v1", key=lambda names: llama.key)
    await made.open()
    yield made
    await made.close()


async def test_it_lists_its_models_and_answers_in_pieces(backend: Backend) -> None:
    names = await backend.models()
    assert backend.model in [PurePath(name).stem if name.endswith(".gguf") else name for name in names]
    async with backend.stream(QUESTION) as stream:
        items = [item async for item in stream if item]
    [usage] = [item for item in items if isinstance(item, Usage)]
    async with backend.stream(QUESTION) as stream:
        items = [item async for item in stream if item]
    texts = [item for item in items if isinstance(item, str)]  # of a model that is new, the first sentence comes whole
    [again] = [item for item in items if isinstance(item, Usage)]
    assert 0 < again.tokens_cached <= again.tokens_in, "what was read before"
    assert "Paris" in "".join(texts) and len(texts) > 3
    assert usage.counted and usage.tokens_in > 15 and 3 < usage.tokens_out <= 30


async def test_a_stream_that_is_left_frees_the_engine(backend: Backend) -> None:
    begin = time.monotonic()
    async with backend.stream(LONG) as stream:
        async for _ in text_of(stream):
            break
    first = time.monotonic() - begin
    begin = time.monotonic()
    async with backend.stream(SHORT) as stream:
        async for _ in stream:
            pass
    # 400 tokens would have taken over three seconds; a machine that is busy shows in the first word already.
    assert time.monotonic() - begin < 2.5 + 2 * first


async def test_many_streams_at_once_each_get_their_own_answer(backend: Backend) -> None:
    async def one() -> str:
        async with backend.stream(QUESTION) as stream:
            return "".join([text async for text in text_of(stream)])

    assert all("Paris" in text for text in await asyncio.gather(one(), one(), one()))


async def test_llamas_wrong_key_is_refused(llama: Served) -> None:
    for key, words in (("sk-wrong-1", "refuses the API key"), ("", "wants an API key")):
        backend = make_backend("compatible", base_url=f"{llama.url}/v1", model="m", key=lambda names, key=key: key)
        await backend.open()
        with pytest.raises(BackendError, match=words) as raised:
            async with backend.stream(SHORT) as stream:
                async for _ in stream:
                    pass
        assert raised.value.kind == "key" and "sk-wrong" not in str(raised.value)
        await backend.close()


async def test_llamas_context_is_kept_to(backend: Backend) -> None:
    """Its 2,048 tokens don't hold this conversation; it says so, and is asked shorter."""
    long = [ChatMessage(role, "on and on " * 900) for role in ("user", "assistant")]
    turns = [*long, ChatMessage("user", "Hello."), ChatMessage("assistant", "Hello.")]
    request = ChatRequest((PERSONA, *turns, QUESTION.messages[-1]), 20, 0.0)  # type: ignore[arg-type]
    before = backend.traits.history_words
    async with backend.stream(request) as stream:
        text = "".join([text async for text in text_of(stream)])
    assert text and backend.traits.history_words < before
