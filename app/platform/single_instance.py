"""Speaks to the app that runs already: a word to its local socket, an answer back.

The address is told here for both sides. The standard library only, and little of it: a key that is pressed waits for
these imports. Knows nothing of Qt, nor of what the words do.
"""

from __future__ import annotations

import io
import os
import sys

NAME = "kame-desktop"
WORDS = ("press", "release", "toggle", "mute", "unmute", "mute-toggle", "raise")
TIMEOUT_SECONDS = 2.0
LONGEST_LINE = 4096
"""Bytes that an answer may have."""

_WINDOWS = sys.platform == "win32"
_LONGEST_PATH = 100
"""A Unix socket's path may have 107 bytes, macOS's 103."""

_ANONYMOUS = 0x00100000
"""Windows' SECURITY_SQOS_PRESENT with SECURITY_ANONYMOUS: a pipe's server learns nothing of who calls."""


class Answer:
    """What the app said: whether it is `ok`, and if not why, in a `sentence`."""

    __slots__ = ("ok", "sentence")

    def __init__(self, ok: bool, sentence: str = "") -> None:
        self.ok = ok
        self.sentence = sentence

    def __repr__(self) -> str:
        return f"Answer({self.ok}, {self.sentence!r})"


class NotRunning(Exception):
    """Nobody listens; `str(error)` is a sentence."""

    def __init__(self) -> None:
        super().__init__(f"KAME is not running, so there is nothing to tell. Start it first: “{command()}”.")


class NoAnswer(Exception):
    """Somebody listens and did not answer, or not in time; `str(error)` is a sentence."""

    def __init__(self) -> None:
        super().__init__("KAME is running but did not answer. Try again; if that does not help, end it and start it.")


def tell(word: str, timeout: float = TIMEOUT_SECONDS, *, at: float | None = None) -> Answer:
    """Says one of `WORDS` to the app and gives its answer.

    Waits for `timeout` seconds at most. `at`: when the user gave the word, by `time.monotonic()`, which all processes
    share; now, if it is left out. Raises NotRunning, NoAnswer; PermissionError when the socket is another user's (on
    Windows only where its owner keeps others out).
    """
    import time

    at = time.monotonic() if at is None else at
    line = (_through_pipe if _WINDOWS else _through_socket)(f"{word} {at:.3f}\n".encode(), timeout)
    import json

    try:
        answer = json.loads(line)
        return Answer(bool(answer["ok"]), str(answer.get("error", "")))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NoAnswer from None


def command() -> str:
    """What runs this app's commands here, as one types it: words may follow."""
    import shutil

    here = os.path.dirname(sys.executable)
    launcher = os.path.join(here, NAME + (".cmd" if _WINDOWS else ""))
    if found := shutil.which(NAME):
        if os.path.realpath(os.path.dirname(found)) != os.path.realpath(here):
            return NAME
        # Beside this Python it is found for as long as its environment is active: elsewhere only by its whole path.
        launcher = os.path.abspath(found)
    if os.path.isfile(launcher):
        return f'"{launcher}"' if " " in launcher else launcher
    return f'"{sys.executable}" -m app'


def address() -> str:
    """Where the app listens: a socket's path, or on Windows the name of a pipe."""
    if _WINDOWS:
        user = "-".join(filter(None, (os.environ.get("USERDOMAIN"), os.environ.get("USERNAME"))))
        return rf"\\.\pipe\{NAME}-" + "".join(c if c.isalnum() or c in "-_." else "_" for c in user)
    return os.path.join(folder(), "window.sock")


def folder() -> str:
    """The folder of what belongs to the running app alone; see `make_folder`. It need not be there."""
    if _WINDOWS:
        import tempfile

        return os.path.join(tempfile.gettempdir(), NAME)  # each user has a temporary folder of their own
    own = f"/run/user/{os.getuid()}"  # what XDG_RUNTIME_DIR says in a session, for who is outside of it
    for place in (os.environ.get("XDG_RUNTIME_DIR", ""), own):
        path = os.path.join(place, NAME)
        if os.path.isabs(place) and os.path.isdir(place) and len(os.fsencode(path)) < _LONGEST_PATH - 12:
            return path
    return f"/tmp/{NAME}-{os.getuid()}"


def make_folder() -> str:
    """The folder, made for this user alone. Raises OSError; PermissionError where another user has made it."""
    path = folder()
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not _WINDOWS:
            _check_owner(path)
            os.chmod(path, 0o700)
    return path


def _check_owner(path: str) -> None:
    """Raises PermissionError when somebody else made this folder, who would hear what is said there."""
    import stat

    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(13, "this is another user's", path)


def _through_socket(line: bytes, timeout: float) -> bytes:
    import socket
    import time

    until = time.monotonic() + timeout
    path = address()
    heard = b""
    try:
        _check_owner(os.path.dirname(path))
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(timeout)
            one.connect(path)
            one.sendall(line)
            while b"\n" not in heard and len(heard) < LONGEST_LINE:
                one.settimeout(max(0.001, until - time.monotonic()))
                more = one.recv(LONGEST_LINE)
                if not more:
                    break
                heard += more
    except (FileNotFoundError, ConnectionRefusedError):
        raise NotRunning from None
    except PermissionError:
        raise
    except OSError:  # also TimeoutError
        raise NoAnswer from None
    return heard


def _through_pipe(line: bytes, timeout: float) -> bytes:
    """A pipe that is opened as a file knows no timeout: a thread of its own is left behind when it takes too long."""
    import threading
    import time

    heard: list[bytes | OSError] = []

    def talk() -> None:
        until = time.monotonic() + timeout
        while True:
            try:
                with _open_pipe(address()) as pipe:
                    pipe.write(line)
                    heard.append(pipe.read(LONGEST_LINE))  # an answer is written in one piece
                return
            except OSError as error:
                # All of the pipe's ends may be taken for a moment, by others who speak: Windows' error 231.
                if getattr(error, "winerror", 0) != 231 or time.monotonic() > until:
                    heard.append(error)
                    return
                time.sleep(0.01)

    if line.startswith(b"raise"):
        import ctypes

        ctypes.windll.user32.AllowSetForegroundWindow(-1)  # type: ignore[attr-defined]  # or it would only blink
    speaker = threading.Thread(target=talk, daemon=True)
    speaker.start()
    speaker.join(timeout)
    if not heard:
        raise NoAnswer
    if isinstance(heard[0], FileNotFoundError):
        raise NotRunning
    if isinstance(heard[0], PermissionError):
        raise heard[0]
    if isinstance(heard[0], OSError):
        raise NoAnswer
    return heard[0]


def _open_pipe(path: str) -> io.FileIO:
    """Opens a pipe of Windows' without saying who calls: should another serve it, they can't act as this user."""
    import _winapi
    import msvcrt

    handle = _winapi.CreateFile(
        path,
        _winapi.GENERIC_READ | _winapi.GENERIC_WRITE,
        0,
        _winapi.NULL,
        _winapi.OPEN_EXISTING,
        _ANONYMOUS,
        _winapi.NULL,
    )
    return open(msvcrt.open_osfhandle(handle, os.O_RDWR), "r+b", buffering=0)
