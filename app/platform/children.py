"""Starts and ends the app's child processes on Linux and Windows, and restarts those that die.

Their environment is restricted to an allow-list, so that no keys or passwords are passed on.
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
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from app.platform.supervision import Restarts
from app.untrusted.files import read_json_line, read_line
from app.untrusted.limits import CHILD_LINE

SILENT_SECONDS = 3.0
"""A child that owes an answer hangs, or was stopped, if it neither computes nor reads anything for this long."""
_CHECK_SECONDS = 0.25
"""How often a child that owes an answer is checked."""
_EXIT_SECONDS = 1.0
"""How long (s) to wait for a child to exit after its pipe has closed, so that its exit code is available."""
_BROKEN = (OSError, ValueError, LookupError, TypeError)
"""The exceptions raised when a child has died or its response can't be parsed."""

_log = logging.getLogger(__name__)

NAMES = frozenset(
    # The user, system folders, locale and time zone
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TZDIR TMPDIR TEMP TMP USERNAME USERDOMAIN USERPROFILE HOMEDRIVE "
    "HOMEPATH APPDATA LOCALAPPDATA ALLUSERSPROFILE PROGRAMDATA PUBLIC SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT OS "
    "COMPUTERNAME NUMBER_OF_PROCESSORS PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES "
    "COMMONPROGRAMFILES(X86) COMMONPROGRAMW6432 "
    # Libraries and interpreters
    "VIRTUAL_ENV CONDA_PREFIX LOCALE_ARCHIVE GUIX_LOCPATH ESPEAK_DATA_PATH SSL_CERT_FILE SSL_CERT_DIR "
    "REQUESTS_CA_BUNDLE NO_TORCH_COMPILE DO_NOT_TRACK HF_HUB_DISABLE_TELEMETRY "
    # The desktop session
    "DISPLAY WAYLAND_DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS DESKTOP_SESSION".split()
)
PREFIXES = tuple(
    "LC_ XDG_ LD_ NIX_LD PYTHON COVERAGE_ COV_ KAME_DESKTOP_ PROCESSOR_ WIN_PD_OVERRIDE_ WINE "
    "OMP_ KMP_ GOMP_ OPENBLAS_ MKL_ GGML_ CT2_ ORT_ CUDA_ NVIDIA_ HIP_ HSA_ ROCR_ TORCH_ "
    "ALSA_ PULSE_ PIPEWIRE_ SPA_ PA_ JACK_ QT_".split()
)
NETWORK_NAMES = frozenset("HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY CURL_CA_BUNDLE NETRC UV_KEYRING_PROVIDER".split())
"""Like `NETWORK_PREFIXES`, only passed to tools that fetch packages: proxy and registry URLs may contain passwords."""
NETWORK_PREFIXES = ("UV_", "PIP_")
_OF_THE_REGISTRY = ("UV_INDEX_", "PIP_")
"""Prefixes of variables passed to such tools even if the name suggests a password, which the registry may require."""
_SECRET = re.compile("KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH")


def child_environment(*, network: bool = False, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Returns the variables of this process, or of `environment`, that a child may inherit.

    `network`: includes proxy and registry settings, for tools that fetch packages.
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
    """Returns the command that runs one of the app's modules in a new process of this interpreter."""
    # -P: keeps a folder in the working directory from shadowing a module of the same name.
    return [sys.executable, "-P", "-m", module, *arguments]


def quiet_child(*, network: bool = False) -> dict[str, Any]:
    """Returns arguments for `Popen`: no console window, no Ctrl-C from the terminal, the app importable from anywhere.

    The child's environment contains no keys or passwords. `network`: adds the settings needed to fetch packages, which
    may contain some.
    """
    environment = child_environment(network=network)
    root = str(Path(__file__).resolve().parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, environment.get("PYTHONPATH")]))
    environment["PYTHONIOENCODING"] = "utf-8"
    options: dict[str, Any] = {"env": environment}
    if sys.platform == "win32":
        # Lowers the priority, as the children do with `os.nice` on other systems: the frame loop must never be late.
        options["creationflags"] = (
            subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.BELOW_NORMAL_PRIORITY_CLASS
        )
    else:
        # The parent handles Ctrl-C and ends its children itself.
        options["start_new_session"] = True
    return options


