"""Storage of API keys in the environment, in this process's memory and in the system keyring.

Keys are passed directly to the adapter that needs them and never appear in a file, log line or error message. Calls may
block for several seconds, so they must not be made on an event loop's thread. The keyring is accessed on a dedicated
thread, with a deadline.
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

_SYSTEM_KEYRINGS = (
    "keyring.backends.Windows",
    "keyring.backends.SecretService",
    "keyring.backends.libsecret",
    "keyring.backends.kwallet",
    "keyring.backends.macOS",
)
_T = TypeVar("_T")


class KeyringError(Exception):
    """Raised if the keyring can't be used. `str(error)` is a user-facing message.

    `absent`: whether the failure means that the keyring holds no key, for example because there is no keyring.
    """

    def __init__(self, sentence: str, *, absent: bool = True) -> None:
        super().__init__(sentence)
        self.absent = absent


def system_keyring() -> Any:
    """Returns the operating system's own keyring.

    Raises KeyringError if only other keyrings are available, since they may store keys unencrypted.
    """
    import keyring
    from keyring.backends import chainer, fail, null

    chosen = keyring.get_keyring()
    for one in chosen.backends if isinstance(chosen, chainer.ChainerBackend) else [chosen]:
        if type(one).__module__ in _SYSTEM_KEYRINGS:
            return one
        chosen = one
    if isinstance(chosen, fail.Keyring | null.Keyring | chainer.ChainerBackend):
        raise KeyringError("No keyring is running on this machine.")
    kind = f"{type(chosen).__module__}.{type(chosen).__name__}"
    raise KeyringError(
        f"The keyring that is set up here ({kind}) is not the operating system's own, so it is not used."
    )


class KeyringThread:
    """A thread that runs keyring jobs one after another. Callers never wait longer than `deadline` seconds.

    While a job hangs, the keyring counts as busy and further calls fail immediately.
    """

    def __init__(self, open_keyring: Callable[[], Any], deadline: float) -> None:
        self._open = open_keyring
        self._deadline = deadline
        self._jobs: queue.SimpleQueue[tuple[Callable[[Any], Any], Future[Any]]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._late: Future[Any] | None = None

    def run(self, job: Callable[[Any], _T], *, late_too: bool = False) -> _T:
        """Calls `job` with the keyring and returns the result. `late_too`: lets the job run after the deadline.

        Raises KeyringError on any failure, without a cause or context, since those might quote a key.
        """
        done: Future[_T] = Future()
        with self._lock:
            busy = self._late is not None and not self._late.done()
            if late_too or not busy:
                if self._thread is None:
                    # A daemon, so that the app can exit even if the keyring hangs.
                    self._thread = threading.Thread(target=self._serve, name="keyring", daemon=True)
                    self._thread.start()
                self._jobs.put((job, done))
        failure: BaseException | None = None
        try:
            if not busy:
                failure = done.exception(self._deadline)
        except TimeoutError:
            busy = True
            with self._lock:
                if late_too or not done.cancel():
                    self._late = done
        if busy:
            failure = KeyringError(
                "The system's keyring does not answer; it may be locked and wait for its password. Unlock it, and try "
                "again.",
                absent=False,
            )
        if failure is not None:
            raise _as_keyring_error(failure)
        return done.result()

    def _serve(self) -> None:
        while True:
            job, done = self._jobs.get()
            if not done.set_running_or_notify_cancel():
                continue
            try:
                done.set_result(job(self._open()))
            except BaseException as error:
                # Drop the traceback, whose frames would keep keys alive for as long as the error exists.
                done.set_exception(_as_keyring_error(error))
            del job, done


def _as_keyring_error(error: BaseException) -> KeyringError:
    """Converts an exception to a KeyringError with a safe message, since a keyring's own message may quote a key."""
    if isinstance(error, KeyringError):
        return KeyringError(str(error), absent=error.absent)
    kind = type(error).__name__
    if kind in ("KeyringLocked", "LockedException", "PromptDismissedException"):
        return KeyringError("The system's keyring is locked. Unlock it, and try again.", absent=False)
    if kind in ("NoKeyringError", "ImportError", "ModuleNotFoundError", "SecretServiceNotAvailableException"):
        return KeyringError("No keyring is running on this machine.")
    return KeyringError(f"The system's keyring failed ({kind}).", absent=False)


SERVICE = "kame-desktop"
KEYRING_SECONDS = 5.0
"""How long to wait for a keyring that hangs or prompts the user for a password."""

LOCKER_CHARACTERS = 1280
"""The maximum length of a key in the Windows Credential Locker: 2,560 bytes of UTF-16."""

KeyPlace = Literal["none", "environment", "keyring", "memory"]
"""Where a key is stored: nowhere, in an environment variable, in the system keyring, or in memory until the app exits.
"""

_QUOTES = "\"'`“”‘’«»"


class KeyRefused(ValueError):
    """Raised for text that can't be an API key. `str(error)` is a user-facing message that doesn't quote the text."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The result of deleting a key. `found`: whether there was one; `left`: where a key still remains."""

    found: bool
    left: KeyPlace


class _Hidden:
    """A wrapper that keeps a key out of `repr` output."""

    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "<hidden>"


