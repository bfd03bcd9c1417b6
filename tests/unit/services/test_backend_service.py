"""Tests the back-end service against a peer on loopback: lists and how long they are kept, tests, downloads, keys."""

import asyncio
import dataclasses
import socket
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from keyring.errors import NoKeyringError

import app.backend.attempts
import app.services.backend_service
from app.backend import PROVIDERS
from app.backend.base import BackendError, ChatRequest, Traits
from app.services.api_keys import KeyStore
from app.services.backend_service import KEPT_SECONDS, BackendService
from app.services.provider_keys import required_names
from app.session.control import BackendChoice, UserError
from tests.support.leaks import SECRET, all_logs, places_with, quoting_peer, texts_of
from tests.support.raising import raising
from tests.support.servers import Script, closed_port_url, peer
from tests.support.tables import cases
from tests.unit.services.test_api_keys import Ring


class Place:
    """A service, with its keys, environment and clock."""

    def __init__(self, ring: Any = None, **environment: str) -> None:
        self.environment = environment
        self.now = 0.0
        self.keys = KeyStore(
            environment=self.environment, open_keyring=(lambda: ring) if ring else raising(NoKeyringError())
        )
        self.service = BackendService(self.keys, clock=lambda: self.now)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.backend.attempts, "RETRY_SECONDS", 0.01)


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Any:
    def move(provider: str, url: str) -> None:
        monkeypatch.setitem(PROVIDERS, provider, dataclasses.replace(PROVIDERS[provider], default_url=f"{url}/v1"))

    return move


def compatible(url: str, model: str = "") -> BackendChoice:
    return BackendChoice("compatible", model, f"{url}/v1")


async def test_a_list_is_kept_for_ten_minutes_and_asked_again_when_told_to() -> None:
    place, script = Place(), Script()
    script.models = ["one", "two"]
    with peer(script) as url:
        assert await place.service.models(compatible(url)) == ("one", "two")
        script.models = ["three"]
        place.now = KEPT_SECONDS - 1
        assert await place.service.models(compatible(f"{url}", "another")) == ("one", "two")
        assert await place.service.models(compatible(url), fresh=True) == ("three",)
        script.models = ["four"]
        place.now += KEPT_SECONDS + 1
        assert await place.service.models(compatible(url)) == ("three", "four")[1:]
        # A key may open other models: they are another list.
        script.models = ["five"]
        place.environment[required_names(compatible(url))[0]] = "key"
        assert await place.service.models(compatible(url)) == ("five",)
    with pytest.raises(UserError, match="Start it"):
        await place.service.models(compatible(url), fresh=True)


async def test_a_failure_is_not_kept() -> None:
    place, script = Place(), Script()
    with peer(script) as url:
        script.models = ["one"]
        with pytest.raises(UserError):
            await place.service.models(compatible(closed_port_url()))
        assert await place.service.models(compatible(url)) == ("one",)


async def test_without_a_key_a_providers_best_known_models_are_offered_and_it_is_not_asked(cloud: Any) -> None:
    place, script = Place(), Script()
    script.models = ["gpt-99"]
    with peer(script) as url:
        cloud("openai", url)
        assert await place.service.models(BackendChoice("openai")) == PROVIDERS["openai"].suggestions
        assert await place.service.keep_key(BackendChoice("openai"), "sk-1")
        assert await place.service.models(BackendChoice("openai")) == ("gpt-99",)
        script.models = []
        offer = await place.service.offer(BackendChoice("openai"), fresh=True)
        assert offer.models == PROVIDERS["openai"].suggestions and not offer.asked
        # Elsewhere the provider's key is not sent, so nobody misses it.
        script.models = ["mine"]
        cloud("openai", closed_port_url())
        assert await Place().service.models(BackendChoice("openai", "", f"{url}/v1")) == ("mine",)


async def test_what_has_no_list_has_none() -> None:
    place = Place()
    assert await place.service.models(BackendChoice("embedded")) == ()
    with pytest.raises(UserError, match="called “hal9000”"):
        await place.service.models(BackendChoice("hal9000"))


