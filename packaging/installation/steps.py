"""Runs tools as child processes, with sanitised environment variables.

The user sees one line per step; the tools' output goes to a log.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from installation.places import WINDOWS, Places
from installation.problems import UNTRUSTED, ToolFailed

# Variables that are meant for another Python. Settings for proxies, package mirrors, certificates and caches are kept,
# since the user's network may require them.
LEAKING = frozenset(
    """
    PYTHONHOME PYTHONPATH PYTHONEXECUTABLE PYTHONPLATLIBDIR PYTHONUSERBASE __PYVENV_LAUNCHER__ VIRTUAL_ENV
    VIRTUAL_ENV_PROMPT PIP_TARGET PIP_PREFIX PIP_ROOT PIP_USER PIP_PYTHON PIP_CONSTRAINT PIP_BUILD_CONSTRAINT
    PIP_REQUIREMENT PIP_EDITABLE PIP_REQUIRE_VIRTUALENV PIP_NO_BINARY PIP_ONLY_BINARY PIP_PLATFORM
    PIP_PYTHON_VERSION PIP_DRY_RUN PIP_SRC PIP_IGNORE_INSTALLED PIP_UPGRADE PIP_PRE UV_PYTHON UV_SYSTEM_PYTHON
    UV_TARGET UV_PREFIX UV_PROJECT UV_PROJECT_ENVIRONMENT UV_WORKING_DIR UV_WORKING_DIRECTORY UV_CONSTRAINT
    UV_BUILD_CONSTRAINT UV_OVERRIDE UV_EXCLUDE UV_EXCLUDE_NEWER UV_NO_BINARY UV_NO_BINARY_PACKAGE UV_PRERELEASE
    UV_RESOLUTION UV_TORCH_BACKEND UV_MANAGED_PYTHON UV_NO_MANAGED_PYTHON UV_ENV_FILE UV_PYTHON_PREFERENCE
    UV_REQUIRE_HASHES UV_NO_VERIFY_HASHES
    """.split()
)


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns a copy of the environment variables without those that would make pip, uv or the app use another Python.

    Also disables onnxruntime's telemetry, since no data may leave the user's machine.
    """
    kept = {
        name: value
        for name, value in environ.items()
        if name.upper() not in LEAKING and not name.upper().startswith("CONDA_")
    }
    # A configuration file may enable user installs, which fail in a virtual environment.
    kept["PIP_USER"] = "0"
    kept["PIP_NO_INPUT"] = "1"
    kept["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    kept["UV_NO_PROGRESS"] = "1"
    kept.setdefault("UV_HTTP_TIMEOUT", "120")
    # onnxruntime reads this on import, so its function for disabling telemetry comes too late.
    kept["ORT_DISABLE_TELEMETRY"] = "1"
    return kept


BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",
)
"""The paths at which Linux distributions store the system's trusted certificates."""


