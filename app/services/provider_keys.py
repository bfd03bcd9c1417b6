"""API key management by provider, with user-facing messages about the results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from app.backend import PROVIDERS, key_names
from app.backend.base import base_address, split_address
from app.backend.model_record import ModelRecords
from app.services.api_keys import KeyPlace, KeyRefused, KeyStore
from app.session.control import BackendChoice, UserError

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class KeyResult:
    """The result of a change: where the key is now, a user-facing message, and any keyring error (`trouble`)."""

    place: KeyPlace
    sentence: str
    trouble: str = ""


class ProviderKeys:
    """Access to the API keys in `store` by back-end. Calls the store on worker threads, since a keyring may be slow.

    `records` tells whether a server of the user's own wants a key.
    """

    def __init__(self, store: KeyStore, records: ModelRecords) -> None:
        self.store = store
        self._records = records

    def may_ask(self, choice: BackendChoice) -> bool:
        """Returns whether the keyring may be opened, which may ask the user for its password.

        For a server of the user's own, it is opened once that server has asked for a key, or was given one.
        """
        known = PROVIDERS.get(choice.provider)
        return known is None or known.wants_key or self._records.wants_key(choice.base_url) is True

    async def find(self, choice: BackendChoice) -> tuple[KeyPlace, str]:
        """Returns where a back-end's key is stored, and an error message if the lookup failed."""
        keyring = self.may_ask(choice)
        (_, place), trouble = await self._call(lambda names: self.store.find(names, keyring=keyring), names_of(choice))
        return place, trouble

    async def keep(self, choice: BackendChoice, key: str) -> KeyResult:
        """Stores a key in the keyring or, if that fails, in memory.

        Raises UserError if the key is invalid or the back-end takes none.
        """
        names, who, refusal = required_names(choice), display_name(choice), ""
        try:
            place, trouble = await self._call(self.store.keep, names[0], key)
        except KeyRefused as error:
            refusal = str(error)
        if not refusal and not self.may_ask(choice):
            self._records.of(choice.base_url, "").wants_key = True
            await self._records.keep()
        if refusal:
            raise UserError(refusal)  # outside the handler, since the error's context could contain the key
        sentence = (
            f"The key for {who} is in the system's keyring now."
            if place == "keyring"
            else f"The key for {who} is kept in memory and is gone when the app ends. {trouble}"
        )
        if (await self.find(choice))[0] == "environment":
            sentence += f" But the environment holds one too ({' or '.join(names)}), and that one is used."
        return KeyResult(place, sentence, trouble)

    async def forget(self, choice: BackendChoice) -> KeyResult:
        """Deletes a key; `place` says where one still remains. Raises UserError if the back-end takes no key."""
        names, who = required_names(choice), display_name(choice)
        done, trouble = await self._call(self.store.forget, names)
        said = [f"The key for {who} is forgotten."] if done.found else []
        if trouble:
            said.append(f"{trouble} So the keyring may still hold a key for {who}.")
        if done.left == "environment":
            said.append(
                f"The environment still holds one ({' or '.join(names)}), which the app can't remove: unset it, and "
                "start the app again."
            )
        return KeyResult(done.left, " ".join(said) or f"There was no key for {who} to forget.", trouble)

    async def _call(self, function: Callable[..., _T], *arguments: Any) -> tuple[_T, str]:
        """Calls the store on a worker thread; returns the result and the store's `trouble`, which is thread-local."""
        return await asyncio.to_thread(lambda: (function(*arguments), self.store.trouble))


def names_of(choice: BackendChoice) -> tuple[str, ...]:
    """Returns the names under which a back-end's key may be stored; empty if it takes no key.

    New keys are stored under the first name.
    """
    spec = PROVIDERS.get(choice.provider)
    return () if spec is None or spec.free else key_names(choice.provider, choice.base_url)


def required_names(choice: BackendChoice) -> tuple[str, ...]:
    """Like `names_of`, but raises UserError if the back-end takes no key."""
    if names := names_of(choice):
        return names
    if choice.provider not in PROVIDERS:
        known = ", ".join(PROVIDERS)
        raise UserError(f"There is no provider called “{choice.provider}” with a key. There are: {known}.")
    if PROVIDERS[choice.provider].free:
        raise UserError(f"{PROVIDERS[choice.provider].label} takes no key.")
    raise UserError("A key belongs to a server. Give the server's address too, like https://example.org/v1.")


def display_name(choice: BackendChoice) -> str:
    """Returns the name of a back-end for use in messages: the provider, or the host of a custom server."""
    spec = PROVIDERS.get(choice.provider)
    host = split_address(choice.base_url).netloc.rpartition("@")[2]
    if spec is None:
        return choice.provider
    return host if host and host != split_address(spec.default_url or "").netloc else spec.label


def read_address(text: str) -> str:
    """Returns the address of a server from what the user has typed or pasted, or an empty string if it is none.

    `host:port`, and the address of an endpoint or a web page of the server, are understood, too.
    """
    text = text.strip()
    if not text or any(letter.isspace() for letter in text):
        return ""
    named = "://" in text
    address = base_address(text if named else f"http://{text}").rstrip("/")
    parts = split_address(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    likely = named or parts.port is not None or parts.hostname == "localhost"
    return address if likely else ""