async def test_a_server_that_says_nothing_is_given_up_after_the_time_asked_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(UserError, match=r"did not answer within 0\.3 seconds"):
            await Place().service.offer(compatible(url), seconds=0.3)


async def test_a_backend_that_works_is_told_with_its_time() -> None:
    script = Script(("Yes", "."))
    with peer(script) as url:
        sentence = await Place().service.test(compatible(url))
    host = url.removeprefix("http://")
    assert sentence.startswith(f"tiny at {host} answers: first words after 0.") and sentence.endswith(" s.")
    assert script.requests[-1]["messages"][-1] == {"role": "user", "content": "Say yes."}


@pytest.mark.parametrize("status", [401, 404, 500])
async def test_what_is_wrong_with_a_backend_is_a_sentence_with_nothing_behind_it(status: int) -> None:
    with peer(Script(status=status)) as url, pytest.raises(UserError) as raised:
        await Place().service.test(compatible(url, "tiny"))
    assert str(raised.value).endswith(".")
    assert raised.value.__cause__ is None and raised.value.__context__ is None


class Fake:
    """A back-end that does as the test says, and counts how often it was closed."""

    name, model, traits = "Fake", "fake-1", Traits()

    def __init__(self) -> None:
        self.closed = 0
        self.steps = asyncio.Event()
        self.stopped = False
        self.error: Exception | None = None
        self.silent = False

    async def open(self) -> None:
        if self.error:
            raise self.error
        if self.silent:
            await asyncio.sleep(60)

    def stream(self, request: ChatRequest) -> Any:
        from contextlib import aclosing

        async def items() -> AsyncGenerator[str, None]:
            for _ in ():
                yield ""

        return aclosing(items())

    async def pull(self, model: str) -> AsyncGenerator[tuple[str, float], None]:
        try:
            yield f"getting {model}", 0.25
            if self.error:
                raise self.error
            await self.steps.wait()
            yield "done", 1.0
        finally:
            self.stopped = True

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake()
    monkeypatch.setattr(app.services.backend_service, "make_backend", lambda *words, **named: made)
    return made


