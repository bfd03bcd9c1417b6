"""The desk for brains: which there are, their models, whether they answer, and their keys. See `BackendService`.

Needs no session and knows nothing of one. Adapters are imported when one is asked, off the event loop's thread.
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

from app.backend import PROVIDERS, find_spec, key_names, make_backend
from app.backend.address import split_address
from app.backend.base import BackendError, ChatRequest, text_of
from app.conversation.prompt import ChatMessage
from app.services.api_keys import KeyRefused, KeyStore, Place
from app.services.protocols import PriceService, ProviderView, ToolServerService
from app.session.control import ROUTER, BackendChoice
from app.session.errors import UserError

KEPT_SECONDS = 600.0
"""A list of models is as good as new for so long."""

TEST_SECONDS = 30.0
LOCAL_TEST_SECONDS = 190.0
"""A brain on this machine may have to load its model first; adapters have closer limits of their own."""

TEST_QUESTION = "Say yes."
TEST_TOKENS = 16

_importing = threading.Lock()
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Offer:
    """Models to choose from: `asked` says that the server itself offers them, and they are not just well known."""

    models: tuple[str, ...]
    asked: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a key is kept, the same in a `sentence`, and why it is not in the keyring (`trouble`)."""

    place: Place
    sentence: str
    trouble: str = ""


