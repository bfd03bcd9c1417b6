"""Back-end management for the window and the command line, independent of any session.

It lists providers and their models, tests back-ends, pulls Ollama models and stores keys. Adapters are imported on a
worker thread when first used.
"""

from __future__ import annotations

import asyncio
import importlib
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

from app.backend import PROVIDERS, find_spec, make_backend
from app.backend.base import BackendError, ChatRequest, text_of
from app.conversation.prompt import ChatMessage
from app.services import backends
from app.services.api_keys import KeyPlace, KeyStore, key_store
from app.services.price_service import PriceService
from app.services.provider_keys import ProviderKeys, display_name, names_of
from app.services.tool_server_service import ToolServerService
from app.session.control import BackendChoice, UserError
from app.untrusted.proxies import without_proxies

KEPT_SECONDS = 600.0
"""How long a list of models is cached before the server is queried again."""

TEST_SECONDS = 30.0
LOCAL_TEST_SECONDS = 190.0
"""Timeouts for testing a back-end; a local one may have to load its model first. Adapters have shorter timeouts of
their own."""

TEST_QUESTION = "Say yes."
TEST_TOKENS = 16

_importing = threading.Lock()
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ProviderView:
    """A provider as shown in the window.

    - `url`: its default address; None if the user can't change it.
    - `key_name`: the environment variable for its API key, or empty.
    - `can_pull`: whether it can download models itself.
    - `suggestions`: models to offer if the server can't be queried.
    """

    key: str
    label: str
    url: str | None = None
    wants_key: bool = False
    key_name: str = ""
    can_pull: bool = False
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """Models to choose from. `asked`: whether they are the server's own list, rather than the app's suggestions."""

    models: tuple[str, ...]
    asked: bool


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server that runs on this machine. `name`: the program that usually has this port."""

    name: str
    choice: BackendChoice
    models: tuple[str, ...]


USUAL_PORTS = (("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000), ("Jan", 1337))
"""The ports at which programs with an OpenAI-compatible server listen by default. Ollama is a provider of its own."""
CONNECT_SECONDS, LIST_SECONDS = 0.3, 3.0
"""How long a port of this machine is given to accept a connection, and a server there to list its models."""


class BackendService:
    """The service for providers, their models, keys, prices and tool servers. Coroutines never block the event loop."""

    def __init__(self, keys: KeyStore | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.keys = ProviderKeys(keys or key_store(), backends.RECORDS)
        self.prices = PriceService()
        self.tool_servers = ToolServerService()
        self._clock = clock
        self._offers: dict[tuple[str, str, bool], tuple[float, Offer]] = {}
        self.providers = tuple(
            ProviderView(
                key,
                spec.label,
                spec.default_url if spec.own_url else None,
                spec.wants_key,
                next(iter(spec.key_variables), ""),
                spec.can_pull,
                spec.suggestions,
            )
            for key, spec in PROVIDERS.items()
        )

    async def models(self, choice: BackendChoice, *, fresh: bool = False) -> tuple[str, ...]:
        """Lists the models of a provider, or suggestions if it can't be queried yet; `fresh` bypasses the cache.

        Raises UserError.
        """
        return (await self.offer(choice, fresh=fresh)).models

    async def offer(self, choice: BackendChoice, *, fresh: bool = False, seconds: float = 0.0) -> Offer:
        """Like `models`, but also returns where the list came from.

        `seconds`: a timeout, or 0 for the adapter's own. Raises UserError on timeout or failure.
        """
        spec = await _as_user_error(asyncio.to_thread(find_spec, choice.provider))
        if spec.default_url is None:
            return Offer((), False)
        names = names_of(choice)
        known = self.keys.may_ask(choice)
        key, _ = await asyncio.to_thread(lambda: self.keys.store.find(names, keyring=known))
        if spec.wants_key and not key and names == spec.key_variables:
            return Offer(spec.suggestions, False)
        place = (choice.provider, choice.base_url.rstrip("/"), bool(key))
        kept = self._offers.get(place)
        if kept is not None and not fresh and self._clock() - kept[0] < KEPT_SECONDS:
            return kept[1]
        backend = await self.make(choice)
        try:
            async with asyncio.timeout(seconds or None):
                found = await _as_user_error(backend.models())
        except TimeoutError:
            found = None
        finally:
            await backend.close()
        if found is None:
            raise UserError(
                f"{display_name(choice)} did not answer within {seconds:g} seconds. Check that it runs, or try again."
            )
        offer = Offer(tuple(found), True) if found else Offer(spec.suggestions, False)
        self._offers[place] = (self._clock(), offer)
        return offer

    async def servers_here(self) -> tuple[FoundServer, ...]:
        """Finds the servers that run on this machine, at their usual ports of the loopback address."""
        found = await asyncio.gather(*(self._server_at(name, port) for name, port in USUAL_PORTS))
        return tuple(server for server in found if server is not None)

    async def _server_at(self, name: str, port: int) -> FoundServer | None:
        try:
            opening = asyncio.open_connection("127.0.0.1", port)
            _, writer = await asyncio.wait_for(opening, CONNECT_SECONDS)
            writer.close()
        except (OSError, TimeoutError):
            return None
        choice = BackendChoice("compatible", "", f"http://127.0.0.1:{port}/v1")
        try:
            offer = await self.offer(choice, seconds=LIST_SECONDS)
        except UserError:
            return None
        return FoundServer(name, choice, offer.models) if offer.asked else None

    async def test(self, choice: BackendChoice) -> str:
        """Requests a short answer and returns a user-facing message with the latency. Raises UserError on failure."""
        backend = await self.make(choice)
        limit = LOCAL_TEST_SECONDS if PROVIDERS[choice.provider].free else TEST_SECONDS
        try:
            async with asyncio.timeout(limit):
                seconds, words = await _as_user_error(_first_words(backend))
        except TimeoutError:
            seconds = None
        finally:
            await backend.close()
        if seconds is None:
            raise UserError(
                f"{display_name(choice)} did not answer within {limit:.0f} seconds. It may be overloaded or still "
                "loading its model: wait a little, or choose another model."
            )
        model = backend.model or "The model"
        where = "on this machine" if choice.provider == "embedded" else f"at {backend.name}"
        if not words:
            return f"{model} {where} answers, though without words to so short a question, after {seconds:.2f} s."
        return f"{model} {where} answers: first words after {seconds:.2f} s."

    async def pull(self, choice: BackendChoice, report: Callable[[str, float], None]) -> None:
        """Pulls a model with Ollama; cancelling the coroutine stops the download. Raises UserError.

        `report` is called with a status message and the fraction done.
        """
        if choice.provider not in PROVIDERS or not PROVIDERS[choice.provider].can_pull:
            raise UserError("Only Ollama downloads models. Choose Ollama, and then a model to download.")
        if not choice.model.strip():
            raise UserError("No model is named. Name one, like gemma3:4b, and download it then.")
        backend = await self.make(choice)

        async def fetch() -> None:
            async with aclosing(backend.pull(choice.model.strip())) as steps:
                async for words, share in steps:
                    report(words, share)

        try:
            await _as_user_error(fetch())
        finally:
            await backend.close()
        self._drop_offers(choice.provider)

    async def key_place(self, choice: BackendChoice) -> KeyPlace:
        """Returns where a back-end's key is stored."""
        return (await self.keys.find(choice))[0]

    async def keep_key(self, choice: BackendChoice, key: str) -> str:
        """Stores a key and returns a user-facing message saying where.

        Raises UserError if the key is invalid or the back-end takes none.
        """
        result = await self.keys.keep(choice, key)
        self._drop_offers(choice.provider)
        return result.sentence

    async def forget_key(self, choice: BackendChoice) -> str:
        """Deletes a key and returns a user-facing message, which also says if one remains.

        Raises UserError if the back-end takes no key.
        """
        result = await self.keys.forget(choice)
        self._drop_offers(choice.provider)
        return result.sentence

    async def make(self, choice: BackendChoice) -> Any:
        """Creates the chosen back-end on a worker thread, without opening it. Raises UserError."""

        def make() -> Any:
            needs = find_spec(choice.provider).needs
            with _importing:
                # Import httpx first for every back-end: openai inspects httpx if it is loaded, and fails if another
                # thread (importing ollama) has only half imported it.
                importlib.import_module("httpx")
                with without_proxies():  # ollama makes a client while it is imported
                    importlib.import_module(needs)
            return make_backend(
                choice.provider,
                model=choice.model.strip(),
                base_url=choice.base_url.strip(),
                key=self.keys.store.api_key,
                key_at_hand=self.keys.store.key_at_hand,
                records=backends.RECORDS,
            )

        return await _as_user_error(asyncio.to_thread(make))

    def _drop_offers(self, provider: str) -> None:
        """Invalidates the cached model lists of a provider."""
        self._offers = {place: kept for place, kept in self._offers.items() if place[0] != provider}


async def _first_words(backend: Any) -> tuple[float, bool]:
    """Opens a back-end and requests a short answer.

    Returns the time (s) to the first text, or to the end if there was none, and whether there was any text.
    """
    await backend.open()
    request = ChatRequest(
        (ChatMessage("system", backend.traits.persona), ChatMessage("user", TEST_QUESTION)), max_tokens=TEST_TOKENS
    )
    started = time.monotonic()
    async with backend.stream(request) as items:
        async for text in text_of(items):
            if text.strip():
                return time.monotonic() - started, True
    return time.monotonic() - started, False


async def _as_user_error(work: Awaitable[_T]) -> _T:
    """Awaits `work`, converting any BackendError to a UserError.

    The UserError has neither cause nor context, since those might quote the key.
    """
    sentence = ""
    try:
        return await work
    except BackendError as error:
        sentence = str(error)
    raise UserError(sentence)