def system_certificates(env: Mapping[str, str]) -> dict[str, str]:
    """Returns variables that make uv and pip trust the certificates of the system and those specified by the user.

    By default, uv trusts only its bundled certificates, as did pip before version 24.2. A corporate proxy's certificate
    is in the system's store, or in a file that the user has specified for one of the two tools.
    """
    import ssl  # slow to import and rarely needed

    files = [env[name] for name in ("SSL_CERT_FILE", "PIP_CERT") if os.path.isfile(env.get(name, ""))]
    if WINDOWS:
        # Makes uv use the system's store; before version 0.10 the variable had another name.
        more = {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"}
        trusted = ssl.create_default_context().get_ca_certs(binary_form=True)
        texts = ["".join(map(ssl.DER_cert_to_PEM_cert, trusted))]
        names = ["PIP_CERT"]
    else:
        more, texts, names = {}, [], ["SSL_CERT_FILE", "PIP_CERT"]
        files += list(filter(os.path.isfile, BUNDLES))[:1]
    for file in files:
        with open(file, encoding="utf-8", errors="replace") as stream:
            texts.append(stream.read())
    if not any(texts):
        return more
    descriptor, path = tempfile.mkstemp(suffix=".pem")
    atexit.register(os.unlink, path)
    with open(descriptor, "w", encoding="utf-8") as stream:
        stream.write("\n".join(texts))
    return {**more, **dict.fromkeys(names, path)}


CANCELLED = 130
"""The exit code after Ctrl-C or after the user has cancelled a set-up."""


class Stopped(BaseException):
    """Raised when this program is asked to exit by SIGTERM or SIGHUP, or by the program that reads its reports."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def reason_of(number: int) -> BaseException:
    """Returns the exception for a signal: KeyboardInterrupt for SIGINT, otherwise Stopped."""
    return KeyboardInterrupt() if number == signal.SIGINT else Stopped(number)


class SignalHandler:
    """A signal handler that raises the exception of a signal, or defers it while a child process is being started.

    If it raised during `Popen`, a child that is already running would be orphaned.
    """

    def __init__(self) -> None:
        self.starting = False
        self.held: int | None = None

    def __call__(self, number: int, _frame: object) -> None:
        if self.starting:
            self.held = number
        else:
            raise reason_of(number)


stop_on_signal = SignalHandler()


def catch_signals() -> None:
    """Makes SIGINT, SIGTERM and SIGHUP raise exceptions (see `reason_of`)."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), stop_on_signal)


def start_child(command: Sequence[object], **options: Any) -> subprocess.Popen:
    """Starts a child process. If a signal arrives meanwhile, ends the child and then raises the signal's exception."""
    stop_on_signal.starting, stop_on_signal.held, child = True, None, None
    try:
        child = subprocess.Popen(command, **options)
    finally:
        stop_on_signal.starting = False
        if stop_on_signal.held is not None:
            reason = reason_of(stop_on_signal.held)
            if child is not None:
                end_child(child, reason)
            raise reason
    return child


def end_child(child: subprocess.Popen, reason: BaseException) -> None:
    """Terminates a child process, and kills it if it doesn't exit.

    After Ctrl-C, which the child also received, first gives it time to exit by itself.
    """
    patience = ((lambda: None, 10),) if isinstance(reason, KeyboardInterrupt) else ()
    for ask, seconds in (*patience, (child.terminate, 5), (child.kill, 5)):
        ask()
        try:
            child.wait(timeout=seconds)
            return
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            continue


def output_of(command: Sequence[str], env: Mapping[str, str], seconds: float) -> str | None:
    """Runs a command and returns its standard output; None if it can't be started, fails, or exceeds `seconds`."""
    try:
        done = subprocess.run(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            timeout=seconds,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


# A program without a console must not open one for its child processes.
NO_CONSOLE = getattr(subprocess, "CREATE_NO_WINDOW", 0)


PREPARED = re.compile(r"(?m)^Prepared \d+ packages? in (?:(\d+)m )?([\d.]+)(ms|s)$")
"""The line that uv prints after downloading and unpacking packages that were not in its cache."""


class Steps:
    """Runs tools, logs their output, and shows one line per step with its duration.

    `downloading`: the total time that uv has spent on downloads, in seconds.
    """

    def __init__(
        self, log: Path, say: Callable[[str], None] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.log = log
        self._say = say or (lambda text: print(text, end="", flush=True))
        self._clock = clock
        self._live = say is None and sys.stdout is not None and sys.stdout.isatty()
        self._text = ""
        self._began = 0.0
        self._shown = ""
        self._amount: Callable[[], tuple] | None = None
        self._certificates: dict[str, str] = {}
        self.downloading = 0.0

    def say(self, sentence: str) -> None:
        """Shows a message on its own line."""
        self._say(sentence + "\n")

    @contextlib.contextmanager
    def step(self, text: str, amount: Callable[[], tuple] | None = None) -> Iterator[None]:
        """Shows a step and its duration. `amount`: returns the bytes done and the total, to be shown as progress."""
        self._text, self._began, self._shown, self._amount = text, self._clock(), "", amount
        self._say(text + " ...")
        try:
            yield
        except BaseException:
            self._finish("stopped after")
            raise
        self._finish("done in")

    def _finish(self, word: str) -> None:
        start = "\r" + self._text + " ..." if self._live else ""
        self._say(f"{start} {word} {self._clock() - self._began:.1f} s\n")
        self._text, self._amount = "", None

    def tick(self) -> None:
        """Updates the line of the running step. Must be called regularly; `run` does so ten times a second."""
        if not self._live or not self._text:
            return
        shown = f"{self._clock() - self._began:.0f} s"
        if self._amount:
            done, total = self._amount()
            shown = f"{done / 10**6:.0f} of {total / 10**6:.0f} MB, {shown}"
        if shown != self._shown:
            self._shown = shown
            self._say(f"\r{self._text} ... {shown}")

    def run(
        self, command: Sequence[object], env: Mapping[str, str], hold: int | None = None, cwd: Path | None = None
    ) -> str:
        """Runs a tool until it exits and returns its output. Raises ToolFailed if it fails.

        If the tool rejects a server's certificate, as it may behind a corporate proxy, it is run again with the
        certificates that the system trusts. Later runs use these as well.

        `hold`: the file descriptor of the set-up's lock. The tool inherits it, so that if the tool outlives this
        program, the next set-up waits for it.
        """
        try:
            return self._run(command, {**env, **self._certificates}, hold, cwd)
        except ToolFailed as failure:
            if self._certificates or not re.search(UNTRUSTED, failure.printed):
                raise
        self._certificates = system_certificates(env)
        return self._run(command, {**env, **self._certificates}, hold, cwd)

    def _run(
        self, command: Sequence[object], env: Mapping[str, str], hold: int | None = None, cwd: Path | None = None
    ) -> str:
        words = [str(word) for word in command]
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            log.write(("\n$ " + " ".join(words) + "\n").encode("utf-8", "replace"))
            log.flush()
            start = log.tell()
            keep = {} if WINDOWS or hold is None else {"pass_fds": (hold,)}
            try:
                child = start_child(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=dict(env),
                    cwd=cwd,
                    creationflags=NO_CONSOLE,
                    **keep,
                )
            except OSError as error:
                log.write(str(error).encode("utf-8", "replace"))
                raise ToolFailed(words, 127, str(error)) from error
            try:
                while True:
                    try:
                        code = child.wait(timeout=0.1)
                        break
                    except subprocess.TimeoutExpired:
                        self.tick()
            except BaseException as reason:
                end_child(child, reason)
                raise
        with self.log.open("rb") as log:
            log.seek(start)
            printed = log.read().decode("utf-8", "replace")
        if code != 0:
            raise ToolFailed(words, code, printed)
        for minutes, number, unit in PREPARED.findall(printed):
            self.downloading += 60 * int(minutes or 0) + float(number) * (0.001 if unit == "ms" else 1)
        return printed


HASHED = ("--require-hashes", "--only-binary", ":all:")
"""Options with which pip and uv install only wheels whose hashes are in the lock."""


class Setup:
    """The context of a set-up: paths, progress, environment variables, and the descriptor of the held lock."""

    def __init__(self, places: Places, steps: Steps, env: Mapping[str, str], hold: int) -> None:
        self.places, self.steps, self.env, self.hold = places, steps, env, hold

    def tool(self, *command: object, **more: str) -> str:
        return self.steps.run(command, {**self.env, **more}, self.hold, self.places.root)

    def install_lock(self, uv: str, lock: str | Path) -> None:
        """Installs the packages in a lock, without resolving dependencies, since locks are complete."""
        path = lock if isinstance(lock, Path) else self.places.locks / lock
        self.tool(uv, "pip", "install", "--python", self.places.python, *HASHED, "--no-deps", "-r", path)