class ProviderDirectory:
    """See `BackendService`. `router`: makes the brain that chooses among brains; without it, there is none to choose.

    `prices`: the table of what they cost, `tool_servers`: the list of those, for whoever shows them.
    """

    def __init__(
        self,
        keys: KeyStore,
        *,
        router: Callable[[], Any] | None = None,
        prices: PriceService | None = None,
        tool_servers: ToolServerService | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keys = keys
        self._router = router
        self.prices = prices
        self.tool_servers = tool_servers
        self._clock = clock
        self._offers: dict[tuple[str, str, bool], tuple[float, Offer]] = {}
        views = [
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
        ]
        if router is not None:
            views.append(ProviderView(ROUTER, "Router: by kind of question"))
        self.providers: tuple[ProviderView, ...] = tuple(views)

    async def models(self, choice: BackendChoice, *, fresh: bool = False) -> tuple[str, ...]:
        """See `BackendService.models`; of a provider that can't be asked yet for want of a key, its best known ones."""
        return (await self.offer(choice, fresh=fresh)).models

    async def offer(self, choice: BackendChoice, *, fresh: bool = False, seconds: float = 0.0) -> Offer:
        """The models of a provider, and whether its server was asked; after `seconds` (0: the adapter's own limit) it
        counts as not answering. Raises UserError.
        """
        if choice.provider == ROUTER:
            return Offer((), False)
        spec = await _told(asyncio.to_thread(find_spec, choice.provider))
        if spec.default_url is None:
            return Offer((), False)
        names = self._key_names(choice)
        key, _ = await asyncio.to_thread(self._keys.find, names)
        if spec.wants_key and not key and names == spec.key_variables:
            return Offer(spec.suggestions, False)
        place = (choice.provider, choice.base_url.rstrip("/"), bool(key))
        kept = self._offers.get(place)
        if kept is not None and not fresh and self._clock() - kept[0] < KEPT_SECONDS:
            return kept[1]
        backend = await self.make(choice)
        try:
            async with asyncio.timeout(seconds or None):
                found = await _told(backend.models())
        except TimeoutError:
            found = None
        finally:
            await backend.close()
        if found is None:
            raise UserError(
                f"{self._who(choice)} did not answer within {seconds:g} seconds. Check that it runs, or try again."
            )
        offer = Offer(tuple(found), True) if found else Offer(spec.suggestions, False)
        self._offers[place] = (self._clock(), offer)
        return offer

    async def test(self, choice: BackendChoice) -> str:
        """See `BackendService.test`."""
        local = choice.provider in PROVIDERS and PROVIDERS[choice.provider].free
        limit = LOCAL_TEST_SECONDS if local else TEST_SECONDS
        backend = await self.make(choice)
        try:
            async with asyncio.timeout(limit):
                seconds, words = await _told(_first_words(backend))
        except TimeoutError:
            seconds = None
        finally:
            await backend.close()
        if seconds is None:
            raise UserError(
                f"{self._who(choice)} did not answer within {limit:.0f} seconds. It may be overloaded or still loading "
                "its model: wait a little, or choose another brain."
            )
        model = backend.model or "The brain"
        where = "on this machine" if choice.provider == "embedded" else f"at {backend.name}"
        if not words:
            return f"{model} {where} answers, though without words to so short a question, after {seconds:.2f} s."
        return f"{model} {where} answers: first words after {seconds:.2f} s."

    async def pull(self, choice: BackendChoice, report: Callable[[str, float], None]) -> None:
        """See `BackendService.pull`. Raises UserError."""
        if choice.provider not in PROVIDERS or not PROVIDERS[choice.provider].can_pull:
            raise UserError("Only Ollama fetches models. Choose Ollama, and then a model to fetch.")
        if not choice.model.strip():
            raise UserError("No model is named. Name one, like gemma3:4b, and fetch it then.")
        backend = await self.make(choice)

        async def fetch() -> None:
            async with aclosing(backend.pull(choice.model.strip())) as steps:
                async for words, share in steps:
                    report(words, share)

        try:
            await _told(fetch())
        finally:
            await backend.close()
        self._drop(choice.provider)

    async def key_place(self, choice: BackendChoice) -> Place:
        """See `BackendService.key_place`."""
        return (await self.look_for_key(choice))[0]

    async def look_for_key(self, choice: BackendChoice) -> tuple[Place, str]:
        """Where the key for a brain comes from, and what hindered looking for it, as a sentence."""
        (_, place), trouble = await self._ask_keys(self._keys.find, self._key_names(choice))
        return place, trouble

    async def keep_key(self, choice: BackendChoice, key: str) -> str:
        """See `BackendService.keep_key`. Raises UserError for what can't be a key, and for a brain that takes none."""
        return (await self.keep(choice, key)).sentence

    async def keep(self, choice: BackendChoice, key: str) -> Kept:
        """Keeps a key in the keyring or in memory, and tells which. Raises UserError."""
        names, who, refusal = self.names_for_key(choice), self._who(choice), ""
        try:
            place, trouble = await self._ask_keys(self._keys.keep, names[0], key)
        except KeyRefused as error:
            refusal = str(error)
        if refusal:
            raise UserError(refusal)
        sentence = (
            f"The key for {who} is in the system's keyring now."
            if place == "keyring"
            else f"The key for {who} is kept in memory and is gone when the app ends. {trouble}"
        )
        self._drop(choice.provider)
        if (await asyncio.to_thread(self._keys.find, names))[1] == "environment":
            sentence += f" But the environment holds one too ({' or '.join(names)}), and that one is used."
        return Kept(place, sentence, trouble)

    async def forget_key(self, choice: BackendChoice) -> str:
        """See `BackendService.forget_key`. Raises UserError for a brain that takes no key."""
        return (await self.forget(choice)).sentence

    async def forget(self, choice: BackendChoice) -> Kept:
        """Forgets a key; tells where one still is. Raises UserError."""
        names, who = self.names_for_key(choice), self._who(choice)
        done, trouble = await self._ask_keys(self._keys.forget, names)
        self._drop(choice.provider)
        said = [f"The key for {who} is forgotten."] if done.found else []
        if trouble:
            said.append(f"{trouble} So the keyring may still hold a key for {who}.")
        if done.left == "environment":
            said.append(
                f"The environment still holds one ({' or '.join(names)}), which the app can't take away: unset it, and "
                "start the app anew."
            )
        return Kept(done.left, " ".join(said) or f"There was no key for {who} to forget.", trouble)

    def names_for_key(self, choice: BackendChoice) -> tuple[str, ...]:
        """The names of a brain's key, the first the keyring's. Raises UserError for a brain that takes none."""
        if names := self._key_names(choice):
            return names
        if choice.provider not in PROVIDERS:
            known = ", ".join(PROVIDERS)
            raise UserError(f"There is no brain called “{choice.provider}” with a key. There are: {known}.")
        if PROVIDERS[choice.provider].free:
            raise UserError(f"{PROVIDERS[choice.provider].label} takes no key.")
        raise UserError("A key belongs to a server. Give the server's address too, like https://example.org/v1.")

    async def _ask_keys(self, call: Callable[..., _T], *words: Any) -> tuple[_T, str]:
        """What the store answers, and what hindered it; in a thread, since a keyring takes its time."""
        return await asyncio.to_thread(lambda: (call(*words), self._keys.trouble))

    def _key_names(self, choice: BackendChoice) -> tuple[str, ...]:
        spec = PROVIDERS.get(choice.provider)
        return () if spec is None or spec.free else key_names(choice.provider, choice.base_url)

    def _who(self, choice: BackendChoice) -> str:
        spec = PROVIDERS.get(choice.provider)
        host = split_address(choice.base_url).netloc.rpartition("@")[2]
        if spec is None:
            return "The router" if choice.provider == ROUTER else choice.provider
        return host if host and host != split_address(spec.default_url or "").netloc else spec.label

    async def make(self, choice: BackendChoice) -> Any:
        """The brain of a choice, not open yet; made in a thread, for it imports much and may ask the keyring.

        Raises UserError.
        """

        def make() -> Any:
            if choice.provider == ROUTER:
                if self._router is None:
                    raise BackendError("There is no router to ask. Choose a brain.", "setup")
                return self._router()
            needs = find_spec(choice.provider).needs
            with _importing:
                # First, whatever the brain: openai looks into httpx wherever it is loaded, and stumbles over one that
                # another thread (with ollama) is halfway through loading.
                importlib.import_module("httpx")
                importlib.import_module(needs)
            return make_backend(
                choice.provider, model=choice.model.strip(), base_url=choice.base_url.strip(), key=self._keys.api_key
            )

        return await _told(asyncio.to_thread(make))

    def _drop(self, provider: str) -> None:
        """What that provider offers may be something else now."""
        self._offers = {place: kept for place, kept in self._offers.items() if place[0] != provider}


async def _first_words(backend: Any) -> tuple[float, bool]:
    """Opens a brain and asks it; the seconds to its first words, or to its end, and whether there were any."""
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


async def _told(work: Awaitable[_T]) -> _T:
    """What `work` gives; a brain's failure as a UserError.

    It has nothing behind it, neither cause nor context: what a server said may quote the key.
    """
    sentence = ""
    try:
        return await work
    except BackendError as error:
        sentence = str(error)
    raise UserError(sentence)
