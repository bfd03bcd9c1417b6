"""Starts and ends the app's child processes on Linux and Windows, and restarts those that die.

Their environment is an allow-list, so that no key or password goes along.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeVar

from app.untrusted.files import read_line
from app.untrusted.limits import CHILD_LINE

LONGEST_PAUSE = 60.0
"""The longest pause between two starts of a child that keeps dying."""
_EXIT_SECONDS = 1.0
"""How long a child whose pipe has closed may take to be gone, so that its exit code is known."""
_BROKEN = (OSError, ValueError, LookupError, TypeError)
"""What reading the answer of a child raises that has died, or that writes nonsense."""

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

NAMES = frozenset(
    # The user, the system's folders, the language and the time
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TZDIR TMPDIR TEMP TMP USERNAME USERDOMAIN USERPROFILE HOMEDRIVE "
    "HOMEPATH APPDATA LOCALAPPDATA ALLUSERSPROFILE PROGRAMDATA PUBLIC SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT OS "
    "COMPUTERNAME NUMBER_OF_PROCESSORS PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES "
    "COMMONPROGRAMFILES(X86) COMMONPROGRAMW6432 "
    # Libraries and interpreters
    "VIRTUAL_ENV CONDA_PREFIX LOCALE_ARCHIVE GUIX_LOCPATH ESPEAK_DATA_PATH SSL_CERT_FILE SSL_CERT_DIR "
    "REQUESTS_CA_BUNDLE NO_TORCH_COMPILE DO_NOT_TRACK HF_HUB_DISABLE_TELEMETRY "
    # The desktop, with its sound
    "DISPLAY WAYLAND_DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS DESKTOP_SESSION".split()
)
PREFIXES = tuple(
    "LC_ XDG_ LD_ NIX_LD PYTHON COVERAGE_ COV_ KAME_DESKTOP_ PROCESSOR_ WIN_PD_OVERRIDE_ WINE "
    "OMP_ KMP_ GOMP_ OPENBLAS_ MKL_ GGML_ CT2_ ORT_ CUDA_ NVIDIA_ HIP_ HSA_ ROCR_ TORCH_ "
    "ALSA_ PULSE_ PIPEWIRE_ SPA_ PA_ JACK_ QT_".split()
)
NETWORK_NAMES = frozenset("HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY CURL_CA_BUNDLE NETRC UV_KEYRING_PROVIDER".split())
"""With the prefixes, only for tools that fetch packages: an address of a proxy or a registry may hold a password."""
NETWORK_PREFIXES = ("UV_", "PIP_")
_OF_THE_REGISTRY = ("UV_INDEX_", "PIP_")
"""These pass even where their name speaks of a password: it is for the registry that is fetched from."""
_SECRET = re.compile("KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH")


def child_environment(*, network: bool = False, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Returns the variables of this process, or of `environment`, that a child may have.

    `network`: also what a tool needs that fetches packages: proxies, and the settings of its registry.
    """
    found = os.environ if environment is None else environment
    return {name: value for name, value in found.items() if _passes(name.upper(), network)}


def _passes(name: str, network: bool) -> bool:
    if name in NAMES or (network and name in NETWORK_NAMES):
        return True
    if _SECRET.search(name) and not (network and name.startswith(_OF_THE_REGISTRY)):
        return False
    return name.startswith((*PREFIXES, *NETWORK_PREFIXES) if network else PREFIXES)


def python_module_command(module: str, *arguments: str) -> list[str]:
    """Returns the command that runs one of the app's modules in a new interpreter like this one."""
    # -P: a folder in the working directory that is named like a module is not taken for it.
    return [sys.executable, "-P", "-m", module, *arguments]


def quiet_child(*, network: bool = False) -> dict[str, Any]:
    """Returns arguments for `Popen`: no console window, no terminal's Ctrl-C, the app importable from anywhere.

    The child gets no keys or passwords. `network`: it fetches packages.
    """
    environment = child_environment(network=network)
    root = str(Path(__file__).resolve().parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, environment.get("PYTHONPATH")]))
    environment["PYTHONIOENCODING"] = "utf-8"
    options: dict[str, Any] = {"env": environment}
    if sys.platform == "win32":
        # Below normal, as `os.nice` in the children does elsewhere: the frame loop must never be late.
        options["creationflags"] = (
            subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.BELOW_NORMAL_PRIORITY_CLASS
        )
    else:
        # The parent handles a Ctrl-C on the terminal, and ends its children itself.
        options["start_new_session"] = True
    return options


