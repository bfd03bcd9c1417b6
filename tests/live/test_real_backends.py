"""The adapters at real servers on loopback: llama.cpp's with a real model, and Ollama's protocol over the same engine.

Each server is a child process of the test, at a free port behind a random key, and ended by its own id.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path, PurePath

import pytest

from app.backend import make_backend
from app.backend.base import Backend, BackendError, ChatRequest, Usage, text_of
from app.backend.ollama_answer import Abilities
from app.conversation.prompt import ChatMessage
from app.models.locations import default_model
from tests.support.ollama_peer import Engine, OllamaPeer, ollama_peer

MODEL = default_model("llm")
HAS, CAN_PULL = "smollm2:135m", "smollm2:latest"
PERSONA = ChatMessage("system", "You answer spoken questions briefly and correctly, in plain words.")
QUESTION = ChatRequest((PERSONA, ChatMessage("user", "What is the capital of France?")), 30, 0.0)
LONG = ChatRequest((ChatMessage("user", "Count from one to two hundred."),), 400, 0.0)
SHORT = ChatRequest((ChatMessage("user", "Say yes."),), 3, 0.0)

pytestmark = pytest.mark.skipif(not MODEL.is_file(), reason="the embedded model is not installed")


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[1][:3]
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.fixture(scope="module")
def llama() -> Iterator[Engine]:
    engine = Engine(MODEL)
    yield engine
    engine.close()
    assert not _alive(engine.pid)


@pytest.fixture(scope="module")
def ollama() -> Iterator[OllamaPeer]:
    with ollama_peer(OllamaPeer({HAS: MODEL}, {CAN_PULL: MODEL})) as peer:
        yield peer
        pids = peer.pids()
    assert not any(map(_alive, pids))


@pytest.fixture(params=["compatible", "ollama"])
def backend(request: pytest.FixtureRequest) -> Backend:
    """One of both, not open yet."""
    if request.param == "ollama":
        peer: OllamaPeer = request.getfixturevalue("ollama")
        return make_backend("ollama", base_url=peer.url, model=HAS)
    engine: Engine = request.getfixturevalue("llama")
    return make_backend("compatible", base_url=f"{engine.url}/v1", key=lambda names: engine.key)


async def test_it_lists_its_models_and_answers_in_pieces(backend: Backend) -> None:
    names = await backend.models()
    await backend.open()
    assert backend.model in [PurePath(name).stem if name.endswith(".gguf") else name for name in names]
    try:
        async with backend.stream(QUESTION) as stream:
            items = [item async for item in stream if item]
        texts = [item for item in items if isinstance(item, str)]
        [usage] = [item for item in items if isinstance(item, Usage)]
        assert "Paris" in "".join(texts) and len(texts) > 3
        assert usage.counted and usage.tokens_in > 15 and 3 < usage.tokens_out <= 30
    finally:
        await backend.close()


async def test_what_was_read_before_is_counted_as_cached(llama: Engine) -> None:
    backend = make_backend("compatible", base_url=f"{llama.url}/v1", key=lambda names: llama.key)
    await backend.open()
    try:
        for _ in range(2):
            async with backend.stream(QUESTION) as stream:
                items = [item async for item in stream]
        [usage] = [item for item in items if isinstance(item, Usage)]
        assert 0 < usage.tokens_cached <= usage.tokens_in
    finally:
        await backend.close()


async def test_a_stream_that_is_left_frees_the_engine(backend: Backend) -> None:
    await backend.open()
    try:
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
    finally:
        await backend.close()


async def test_many_streams_at_once_each_get_their_own_answer(backend: Backend) -> None:
    async def one() -> str:
        async with backend.stream(QUESTION) as stream:
            return "".join([text async for text in text_of(stream)])

    await backend.open()
    try:
        assert all("Paris" in text for text in await asyncio.gather(one(), one(), one()))
    finally:
        await backend.close()


async def test_llamas_wrong_key_is_refused(llama: Engine) -> None:
    for key, words in (("sk-wrong-1", "refuses the API key"), ("", "wants an API key")):
        backend = make_backend("compatible", base_url=f"{llama.url}/v1", model="m", key=lambda names, key=key: key)
        await backend.open()
        with pytest.raises(BackendError, match=words) as raised:
            async with backend.stream(SHORT) as stream:
                async for _ in stream:
                    pass
        assert raised.value.kind == "key" and "sk-wrong" not in str(raised.value)
        await backend.close()


async def test_llamas_context_is_kept_to(llama: Engine) -> None:
    """Its 2,048 tokens don't hold this conversation; it says so, and is asked shorter."""
    long = [ChatMessage(role, "on and on " * 900) for role in ("user", "assistant")]
    turns = [*long, ChatMessage("user", "Hello."), ChatMessage("assistant", "Hello.")]
    request = ChatRequest((PERSONA, *turns, QUESTION.messages[-1]), 20, 0.0)  # type: ignore[arg-type]
    backend = make_backend("compatible", base_url=f"{llama.url}/v1", key=lambda names: llama.key)
    await backend.open()
    try:
        before = backend.traits.history_words
        async with backend.stream(request) as stream:
            text = "".join([text async for text in text_of(stream)])
        assert text and backend.traits.history_words < before
    finally:
        await backend.close()


