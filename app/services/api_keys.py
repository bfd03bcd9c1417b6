"""API keys: found in the environment, in this process's memory or in the operating system's keyring.

A key goes from here straight into the adapter that needs it, and into nothing else: no file, no log line, no text of
an error. Knows nothing of brains. Blocks for a few seconds at most: never call it on an event loop's thread.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from app.diagnostics.redaction import redact

SERVICE = "kame-desktop"
KEYRING_SECONDS = 5.0
"""A keyring that asks its user for a password, or hangs, is waited for no longer."""

LOCKER_CHARACTERS = 1280
"""Windows' Credential Locker takes 2,560 bytes, and keys lie there as UTF-16."""

Place = Literal["none", "environment", "keyring", "memory"]
"""Where a key is: an environment variable, the system's keyring, or this process's memory until it ends."""

_SYSTEM_KEYRINGS = (
    "keyring.backends.Windows",
    "keyring.backends.SecretService",
    "keyring.backends.libsecret",
    "keyring.backends.kwallet",
    "keyring.backends.macOS",
)
_QUOTES = "\"'`“”‘’«»"
_T = TypeVar("_T")


class KeyRefused(ValueError):
    """What was given can't be a key: `str(error)` is a sentence, without it."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What became of a key: whether one was `found` to forget, and where one still is (`left`)."""

    found: bool
    left: Place


class _Hidden:
    """Holds a key out of sight of whoever prints what it is in."""

    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "<hidden>"


class _NoKeyring(Exception):
    """There is no keyring to use: `str(error)` is a sentence. `absent`: nor any that could hold a key."""

    def __init__(self, sentence: str, *, absent: bool = True) -> None:
        super().__init__(sentence)
        self.absent = absent


class KeyStore:
    """Finds, keeps and forgets keys; safe to use from several threads, none of them an event loop's.

    What the environment says wins, since whoever starts the app with a variable means it for that run; then what was
    given to this process; then the keyring. Within a place the first of the names that has a key wins.

    `open_keyring` gives the keyring to use, or raises; all calls of it and into it come from one thread of the store's
    own. `deadline`: seconds after which it counts as not answering.
    """

    def __init__(
        self,
        *,
        environment: Mapping[str, str] | None = None,
        open_keyring: Callable[[], Any] | None = None,
        deadline: float = KEYRING_SECONDS,
    ) -> None:
        self._said = threading.local()
        self._environment = os.environ if environment is None else environment
        self._memory: dict[str, _Hidden] = {}
        self._keyring = _Worker(open_keyring or system_keyring, deadline)

    def __repr__(self) -> str:
        return f"KeyStore({', '.join(sorted(self._memory)) or 'nothing'} in memory)"

    @property
    def trouble(self) -> str:
        """What hindered this thread's last call, as a sentence; empty when nothing did."""
        return getattr(self._said, "trouble", "")

    def find(self, names: Sequence[str]) -> tuple[str, Place]:
        """The key that has one of `names`, and where it is; empty and `none` when there is none. Never raises."""
        key, place = self._find(names)
        if key:
            redact(key)  # whoever notes something down leaves it out
        return key, place

    def _find(self, names: Sequence[str]) -> tuple[str, Place]:
        self._said.trouble = trouble = ""
        for name in names:
            if value := self._environment.get(name, ""):
                try:
                    return clean_key(value), "environment"
                except KeyRefused:
                    if value.strip():
                        trouble = f"What the environment variable {name} holds can't be a key, so it is not used."
        for name in names:
            if hidden := self._memory.get(name):
                return hidden.value, "memory"

        def look(keyring: Any) -> _Hidden:
            for name in names:
                if value := keyring.get_password(SERVICE, name):
                    return _Hidden(value)
            return _Hidden("")

        if names:
            try:
                if value := self._keyring.ask(look).value:
                    return clean_key(value), "keyring"
            except KeyRefused:
                trouble = "What the keyring holds can't be a key, so it is not used. Give the key anew."
            except _NoKeyring as error:
                trouble = trouble or ("" if error.absent else str(error))
        self._said.trouble = trouble
        return "", "none"

    def keep(self, name: str, key: str) -> Place:
        """Keeps a key in the keyring or, where that can't be, in memory; `trouble` then says why.

        What a paste brings along (blanks, line ends, quotes) is taken off. Raises KeyRefused.
        """
        self._said.trouble = ""
        hidden = _Hidden(clean_key(key))
        redact(hidden.value)
        if not name:
            raise KeyRefused("There is no name to keep this key under.")

        def put(keyring: Any) -> None:
            if type(keyring).__module__ == "keyring.backends.Windows" and len(hidden.value) > LOCKER_CHARACTERS:
                raise _NoKeyring(f"Windows keeps keys of at most {LOCKER_CHARACTERS:,} characters, and this is longer.")
            keyring.set_password(SERVICE, name, hidden.value)
            if keyring.get_password(SERVICE, name) != hidden.value:
                raise _NoKeyring("The system's keyring did not keep the key.")

        try:
            # It is done even when it comes too late for the answer, as behind a password that is being typed.
            self._keyring.ask(put, late_too=True)
        except _NoKeyring as error:
            self._said.trouble = str(error)
            self._memory[name] = hidden
            return "memory"
        self._memory.pop(name, None)
        return "keyring"

    def forget(self, names: Sequence[str]) -> Forgotten:
        """Forgets the keys of all `names`, in memory and in the keyring. Never raises.

        `left` is `environment` when a variable still holds one, which is not the app's to take away, and `keyring`
        when that could not be asked: `trouble` says why.
        """
        self._said.trouble = ""
        in_memory = [name for name in names if self._memory.pop(name, None)]

        def drop(keyring: Any) -> bool:
            there = [name for name in names if keyring.get_password(SERVICE, name)]
            for name in there:
                keyring.delete_password(SERVICE, name)
            return bool(there)

        left: Place = "none"
        in_keyring = False
        try:
            # It is done even when it comes too late for the answer: what lies before it may have kept a key.
            in_keyring = bool(names) and self._keyring.ask(drop, late_too=True)
        except _NoKeyring as error:
            if not error.absent:
                self._said.trouble, left = str(error), "keyring"
        if any(self._environment.get(name, "").strip() for name in names):
            left = "environment"
        return Forgotten(bool(in_memory) or in_keyring, left)

    def api_key(self, names: str | Sequence[str]) -> str:
        """The key alone, by one name or several, best first; empty when there is none."""
        return self.find((names,) if isinstance(names, str) and names else names or ())[0]