def start_lasting(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """Starts a quiet child that goes on when this process and its terminal have ended.

    It is given the whole environment, since it starts the app again, which may find its keys there.
    """
    how = quiet_child()
    how = {**how, "env": {**os.environ, **how["env"]}, **options}
    if sys.platform == "win32":
        # Its children inherit its priority, and end with the job that the terminal's command is part of.
        how["creationflags"] ^= subprocess.BELOW_NORMAL_PRIORITY_CLASS | subprocess.NORMAL_PRIORITY_CLASS
        leaving = how["creationflags"] | subprocess.CREATE_BREAKAWAY_FROM_JOB
        with contextlib.suppress(PermissionError):  # the job does not let its processes leave
            return subprocess.Popen(command, **{**how, "creationflags": leaving})
    return subprocess.Popen(command, **how)


@contextlib.contextmanager
def killed_after(child: subprocess.Popen[bytes], seconds: float = 30.0) -> Iterator[None]:
    """Kills `child` if the block takes longer, so that a reader in the block comes to the end of its output."""
    timer = threading.Timer(seconds, child.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def end_child(child: subprocess.Popen[bytes], seconds: float = 1.0) -> None:
    """Ends a child that has nothing to save by closing its input; kills it if that takes longer."""
    if child.stdin is not None:
        with contextlib.suppress(OSError):
            child.stdin.close()
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    # Not before the child has ended: another thread may read from the pipe until then.
    if child.stdout is not None:
        child.stdout.close()


def answers_of_child(niceness: int) -> BinaryIO:
    """Prepares this process, a child, to answer its parent; returns the stream for its answers.

    What libraries print goes to standard error from now on. `niceness`: by how much it gives way to the frame loop.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.suppress(OSError, AttributeError):
        os.nice(niceness)
    return answers


def send_line(answers: BinaryIO, value: Any) -> None:
    """Writes a line of JSON to the parent."""
    answers.write(json.dumps(value).encode() + b"\n")
    answers.flush()


class ChildError(Exception):
    """A child process can't do its work. `str(error)` is a clause with the cause, such as "its process crashed"."""


class ChildWorker:
    """A child process that runs one of the app's modules, prints a line when it is ready, and answers over its pipes.

    A child that has died is restarted by the next request: immediately the first two times, and after longer and longer
    pauses while it keeps dying. Not safe between threads, except for `alive` and `close`.
    """

    def __init__(self, module: str, *arguments: str, start_seconds: float = 30.0) -> None:
        self._module, self._arguments = module, arguments
        self._start_seconds = start_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._pause = self._not_before = 0.0

    @property
    def pid(self) -> int:
        """Its process id; 0 before it is started."""
        return self._process.pid if self._process is not None else 0

    def alive(self) -> bool:
        """Returns whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> bytes:
        """Starts the process, in place of one that has died, and returns its first line. Raises ChildError."""
        if self._closed:
            raise ChildError("its process was ended")
        if time.monotonic() < self._not_before:
            raise ChildError("it keeps stopping, so the app waits before it starts it again")
        if self._process is None:
            return self._start()
        try:
            return self._start()
        finally:
            self._not_before = time.monotonic() + self._pause
            self._pause = min(2 * self._pause + 1, LONGEST_PAUSE)

    def ask(self, exchange: Callable[[IO[bytes], IO[bytes]], _T]) -> _T:
        """Returns the result of `exchange`, which writes to the child's input and reads from its output.

        A child that fails is restarted and asked once more. Raises ChildError if that fails, too.
        """
        try:
            return self._ask(exchange)
        except _BROKEN:
            _log.warning("A child is started again: %s.", self.ending())
            self.start()
        try:
            return self._ask(exchange)
        except _BROKEN:
            raise ChildError(self.ending()) from None

    def worked(self) -> None:
        """Notes that the child has answered, so that it is restarted immediately when it dies."""
        self._pause = self._not_before = 0.0

    def ending(self) -> str:
        """Returns a clause about why the child does not answer. Waits until a process that has died is gone."""
        if self._process is None:
            return "its process could not be started"
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_EXIT_SECONDS)
        code = self._process.returncode
        if code is None:
            return "its process does not answer"
        if sys.platform != "win32" and code == -signal.SIGKILL:
            return "the system ended its process, most likely because memory ran out"
        return f"its process crashed (signal {-code})" if code < 0 else f"its process ended with exit code {code}"

    def close(self) -> None:
        """Ends the process for good."""
        self._closed = True
        self._end()

    def _start(self) -> bytes:
        self._end()
        command, pipes = python_module_command(self._module, *self._arguments), subprocess.PIPE
        try:
            process = subprocess.Popen(command, stdin=pipes, stdout=pipes, stderr=subprocess.DEVNULL, **quiet_child())
        except OSError as error:
            raise ChildError(f"its process could not be started ({error.strerror})") from None
        self._process = process
        if self._closed:  # by another thread
            self._end()
        began, ready = time.monotonic(), b""
        with contextlib.suppress(*_BROKEN), killed_after(process, self._start_seconds):
            ready = read_line(process.stdout, CHILD_LINE)  # type: ignore[arg-type]
        if not ready:
            late = time.monotonic() - began >= self._start_seconds
            cause = f"its process was not ready within {self._start_seconds:.0f} s" if late else self.ending()
            self._end()
            raise ChildError(cause)
        return ready

    def _ask(self, exchange: Callable[[IO[bytes], IO[bytes]], _T]) -> _T:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise OSError("the process was not started")
        result = exchange(process.stdin, process.stdout)
        self.worked()
        return result

    def _end(self) -> None:
        if self._process is not None:
            end_child(self._process, _EXIT_SECONDS)
