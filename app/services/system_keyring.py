"""Calls the operating system's keyring on a thread of its own, with a deadline."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

_SYSTEM_KEYRINGS = (
    "keyring.backends.Windows",
    "keyring.backends.SecretService",
    "keyring.backends.libsecret",
    "keyring.backends.kwallet",
    "keyring.backends.macOS",
)
_T = TypeVar("_T")


class KeyringError(Exception):
    """The keyring can't be used: `str(error)` is a sentence. `absent`: there is no keyring that could hold a key."""

    def __init__(self, sentence: str, *, absent: bool = True) -> None:
        super().__init__(sentence)
        self.absent = absent


def system_keyring() -> Any:
    """Returns the operating system's own keyring. Raises KeyringError: any other may write keys in clear to a file."""
    import keyring
    from keyring.backends import chainer, fail, null

    chosen = keyring.get_keyring()
    for one in chosen.backends if isinstance(chosen, chainer.ChainerBackend) else [chosen]:
        if type(one).__module__ in _SYSTEM_KEYRINGS:
            return one
        chosen = one
    if isinstance(chosen, fail.Keyring | null.Keyring | chainer.ChainerBackend):
        raise KeyringError("This machine has no keyring that is running.")
    kind = f"{type(chosen).__module__}.{type(chosen).__name__}"
    raise KeyringError(
        f"The keyring that is set up here ({kind}) is not the operating system's own, so it is not used."
    )


class KeyringThread:
    """Runs jobs with the keyring one after another on one thread; callers wait until the deadline and no longer.

    While a job hangs, others fail at once: the keyring counts as busy until that job has ended.
    """

    def __init__(self, open_keyring: Callable[[], Any], deadline: float) -> None:
        self._open = open_keyring
        self._deadline = deadline
        self._jobs: queue.SimpleQueue[tuple[Callable[[Any], Any], Future[Any]]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._late: Future[Any] | None = None

    def run(self, job: Callable[[Any], _T], *, late_too: bool = False) -> _T:
        """Returns what `job` returns for the keyring. `late_too`: it is done even after the deadline.

        Raises KeyringError for any failure; without a cause or context, for that might quote a key.
        """
        done: Future[_T] = Future()
        with self._lock:
            busy = self._late is not None and not self._late.done()
            if late_too or not busy:
                if self._thread is None:
                    # A daemon: it may hang, and the app must still be able to end.
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
                # Without its frames: they hold keys for as long as somebody keeps the error.
                done.set_exception(_as_keyring_error(error))
            del job, done


def _as_keyring_error(error: BaseException) -> KeyringError:
    """Returns a new error with a sentence of the app's own: a keyring's message may hold anything."""
    if isinstance(error, KeyringError):
        return KeyringError(str(error), absent=error.absent)
    kind = type(error).__name__
    if kind in ("KeyringLocked", "LockedException", "PromptDismissedException"):
        return KeyringError("The system's keyring is locked. Unlock it, and try again.", absent=False)
    if kind in ("NoKeyringError", "ImportError", "ModuleNotFoundError", "SecretServiceNotAvailableException"):
        return KeyringError("This machine has no keyring that is running.")
    return KeyringError(f"The system's keyring failed ({kind}).", absent=False)
