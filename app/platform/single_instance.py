"""Sends a command to the running app through its local socket or pipe, and reads the response.

Both sides get the address from this module. Imports are kept to a minimum, since they delay the response to a key
press.
"""

from __future__ import annotations

import io
import os
import sys

NAME = "kame-desktop"
WORDS = ("press", "release", "toggle", "mute", "unmute", "mute-toggle", "silence", "raise")
TIMEOUT_SECONDS = 2.0
LONGEST_SENTENCE = 500
LONGEST_LINE = 4096
"""The maximum size of a response in bytes; equal to `app.untrusted.limits.COMMAND_LINE`, which is slow to import."""

_WINDOWS = sys.platform == "win32"
_LONGEST_PATH = 100
"""The path of a Unix socket is limited to 107 bytes, on macOS to 103."""

_ANONYMOUS = 0x00100000
"""SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS on Windows: the pipe's server can't identify the caller."""


class Answer:
    """The app's response: `ok` if the command succeeded; otherwise `sentence` is the error message."""

    __slots__ = ("ok", "sentence")

    def __init__(self, ok: bool, sentence: str = "") -> None:
        self.ok = ok
        self.sentence = sentence

    def __repr__(self) -> str:
        return f"Answer({self.ok}, {self.sentence!r})"


class NotRunning(Exception):
    """Raised if the app isn't running. `str(error)` is a user-facing message."""

    def __init__(self) -> None:
        super().__init__(f"KAME is not running. Start it first: “{command()}”.")


class NoAnswer(Exception):
    """Raised if the app doesn't respond, or not in time. `str(error)` is a user-facing message."""

    def __init__(self) -> None:
        super().__init__("KAME is running but did not answer. Try again; if that does not help, end it and start it.")


def tell(word: str, timeout: float = TIMEOUT_SECONDS, *, at: float | None = None) -> Answer:
    """Sends one of `WORDS` to the app and returns its response, with a timeout in seconds.

    `at`: when the user issued the command, as a `time.monotonic()` timestamp, which is comparable across processes; by
    default now. Raises NotRunning, NoAnswer, or PermissionError if the socket belongs to another user (on Windows, only
    if its owner denies access to others).
    """
    import time

    at = time.monotonic() if at is None else at
    line = (_through_pipe if _WINDOWS else _through_socket)(f"{word} {at:.3f}\n".encode(), timeout)
    import json

    try:
        answer = json.loads(line)
        ok, sentence = answer["ok"], answer.get("error", "")
        if not isinstance(ok, bool) or not isinstance(sentence, str):
            raise ValueError
        return Answer(ok, sentence[:LONGEST_SENTENCE])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise NoAnswer from None


def command_words() -> list[str]:
    """Returns the command line that starts this app: its command's name, or the path of a program and its options."""
    import shutil

    here = os.path.dirname(sys.executable)
    launcher = os.path.join(here, NAME + (".cmd" if _WINDOWS else ""))
    if found := shutil.which(NAME):
        if os.path.realpath(os.path.dirname(found)) != os.path.realpath(here):
            return [NAME]
        # Only on the PATH while this Python environment is active, so the full path is needed elsewhere.
        launcher = os.path.abspath(found)
    return [launcher] if os.path.isfile(launcher) else [sys.executable, "-m", "app"]


def command() -> str:
    """Returns this app's command as typed in a terminal on this machine; arguments may be appended."""
    program, *options = command_words()
    if options or " " in program:
        program = f'"{program}"'
    return " ".join((program, *options))


def address() -> str:
    """Returns the address that the app listens on: the path of a socket, or on Windows the name of a pipe."""
    if _WINDOWS:
        user = "-".join(filter(None, (os.environ.get("USERDOMAIN"), os.environ.get("USERNAME"))))
        return rf"\\.\pipe\{NAME}-" + "".join(c if c.isalnum() or c in "-_." else "_" for c in user)
    return os.path.join(folder(), "window.sock")


def folder() -> str:
    """Returns the path of the running app's runtime folder, which may not exist."""
    if _WINDOWS:
        import tempfile

        return os.path.join(tempfile.gettempdir(), NAME)  # every user has a separate temporary folder
    own = f"/run/user/{os.getuid()}"  # the value of XDG_RUNTIME_DIR in a session
    for place in (os.environ.get("XDG_RUNTIME_DIR", ""), own):
        path = os.path.join(place, NAME)
        if os.path.isabs(place) and os.path.isdir(place) and len(os.fsencode(path)) < _LONGEST_PATH - 12:
            return path
    return f"/tmp/{NAME}-{os.getuid()}"


def make_folder() -> str:
    """Creates the runtime folder, accessible to this user only, and returns its path.

    Raises OSError; PermissionError if the folder belongs to another user."""
    path = folder()
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not _WINDOWS:
            _check_owner(path)
            os.chmod(path, 0o700)
    return path


def _check_owner(path: str) -> None:
    """Raises PermissionError if the folder belongs to another user, who could read anything sent there."""
    import stat

    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(13, "this is another user's", path)


def _through_socket(line: bytes, timeout: float) -> bytes:
    import socket
    import time

    until = time.monotonic() + timeout
    path = address()
    received = b""
    try:
        _check_owner(os.path.dirname(path))
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(timeout)
            one.connect(path)
            one.sendall(line)
            while b"\n" not in received and len(received) < LONGEST_LINE:
                one.settimeout(max(0.001, until - time.monotonic()))
                more = one.recv(LONGEST_LINE)
                if not more:
                    break
                received += more
    except (FileNotFoundError, ConnectionRefusedError):
        raise NotRunning from None
    except PermissionError:
        raise
    except OSError:  # also TimeoutError
        raise NoAnswer from None
    return received


def _through_pipe(line: bytes, timeout: float) -> bytes:
    """Sends `line` through a pipe on a thread, since pipes opened as files have no timeout.

    The thread is abandoned after `timeout` seconds."""
    import threading
    import time

    results: list[bytes | OSError] = []

    def send() -> None:
        until = time.monotonic() + timeout
        while True:
            try:
                with _open_pipe(address()) as pipe:
                    pipe.write(line)
                    results.append(pipe.read(LONGEST_LINE))  # a response is written in one piece
                return
            except OSError as error:
                # Windows error 231 (ERROR_PIPE_BUSY): other callers are using all instances of the pipe.
                if getattr(error, "winerror", 0) != 231 or time.monotonic() > until:
                    results.append(error)
                    return
                time.sleep(0.01)

    if line.startswith(b"raise"):
        import ctypes

        ctypes.windll.user32.AllowSetForegroundWindow(-1)  # type: ignore[attr-defined]  # otherwise it would only flash
    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    sender.join(timeout)
    if not results:
        raise NoAnswer
    if isinstance(results[0], FileNotFoundError):
        raise NotRunning
    if isinstance(results[0], PermissionError):
        raise results[0]
    if isinstance(results[0], OSError):
        raise NoAnswer
    return results[0]


def _open_pipe(path: str) -> io.FileIO:
    """Opens a Windows pipe anonymously, so that another user serving it can't impersonate this user."""
    import importlib

    # By name, since type checkers only know them on Windows.
    _winapi, msvcrt = importlib.import_module("_winapi"), importlib.import_module("msvcrt")
    handle = _winapi.CreateFile(
        path,
        _winapi.GENERIC_READ | _winapi.GENERIC_WRITE,
        0,
        _winapi.NULL,
        _winapi.OPEN_EXISTING,
        _ANONYMOUS,
        _winapi.NULL,
    )
    return io.FileIO(msvcrt.open_osfhandle(handle, os.O_RDWR), "r+")