def clean_key(text: str) -> str:
    """A key without what a paste brings along. Raises KeyRefused when what is left can't be one.

    What is no plain ASCII can't stand in an HTTP header, and the error about that would quote it.
    """
    key = text.strip().strip(_QUOTES).strip().removeprefix("\ufeff")
    if not key:
        raise KeyRefused("This key is empty. Copy it anew, and paste all of it.")
    if not key.isascii():
        raise KeyRefused(
            "This key holds letters that no key has, as when it was copied out of a formatted text. Copy it anew from "
            "the provider's page."
        )
    if any(not "!" <= letter <= "~" for letter in key):
        raise KeyRefused(
            "This key holds blanks, line ends or control characters, which no key has. Copy it anew; in a console, "
            "paste with a right click."
        )
    return key


def system_keyring() -> Any:
    """The operating system's own keyring. Raises `_NoKeyring`: one that writes files in clear is as good as none."""
    import keyring
    from keyring.backends import chainer, fail, null

    chosen = keyring.get_keyring()
    for one in chosen.backends if isinstance(chosen, chainer.ChainerBackend) else [chosen]:
        if type(one).__module__ in _SYSTEM_KEYRINGS:
            return one
        chosen = one
    if isinstance(chosen, fail.Keyring | null.Keyring | chainer.ChainerBackend):
        raise _NoKeyring("This machine has no keyring that is running.")
    kind = f"{type(chosen).__module__}.{type(chosen).__name__}"
    raise _NoKeyring(f"The keyring that is set up here ({kind}) is not the operating system's own, so it is not used.")


class _Worker:
    """One thread that talks with the keyring, in order; whoever asks waits for a time and no longer.

    While a call hangs, others are not made to wait: the keyring counts as busy until that call has returned.
    """

    def __init__(self, open_keyring: Callable[[], Any], deadline: float) -> None:
        self._open = open_keyring
        self._deadline = deadline
        self._jobs: queue.SimpleQueue[tuple[Callable[[Any], Any], Future[Any]]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._late: Future[Any] | None = None

    def ask(self, job: Callable[[Any], _T], *, late_too: bool = False) -> _T:
        """What `job` gives for the keyring. `late_too`: it is also done when nobody waits any longer.

        Raises `_NoKeyring` for whatever goes wrong; it has no other error behind it, for that might quote a key.
        """
        done: Future[_T] = Future()
        with self._lock:
            busy = self._late is not None and not self._late.done()
            if late_too or not busy:
                if self._thread is None:
                    # A daemon: it may hang, and the app must still be able to end.
                    self._thread = threading.Thread(target=self._run, name="keyring", daemon=True)
                    self._thread.start()
                self._jobs.put((job, done))
        trouble: BaseException | None = None
        try:
            if not busy:
                trouble = done.exception(self._deadline)
        except TimeoutError:
            busy = True
            with self._lock:
                if late_too or not done.cancel():
                    self._late = done
        if busy:
            trouble = _NoKeyring(
                "The system's keyring does not answer; it may be locked and wait for its password. Unlock it, and try "
                "again.",
                absent=False,
            )
        if trouble is not None:
            raise _as_sentence(trouble)
        return done.result()

    def _run(self) -> None:
        while True:
            job, done = self._jobs.get()
            if not done.set_running_or_notify_cancel():
                continue
            try:
                done.set_result(job(self._open()))
            except BaseException as error:
                # Without its frames: they hold keys, and would hold them for as long as somebody keeps the error.
                done.set_exception(_as_sentence(error))
            del job, done


def _as_sentence(error: BaseException) -> _NoKeyring:
    """An error of a keyring in our words. Its own are left out: they are not ours to vouch for."""
    if isinstance(error, _NoKeyring):
        return _NoKeyring(str(error), absent=error.absent)
    kind = type(error).__name__
    if kind in ("KeyringLocked", "LockedException", "PromptDismissedException"):
        sentence = "The system's keyring is locked. Unlock it, and try again."
        return _NoKeyring(sentence, absent=False)
    if kind in ("NoKeyringError", "ImportError", "ModuleNotFoundError", "SecretServiceNotAvailableException"):
        return _NoKeyring("This machine has no keyring that is running.")
    return _NoKeyring(f"The system's keyring failed ({kind}).", absent=False)


_store = KeyStore()


def key_store() -> KeyStore:
    """The store of this process: what is kept in memory is kept there."""
    return _store


def api_key(names: str | Sequence[str]) -> str:
    """The key by one name ("OPENAI_API_KEY") or several, best first; empty when there is none."""
    return _store.api_key(names)