async def test_a_test_ends_in_time_and_always_closes(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Place().service
    assert "without words" in await service.test(BackendChoice("openai")) and fake.closed == 1
    fake.error = BackendError("It is broken.")
    with pytest.raises(UserError, match="It is broken"):
        await service.test(BackendChoice("openai"))
    fake.error = ZeroDivisionError("a fault of ours is none of the user's")
    with pytest.raises(ZeroDivisionError):
        await service.test(BackendChoice("openai"))
    assert fake.closed == 3
    fake.error, fake.silent = None, True
    monkeypatch.setattr(app.services.backend_service, "TEST_SECONDS", 0.05)
    with pytest.raises(UserError, match="OpenAI did not answer within 0 seconds"):
        await service.test(BackendChoice("openai"))
    assert fake.closed == 4
    monkeypatch.setattr(app.services.backend_service, "TEST_SECONDS", 30)
    task = asyncio.create_task(service.test(BackendChoice("openai")))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert fake.closed == 5


async def test_a_model_is_fetched_and_cancelling_stops_it(fake: Fake) -> None:
    service, told = Place().service, []
    fake.steps.set()
    await service.pull(BackendChoice("ollama", "gemma3:4b"), lambda words, share: told.append((words, share)))
    assert told == [("getting gemma3:4b", 0.25), ("done", 1.0)] and fake.closed == 1
    fake.steps.clear()
    fake.stopped = False
    task = asyncio.create_task(service.pull(BackendChoice("ollama", "gemma3:4b"), lambda words, share: None))
    await asyncio.sleep(0.05)
    assert not fake.stopped
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert fake.stopped and fake.closed == 2
    fake.error = BackendError("The disk is full.")
    with pytest.raises(UserError, match="disk is full"):
        await service.pull(BackendChoice("ollama", "m"), lambda words, share: None)
    for choice, words in ((BackendChoice("openai", "x"), "Only Ollama"), (BackendChoice("ollama", " "), "No model")):
        with pytest.raises(UserError, match=words):
            await service.pull(choice, lambda words, share: None)


async def test_keys_are_kept_found_and_forgotten() -> None:
    ring = Ring()
    place, openai = Place(ring), BackendChoice("openai")
    assert await place.service.key_place(openai) == "none"
    assert await place.service.keep_key(openai, f" {SECRET}\n") == "The key for OpenAI is in the system's keyring now."
    assert await place.service.key_place(openai) == "keyring" and ring.held == {"OPENAI_API_KEY": SECRET}
    place.environment["OPENAI_API_KEY"] = "other"
    assert "the environment holds one too (OPENAI_API_KEY)" in await place.service.keep_key(openai, SECRET)
    assert await place.service.key_place(openai) == "environment"
    assert (await place.service.forget_key(openai)).startswith("The key for OpenAI is forgotten. The environment still")
    del place.environment["OPENAI_API_KEY"]
    assert await place.service.forget_key(openai) == "There was no key for OpenAI to forget."
    place = Place()
    sentence = await place.service.keep_key(openai, SECRET)
    assert sentence == (
        "The key for OpenAI is kept in memory and is gone when the app ends. No keyring is running on this machine."
    )
    assert await place.service.key_place(openai) == "memory"
    assert await place.service.forget_key(openai) == "The key for OpenAI is forgotten."


def sent(script: Script) -> str:
    return {name.lower(): value for name, value in script.seen_headers[-1].items()}["authorization"]


async def test_a_servers_own_key_goes_to_that_server_alone() -> None:
    place, script = Place(Ring(), OPENAI_API_KEY="sk-of-openai"), Script()
    with peer(script) as url, peer(Script()) as other:
        await place.service.keep_key(compatible(url), SECRET)
        assert await place.service.key_place(compatible(other)) == "none"
        await place.service.test(compatible(url))
        assert sent(script) == f"Bearer {SECRET}"
        await place.service.test(BackendChoice("openai", "tiny", f"{url}/v1"))
        assert sent(script) == f"Bearer {SECRET}", "not OpenAI's"


async def test_a_key_for_what_takes_none_and_one_that_is_none_are_sentences() -> None:
    service = Place().service
    for choice, words in (
        (BackendChoice("embedded"), "takes no key"),
        (BackendChoice("ollama", "", "http://h:1"), "takes no key"),
        (BackendChoice("compatible"), "server's address"),
        (BackendChoice("hal9000"), "no provider called"),
    ):
        assert await service.key_place(choice) == "none"
        with pytest.raises(UserError, match=words):
            await service.keep_key(choice, SECRET)
        with pytest.raises(UserError, match=words):
            await service.forget_key(choice)
    with pytest.raises(UserError, match="line ends") as raised:
        await service.keep_key(BackendChoice("openai"), f"{SECRET}\n{SECRET}")
    assert raised.value.__context__ is None and not places_with(SECRET, texts=texts_of(raised.value))


@cases("provider, status", ("openai", 400), ("openai", 401), ("openai", 429), ("anthropic", 403), ("google", 400))
async def test_a_server_that_quotes_the_key_makes_nobody_else_quote_it(provider: str, status: int, cloud: Any) -> None:
    place, told = Place(), []
    with all_logs() as logs, quoting_peer(status) as (url, seen):
        cloud(provider, url)
        await place.service.keep_key(BackendChoice(provider), SECRET)
        for work in (place.service.models, place.service.test):
            with pytest.raises(UserError) as raised:
                await work(BackendChoice(provider))
            told += texts_of(raised.value)
    assert SECRET in seen, "the peer has to have seen the key, or there is nothing to leak"
    assert not places_with(SECRET, texts=[*told, *logs])