class KeyStore:
    """A thread-safe store for API keys.

    The environment takes precedence, since a variable can be set deliberately for a single run. Next are keys held in
    memory, then the keyring. In each place, the first name that has a key wins.

    - `environment`: the environment variables, `os.environ` by default.
    - `open_keyring`: returns the keyring to use, or raises. It is called, and the keyring used, on a single thread.
    - `deadline`: seconds after which the keyring counts as unresponsive.
    """

    def __init__(
        self,
        *,
        environment: Mapping[str, str] | None = None,
        open_keyring: Callable[[], Any] | None = None,
        deadline: float = KEYRING_SECONDS,
    ) -> None:
        self._local = threading.local()
        self._environment = os.environ if environment is None else environment
        self._memory: dict[str, _Hidden] = {}
        self._keyring = KeyringThread(open_keyring or system_keyring, deadline)

    def __repr__(self) -> str:
        return f"KeyStore({', '.join(sorted(self._memory)) or 'nothing'} in memory)"

    @property
    def trouble(self) -> str:
        """A user-facing message about a problem in the calling thread's last call, or empty."""
        return getattr(self._local, "trouble", "")

    def find(self, names: Sequence[str], *, keyring: bool = True) -> tuple[str, KeyPlace]:
        """Returns the key stored under one of `names` and its place, or "" and `none` if not found. Never raises.

        `keyring`: whether to look into the keyring, too, which may ask the user for a password.
        """
        key, place = self._find(names, keyring)
        if key:
            redact(key)
        return key, place

    def _find(self, names: Sequence[str], use_keyring: bool) -> tuple[str, KeyPlace]:
        self._local.trouble = trouble = ""
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

        def read(keyring: Any) -> _Hidden:
            for name in names:
                if value := keyring.get_password(SERVICE, name):
                    return _Hidden(value)
            return _Hidden("")

        if names and use_keyring:
            try:
                if value := self._keyring.run(read).value:
                    return clean_key(value), "keyring"
            except KeyRefused:
                trouble = "What the keyring holds can't be a key, so it is not used. Enter the key again."
            except KeyringError as error:
                trouble = trouble or ("" if error.absent else str(error))
        self._local.trouble = trouble
        return "", "none"

    def keep(self, name: str, key: str) -> KeyPlace:
        """Stores a key in the keyring or, if that fails, in memory; `trouble` then gives the reason.

        Whitespace and quotes around a pasted key are stripped. Raises KeyRefused.
        """
        self._local.trouble = ""
        hidden = _Hidden(clean_key(key))
        redact(hidden.value)
        if not name:
            raise KeyRefused("There is no name to keep this key under.")

        def write(keyring: Any) -> None:
            if type(keyring).__module__ == "keyring.backends.Windows" and len(hidden.value) > LOCKER_CHARACTERS:
                raise KeyringError(
                    f"Windows keeps keys of at most {LOCKER_CHARACTERS:,} characters, and this is longer."
                )
            keyring.set_password(SERVICE, name, hidden.value)
            if keyring.get_password(SERVICE, name) != hidden.value:
                raise KeyringError("The system's keyring did not keep the key.")

        try:
            # Runs even after the deadline: the user may still be typing a password.
            self._keyring.run(write, late_too=True)
        except KeyringError as error:
            self._local.trouble = str(error)
            self._memory[name] = hidden
            return "memory"
        self._memory.pop(name, None)
        return "keyring"

    def forget(self, names: Sequence[str]) -> Forgotten:
        """Deletes the keys under all `names` from memory and from the keyring. Never raises.

        `left` is `environment` if a variable, which the app can't unset, still holds a key, and `keyring` if the
        keyring failed; `trouble` then gives the reason.
        """
        self._local.trouble = ""
        in_memory = [name for name in names if self._memory.pop(name, None)]

        def delete(keyring: Any) -> bool:
            there = [name for name in names if keyring.get_password(SERVICE, name)]
            for name in there:
                keyring.delete_password(SERVICE, name)
            return bool(there)

        left: KeyPlace = "none"
        in_keyring = False
        try:
            # Runs even after the deadline: an earlier job in the queue may have stored a key.
            in_keyring = bool(names) and self._keyring.run(delete, late_too=True)
        except KeyringError as error:
            if not error.absent:
                self._local.trouble, left = str(error), "keyring"
        if any(self._environment.get(name, "").strip() for name in names):
            left = "environment"
        return Forgotten(bool(in_memory) or in_keyring, left)

    def api_key(self, names: str | Sequence[str]) -> str:
        """Returns the key stored under the first of `names` that has one, or an empty string."""
        return self.find((names,) if isinstance(names, str) and names else names or ())[0]

    def key_at_hand(self, names: Sequence[str]) -> str:
        """Returns the same without the keyring."""
        return self.find(names, keyring=False)[0]


def clean_key(text: str) -> str:
    """Strips whitespace and quotes around a key. Raises KeyRefused if the rest can't be a key.

    Only printable ASCII is accepted, since HTTP clients reject anything else in a header with an error that quotes it.
    """
    key = text.strip().strip(_QUOTES).strip().removeprefix("\ufeff")
    if not key:
        raise KeyRefused("This key is empty. Copy it again, and paste all of it.")
    if not key.isascii():
        raise KeyRefused(
            "This key holds letters that no key has, as when it was copied out of a formatted text. Copy it again from "
            "the provider's page."
        )
    if any(not "!" <= letter <= "~" for letter in key):
        raise KeyRefused(
            "This key holds blanks, line ends or control characters, which no key has. Copy it again; in a console, "
            "paste with a right click."
        )
    return key


_store = KeyStore()


def key_store() -> KeyStore:
    """Returns the process-wide key store."""
    return _store


def api_key(names: str | Sequence[str]) -> str:
    """Returns the key stored under the first of `names` (such as "OPENAI_API_KEY") that has one, or an empty string."""
    return _store.api_key(names)


def key_at_hand(names: Sequence[str]) -> str:
    """Returns the same without the keyring, which may ask for a password: from the environment or from memory."""
    return _store.key_at_hand(names)