async def test_a_wrong_key_and_an_unknown_model_of_ollama() -> None:
    with ollama_peer(OllamaPeer({HAS: MODEL}, proxied_key="k")) as peer:
        with pytest.raises(BackendError, match="does not let this app in"):
            await make_backend("ollama", base_url=peer.url).models()
        peer.proxied_key = ""
        backend = make_backend("ollama", base_url=peer.url, model="nobody")
        with pytest.raises(BackendError, match="ollama pull nobody"):
            await backend.open()
        await backend.close()
        assert not peer.pids()


@pytest.mark.slow
async def test_ollama_loads_a_model_when_it_is_chosen_and_lets_it_go() -> None:
    with ollama_peer(OllamaPeer({HAS: MODEL})) as peer:
        backend = make_backend("ollama", base_url=peer.url)
        assert await backend.models() == [HAS] and not peer.pids()
        await backend.open()
        assert backend.model == HAS
        [running] = peer.running()
        assert running["name"] == HAS and backend.traits.history_words == 819  # two fifths of its 2,048 tokens
        [child] = peer.pids()
        async with backend.stream(SHORT) as stream:
            async for _ in stream:
                pass
        assert peer.pids() == [child], "it was loaded again"
        await backend.close()
        keeps = [body.get("keep_alive") for path, body in peer.asked if path in ("/api/generate", "/api/chat")]
        assert keeps == ["30m", "30m", "5m"]
        peer.load(HAS, 0)
        assert not peer.running() and not _alive(child)


async def test_ollama_teaches_what_a_model_can_do(ollama: OllamaPeer) -> None:
    backend = make_backend("ollama", base_url=ollama.url, model=HAS)
    await backend.open()
    backend._abilities = Abilities()  # as if it had told nothing of itself
    async with backend.stream(QUESTION) as stream:
        assert "".join([text async for text in text_of(stream)])
    await backend.close()


@pytest.mark.slow
async def test_ollama_fetches_a_model_and_tells_how_far(ollama: OllamaPeer) -> None:
    backend = make_backend("ollama", base_url=ollama.url)
    ollama.pull_seconds = 3.0
    ollama.gone.clear()
    pull = backend.pull("smollm2")
    async with contextlib.aclosing(pull):
        async for _, share in pull:
            if share > 0.1:
                break
    assert await asyncio.to_thread(ollama.gone.wait, 3), "it still fetches"
    part = ollama.pulled[CAN_PULL]
    await asyncio.sleep(0.3)
    assert ollama.pulled[CAN_PULL] == part < MODEL.stat().st_size

    ollama.pull_seconds = 0.3
    told = [step async for step in backend.pull("smollm2")]
    shares = [share for _, share in told]
    assert told[-1] == ("it is here", 1.0) and any(words.endswith("of 0.10 GB") for words, _ in told)
    assert shares[0] == 0.0 and max(shares) == 1.0 and any(0.1 < share < 1 for share in shares)
    assert min(share for share in shares if share) > 0.1, "it started again"
    assert CAN_PULL in await backend.models()


async def test_ollama_does_not_know_what_to_fetch(ollama: OllamaPeer) -> None:
    with pytest.raises(BackendError, match="no model “nobody” to fetch") as raised:
        async for _ in make_backend("ollama", base_url=ollama.url).pull("nobody"):
            pass
    assert raised.value.kind == "model"