def start_lasting(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """Starts a quiet child that outlives this process and its terminal.

    The child inherits the full environment, since it restarts the app, which may read its keys from there.
    """
    how = quiet_child()
    how = {**how, "env": {**os.environ, **how["env"]}, **options}
    if sys.platform == "win32":
        # The app that it starts would inherit the lower priority, and be ended with the job of the terminal's command.
        how["creationflags"] ^= subprocess.BELOW_NORMAL_PRIORITY_CLASS | subprocess.NORMAL_PRIORITY_CLASS
        leaving = how["creationflags"] | subprocess.CREATE_BREAKAWAY_FROM_JOB
        with contextlib.suppress(PermissionError):  # the job doesn't allow breakaway
            return subprocess.Popen(command, **{**how, "creationflags": leaving})
    return subprocess.Popen(command, **how)


@contextlib.contextmanager
def killed_after(child: subprocess.Popen[bytes], seconds: float = 30.0) -> Iterator[None]:
    """Kills `child` if the block takes longer than `seconds`, so that a blocking read in the block reaches EOF."""
    timer = threading.Timer(seconds, child.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def progress_of(child: subprocess.Popen[bytes]) -> object:
    """Returns a value that changes while the child computes or reads from a disk, or None if that is unknown."""
    if sys.platform == "win32":
        import ctypes

        cycles = ctypes.c_ulonglong()
        known = ctypes.windll.kernel32.QueryProcessCycleTime(int(child._handle), ctypes.byref(cycles))  # type: ignore[attr-defined]
        return cycles.value if known else None
    try:
        fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    # Page faults and CPU time. A process in state D waits for a disk, which ends by itself.
    return None if fields[0] == "D" else (*fields[7:11:2], *fields[11:13])


class Watched:
    """Kills `child` if it takes longer than `seconds` for the block, or is silent for `SILENT_SECONDS` in it.

    A blocking read in the block then reaches EOF. Time is counted in checks, so that a pause of this process, or of
    the machine, isn't held against the child.
    """

    def __init__(self, child: subprocess.Popen[bytes], seconds: float) -> None:
        self.killed = False
        """Whether the child was killed."""
        self._child = child
        self._checks = max(1, round(seconds / _CHECK_SECONDS))
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watch a child", daemon=True)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        silent, before = 0, progress_of(self._child)
        for _ in range(self._checks):
            if self._over.wait(_CHECK_SECONDS):
                return
            now = progress_of(self._child)
            silent = silent + 1 if now is not None and now == before else 0
            before = now
            if silent * _CHECK_SECONDS >= SILENT_SECONDS:
                break
        self.killed = True
        self._child.kill()


def end_child(child: subprocess.Popen[bytes], seconds: float = 1.0) -> None:
    """Closes the child's input so that it exits, and kills it if it is still running after `seconds`.

    Only for children that have nothing to save."""
    if child.stdin is not None:
        with contextlib.suppress(OSError):
            child.stdin.close()
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    # Only after the child has exited: until then, another thread may be reading from the pipe.
    if child.stdout is not None:
        child.stdout.close()


def answers_of_child(niceness: int) -> BinaryIO:
    """Prepares this child process to respond to its parent; returns the stream for its responses.

    Standard output is redirected to standard error, so that text printed by libraries can't corrupt the responses.
    `niceness`: how far the priority is lowered, in favor of the frame loop.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.suppress(OSError, AttributeError):
        os.nice(niceness)
    return answers


def end_with_parent() -> None:
    """Ends this child process as soon as its parent closes its standard input or ends, even in the middle of a call."""

    def wait() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        os._exit(0)

    threading.Thread(target=wait, name="lifeline", daemon=True).start()


def send_line(answers: BinaryIO, value: Any) -> None:
    """Sends `value` to the parent as a line of JSON."""
    answers.write(json.dumps(value).encode() + b"\n")
    answers.flush()


def ending_of(child: subprocess.Popen[bytes], *, hung: bool) -> str:
    """Returns a clause that says why a child doesn't respond. Waits briefly for its exit code, unless it was killed
    because it `hung`."""
    if hung:
        return "its process did not answer in time"
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(_EXIT_SECONDS)
    code = child.returncode
    if code is None:
        return "its process does not answer"
    if sys.platform != "win32" and code == -signal.SIGKILL:
        return "the system ended its process, most likely because memory ran out"
    return f"its process crashed (signal {-code})" if code < 0 else f"its process ended with exit code {code}"


STOP = b'{"stop": true}\n'
"""Tells a child that answers in parts that no more of them are wanted."""


class ChildError(Exception):
    """Raised if a child process fails. `str(error)` is a clause with the cause, such as "its process crashed"."""


class ChildWorker:
    """A child process that runs one of the app's modules, prints a line when ready, and responds through its pipes.

    If the child has died, the next request restarts it, as `Restarts` allows. Not thread-safe, except for `alive`,
    `kill` and `close`.
    """

    def __init__(self, module: str, *arguments: str, start_seconds: float = 60.0) -> None:
        self._module, self._arguments = module, arguments
        self._start_seconds = start_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._hung = False
        self._closed = threading.Event()
        self._restarts = Restarts()
        self._notice = ""

    @property
    def pid(self) -> int:
        """The process ID; 0 before the process is started."""
        return self._process.pid if self._process is not None else 0

    def alive(self) -> bool:
        """Returns whether the process is running."""
        return self._process is not None and self._process.poll() is None

    def progress(self) -> object:
        """Returns a value that changes while the process computes or reads from a disk, or None if that is unknown."""
        return progress_of(self._process) if self._process is not None else None

    def start(self, patience: float = 0.0) -> bytes:
        """Starts or restarts the process and returns its first line. A start that fails is repeated once, as
        `Restarts` allows.

        `patience`: how many seconds to wait if it may not be restarted at once. Raises ChildError.
        """
        if wait := self._restarts.attempt():
            if wait > patience:
                raise ChildError("it keeps stopping, so the app waits before it starts it again")
            self._closed.wait(wait)
            self._restarts.attempt()
        if self._closed.is_set():
            raise ChildError("its process was ended")
        try:
            return self._start()
        except ChildError as error:
            if self._closed.is_set() or self._restarts.attempt():
                raise
            _log.warning("A child is started once more: %s.", error)  # happened once under Wine in 60 starts
        return self._start()

    def ask(
        self, request: bytes, seconds: float, patience: float = 0.0, on_part: Callable[[Any, bytes], bool] | None = None
    ) -> tuple[Any, bytes]:
        """Sends `request` and returns the child's answer: a line of JSON, and as much data as its `bytes` announces.

        If that fails or takes longer than `seconds`, restarts the child and retries once, unless part of the answer has
        been delivered. A child that hangs, or that was stopped by a signal, is killed after `SILENT_SECONDS`.

        - `patience`: that of `start`.
        - `on_part`: gets each part of an answer that another one follows (`"more": true`), and returns whether it is
          still wanted. If not, the child is told to stop, once.

        Raises ChildError if the retry fails, too.
        """
        parts = 0

        def take(head: Any, data: bytes) -> bool:
            nonlocal parts
            parts += 1
            return on_part is None or on_part(head, data)

        try:
            return self._ask(request, seconds, take)
        except _BROKEN:
            cause = self.ending()
            if parts:
                self.kill()
                raise ChildError(cause) from None
            _log.warning("A child is started again: %s.", cause)
            self.start(patience)
        self._notice = cause
        try:
            return self._ask(request, 2 * seconds, take)  # the first request to a new process is slower
        except _BROKEN:
            cause = self.ending()
            self.kill()  # it may be alive but out of step
            self._notice = ""
            raise ChildError(cause) from None

    def take_notice(self) -> str:
        """Returns why the child had to be restarted since the last call, as a clause; empty if it was not."""
        notice, self._notice = self._notice, ""
        return notice

    def worked(self) -> None:
        """Resets the restart delay, since the child has responded."""
        self._restarts.worked()

    def kill(self) -> None:
        """Kills a process that hangs. The next request restarts it."""
        if self._process is not None:
            self._hung = self._hung or self.alive()
            self._process.kill()

    def ending(self) -> str:
        """Returns a clause that says why the child doesn't respond. Waits briefly for its exit code."""
        if self._process is None:
            return "its process could not be started"
        return ending_of(self._process, hung=self._hung)

    def close(self) -> None:
        """Ends the process permanently; `start` then raises ChildError."""
        self._closed.set()
        self._end()

    def _start(self) -> bytes:
        self._end()
        command, pipes = python_module_command(self._module, *self._arguments), subprocess.PIPE
        try:
            process = subprocess.Popen(command, stdin=pipes, stdout=pipes, stderr=subprocess.DEVNULL, **quiet_child())
        except OSError as error:
            raise ChildError(f"its process could not be started ({error.strerror})") from None
        self._process, self._hung = process, False
        if self._closed.is_set():  # by another thread
            self._end()
        ready = b""
        with contextlib.suppress(*_BROKEN), Watched(process, self._start_seconds) as watched:
            ready = read_line(process.stdout, CHILD_LINE)  # type: ignore[arg-type]
        if not ready:
            self._hung = watched.killed
            cause = "its process was not ready in time" if self._hung else self.ending()
            self._end()
            raise ChildError(cause)
        return ready

    def _ask(self, request: bytes, seconds: float, take: Callable[[Any, bytes], bool]) -> tuple[Any, bytes]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise OSError("the process was not started")
        with Watched(process, seconds) as watched:
            try:
                process.stdin.write(request)
                process.stdin.flush()
                told_to_stop = False
                while True:
                    head = read_json_line(process.stdout, CHILD_LINE)
                    size = head.get("bytes", 0) if isinstance(head, dict) else 0
                    data = process.stdout.read(size)
                    if len(data) < size:
                        raise OSError("the process ended")
                    if not (isinstance(head, dict) and head.get("more")):
                        break
                    if not take(head, data) and not told_to_stop:
                        told_to_stop = True
                        process.stdin.write(STOP)
                        process.stdin.flush()
            finally:
                self._hung = self._hung or watched.killed
        self.worked()
        return head, data

    def _end(self) -> None:
        if self._process is not None:
            end_child(self._process, _EXIT_SECONDS)
