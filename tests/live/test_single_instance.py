"""Words to the running app, between real processes: answered, refused, garbled; a crash before, a stranger beside."""

import contextlib
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.cli import ptt_command
from app.gui.shell.instance import Instance
from app.platform import single_instance
from tests.support.child import ROOT, Child, run_python
from tests.support.tables import cases

fcntl = pytest.importorskip("fcntl")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="speaks to a Unix socket")
SECONDS = 10.0
NOBODY = 65534
WINDOW = """
import os, signal, sys
from PySide6.QtCore import QCoreApplication, QSocketNotifier
from app.platform import single_instance
from app.gui.shell import instance
from app.platform import single_instance

def say(word):
    print(word, flush=True)

def obey(order):
    say(order.command)
    if order.command == "mute":
        return  # for ever
    order.answer("No conversation is running." if order.command == "toggle" else "")
    order.answer("A second answer.")

signal.signal(signal.SIGTERM, signal.SIG_DFL)
instance.TIMEOUT_MS = int(os.environ["SPEAK_MS"])
app = QCoreApplication([])
one = instance.Instance()
one.raised.connect(lambda: say("raised"))
one.commanded.connect(obey)
if one.listen():
    say("listening")
    ending = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read)
    ending.activated.connect(lambda *_: app.quit())
    app.exec()
    one.close()
    say("closed")
else:
    say("another one")
    say(single_instance.tell("raise"))
"""
PTT = "import sys; from app.cli.ptt_command import main; raise SystemExit(main(sys.argv[1:]))"


class Window(Child):
    """A process that listens as the app does, or tries to; `heard` is what it has said."""

    def __init__(self, runtime: Path, speak_ms: int) -> None:
        env = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "SPEAK_MS": str(speak_ms)}
        super().__init__(WINDOW, env=env, merged=True, patience=SECONDS)
        self.heard: list[str] = []

    def until(self, *words: str) -> None:
        def all_said() -> bool:
            while (line := self.line()) is not None:
                self.heard.append(line)
            return len(self.heard) >= len(words)

        self.wait(all_said, lambda: f"heard {self.heard}")
        assert self.heard == list(words)


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's runtime folder, with a short path: a Unix socket's has 107 bytes at most."""
    with tempfile.TemporaryDirectory(prefix="sm") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


@pytest.fixture
def start(runtime: Path) -> Iterator[Callable[..., Window]]:
    made: list[Window] = []

    def begin(speak_ms: int = 60_000) -> Window:
        made.append(Window(runtime, speak_ms))
        return made[-1]

    yield begin
    for window in made:
        window.kill()


@pytest.fixture
def window(start: Callable[..., Window]) -> Window:
    made = start()
    made.until("listening")
    return made


def raw(data: bytes, *, wait: float = SECONDS) -> bytes:
    heard = b""
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(wait)
        one.connect(single_instance.address())
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            one.sendall(data)
            while more := one.recv(4096):
                heard += more
    return heard


def ptt(*words: str) -> subprocess.CompletedProcess[str]:
    return run_python("-c", PTT, *words, timeout=SECONDS)


def test_words_arrive_and_are_answered(window: Window) -> None:
    for word in ("press", "release", "unmute", "mute-toggle", "silence"):
        answer = single_instance.tell(word)
        assert answer.ok and answer.sentence == ""
    answer = single_instance.tell("toggle")
    assert not answer.ok and answer.sentence == "No conversation is running."
    assert single_instance.tell("raise").ok
    window.until("listening", "press", "release", "unmute", "mute-toggle", "silence", "toggle", "raised")


def test_the_command_says_what_the_app_says(window: Window) -> None:
    done = ptt("press")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = ptt("toggle")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "No conversation is running.\n")
    done = ptt("--json", "toggle")
    assert done.returncode == 2 and json.loads(done.stdout) == {"ok": False, "error": "No conversation is running."}
    done = ptt("release", "--json")
    assert done.returncode == 0 and json.loads(done.stdout) == {"ok": True}
    window.until("listening", "press", "toggle", "toggle", "release")


def test_the_command_without_a_window(runtime: Path) -> None:
    done = ptt("press")
    assert done.returncode == 2 and "KAME is not running" in done.stderr and "Traceback" not in done.stderr
    with pytest.raises(single_instance.NotRunning):
        single_instance.tell("press")


def test_json_is_ascii_on_any_console(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(single_instance, "tell", lambda word, at: single_instance.Answer(False, "“mute” can't be had."))
    assert ptt_command.main(["mute", "--json"]) == 2
    printed = capsys.readouterr().out
    assert printed.isascii() and json.loads(printed)["error"] == "“mute” can't be had."


def test_the_command_is_named_as_it_works_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for name, quote in (("plain", ""), ("with a space", '"')):
        here = tmp_path / name
        here.mkdir()
        monkeypatch.setattr(sys, "executable", str(here / "python"))
        assert single_instance.command() == f'"{here / "python"}" -m app' and single_instance.command() in str(
            single_instance.NotRunning()
        )
        (here / "kame-desktop").touch(0o755)
        assert single_instance.command() == f"{quote}{here / 'kame-desktop'}{quote}"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "kame-desktop").touch(0o755)
    assert single_instance.command() == "kame-desktop" and "“kame-desktop”" in str(single_instance.NotRunning())
    # Beside this Python it is on the PATH only while the environment is active, of which the desktop knows nothing.
    monkeypatch.setenv("PATH", os.pathsep.join((str(tmp_path / "plain"), str(tmp_path / "bin"))))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "plain" / "python"))
    assert single_instance.command() == str(tmp_path / "plain" / "kame-desktop")


class FakeWindows:
    """Opens a pipe as Windows' `CreateFile` does; `fails`: the errors that it gives first."""

    GENERIC_READ, GENERIC_WRITE, OPEN_EXISTING, NULL = 0x80000000, 0x40000000, 3, 0

    def __init__(self, fails: list[OSError]) -> None:
        self.fails = fails
        self.calls: list[tuple[object, ...]] = []

    def CreateFile(self, path: str, *how: object) -> int:
        self.calls.append((path, *how))
        if self.fails:
            raise self.fails.pop(0)
        return os.open(path, os.O_RDWR)

    def open_osfhandle(self, handle: int, flags: int) -> int:
        return handle


def busy() -> OSError:
    """All ends of the pipe are taken."""
    error = OSError("all ends are taken")
    error.winerror = 231
    return error


@cases(
    "fails, raised",
    ([], None),
    ([busy(), busy()], None),
    ([FileNotFoundError()], single_instance.NotRunning),
    ([PermissionError()], PermissionError),
    ([OSError()], single_instance.NoAnswer),
)
def test_on_windows_a_pipe_is_opened_anonymously_and_read_once(
    fails: list[OSError], raised: type[Exception] | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")  # gives back what is written
    windows = FakeWindows(list(fails))
    for module in ("_winapi", "msvcrt"):
        monkeypatch.setitem(sys.modules, module, windows)
    monkeypatch.setattr(single_instance, "address", lambda: str(tmp_path / "pipe"))
    if raised is None:
        assert single_instance._through_pipe(b"no end of a line", 2.0) == b"no end of a line"
    else:
        with pytest.raises(raised):
            single_instance._through_pipe(b"no end of a line", 2.0)
    existing, anonymous = 3, 0x00100000 | 0
    assert windows.calls[-1] == (str(tmp_path / "pipe"), 0xC0000000, 0, 0, existing, anonymous, 0)
    assert len(windows.calls) == (len(fails) + 1 if raised is None else 1)


@cases("number, goes_on", (errno.EWOULDBLOCK, False), (errno.EACCES, False), (errno.ENOLCK, True))
def test_only_another_process_locks(number: int, goes_on: bool, runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    one = Instance()
    assert one.listen() is goes_on
    one.close()


def test_the_command_imports_next_to_nothing(window: Window) -> None:
    """A key that is pressed waits for it."""
    code = (
        "import sys; from app.cli.ptt_command import main; code = main(['press']); "
        "print(sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    heavy = {"PySide6", "argparse", "asyncio", "dataclasses", "numpy", "pathlib", "platformdirs", "typing"}
    assert not heavy & set(json.loads(done.stdout.replace("'", '"')))
    window.until("listening", "press")


def test_a_second_start_raises_the_first(window: Window, start: Callable[..., Window]) -> None:
    second = start()
    second.until("another one", "Answer(True, '')")
    assert second.process.wait(SECONDS) == 0
    window.until("listening", "raised")
    assert window.leave() == 0
    window.until("listening", "raised", "closed")
    third = start()
    third.until("listening")


def test_after_a_crash_the_next_one_takes_its_place(window: Window, start: Callable[..., Window]) -> None:
    window.process.kill()
    window.process.wait(SECONDS)
    assert Path(single_instance.address()).is_socket(), "the crash has left no socket, so this tests nothing"
    with pytest.raises(single_instance.NotRunning):
        single_instance.tell("press")
    second = start()
    second.until("listening")
    assert single_instance.tell("press").ok
    second.until("listening", "press")


def test_an_app_that_hangs_is_not_waited_for(window: Window) -> None:
    os.kill(window.process.pid, signal.SIGSTOP)
    try:
        before = time.monotonic()
        with pytest.raises(single_instance.NoAnswer):
            single_instance.tell("press", timeout=0.3)
        assert 0.25 < time.monotonic() - before < 2
    finally:
        os.kill(window.process.pid, signal.SIGCONT)


def test_what_its_sender_has_given_up_is_not_done_later(window: Window) -> None:
    os.kill(window.process.pid, signal.SIGSTOP)
    try:
        for word in ("press", "raise"):
            with pytest.raises(single_instance.NoAnswer):
                single_instance.tell(word)
    finally:
        os.kill(window.process.pid, signal.SIGCONT)
    assert single_instance.tell("release").ok
    window.until("listening", "“press” came too late", "raised", "release")


def test_a_word_that_is_too_old_is_answered_with_why(window: Window) -> None:
    answer = single_instance.tell("press", at=time.monotonic() - single_instance.TIMEOUT_SECONDS - 0.1)
    assert not answer.ok and answer.sentence == "KAME was busy for too long, so this was not done. Try again."
    assert single_instance.tell("release", at=time.monotonic() - 100).ok  # to let go is never too late
    assert single_instance.tell("unmute", at=time.monotonic() + 1000).ok  # a clock that nobody else has
    assert json.loads(raw(b"press\n")) == {"ok": True}  # from something other than `ptt`
    window.until("listening", "“press” came too late", "release", "unmute", "press")


def test_the_command_tells_when_it_was_given(runtime: Path) -> None:
    """Of a press and its release, each a process of its own, either may arrive first."""
    single_instance.make_folder()
    before = time.monotonic()
    with socket.socket(socket.AF_UNIX) as server, ThreadPoolExecutor(1) as pool:
        server.settimeout(SECONDS)
        server.bind(single_instance.address())
        server.listen()
        done = pool.submit(ptt, "press")
        with server.accept()[0] as one:
            word, stamp = one.recv(100).split()
            one.sendall(b'{"ok": true}\n')
        assert done.result().returncode == 0
    assert word == b"press" and before < float(stamp) < time.monotonic()


def test_an_order_that_nobody_answers_ends_in_time(start: Callable[..., Window]) -> None:
    window = start(speak_ms=400)
    window.until("listening")
    before = time.monotonic()
    with pytest.raises(single_instance.NoAnswer):
        single_instance.tell("mute", timeout=SECONDS)
    assert time.monotonic() - before < SECONDS / 2
    assert single_instance.tell("press").ok
    window.until("listening", "mute", "press")


GARBAGE = (
    b"\n",
    b"PRESS\n",
    b"press 1.0 2.0\n",
    b"press nan\n",
    b"\x00\xff\xfe" * 30 + b"\n",
    b"x" * 100_000,
    "prëss\n".encode(),
    b"{}\n",
)


def test_garbage_is_answered_politely(window: Window) -> None:
    for garbage in GARBAGE:
        heard = raw(garbage)
        if heard or len(garbage) < 1000:  # who goes on and on may be hung up on
            answer = json.loads(heard)
            assert answer["ok"] is False and "does not know" in answer["error"], garbage
        assert single_instance.tell("press").ok, garbage
    window.until("listening", *(["press"] * len(GARBAGE)))


def test_a_line_may_come_in_pieces_and_only_one_counts(start: Callable[..., Window]) -> None:
    window = start()
    window.until("listening")
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(single_instance.address())
        one.sendall(b"mu")
        assert single_instance.tell("release").ok  # others are heard meanwhile
        one.sendall(b"te\n")
        window.until("listening", "release", "mute")  # which is not answered
        one.sendall(b"press\npress\n")
        assert single_instance.tell("unmute").ok
        window.until("listening", "release", "mute", "unmute")


def test_who_says_nothing_is_sent_away(start: Callable[..., Window]) -> None:
    window = start(speak_ms=400)
    window.until("listening")
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(SECONDS)
        one.connect(single_instance.address())
        assert one.recv(10) == b""
    assert single_instance.tell("press").ok
    window.until("listening", "press")


def test_who_never_ends_is_cut_off_and_holds_nobody_up(window: Window) -> None:
    for first in (b"", b"mute 1.0\n", b"press 1.0\n"):
        sent = 0
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(SECONDS)
            one.connect(single_instance.address())
            with pytest.raises((BrokenPipeError, ConnectionResetError)):
                one.sendall(first)
                while sent < 2**30:
                    sent += one.send(b"x" * 65_536)
                    if sent % 2**20 == 0:
                        assert single_instance.tell("release").ok, first
        assert sent < 2**24, first
        assert single_instance.tell("unmute").ok, first


@pytest.mark.parametrize("answer", [b"[" * 4096, b'{"ok": ' * 500, b"x" * 100_000, b"\xff\n", b"5\n", b""], ids=len)
def test_an_answer_that_is_none_is_a_sentence(runtime: Path, answer: bytes) -> None:
    single_instance.make_folder()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(single_instance.address())
        server.listen()

        def serve() -> None:
            peer, _ = server.accept()
            with peer, contextlib.suppress(OSError):
                peer.recv(100)
                peer.sendall(answer)

        with ThreadPoolExecutor(1) as pool:
            served = pool.submit(serve)
            with pytest.raises(single_instance.NoAnswer):
                single_instance.tell("press", timeout=SECONDS)
            served.result()


def test_only_this_user_may_reach_it(runtime: Path, start: Callable[..., Window]) -> None:
    folder = runtime / "kame-desktop"
    folder.mkdir(0o755)
    start().until("listening")
    for path in (folder, Path(single_instance.address()), folder / "window.lock"):
        assert path.parent in (runtime, folder) and path.stat().st_mode & 0o077 == 0


STRANGER = f"""
import os, socket, sys
one = socket.socket(socket.AF_UNIX)
one.settimeout(5)
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
try:
    one.connect(sys.argv[1])
    one.sendall(b"press\\n")
    print("heard", one.recv(100))
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs root, to become somebody else")
def test_another_user_is_kept_out(window: Window, runtime: Path) -> None:
    def stranger() -> str:
        command = [sys.executable, "-c", STRANGER, single_instance.address()]
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS).stdout.strip()

    runtime.chmod(0o755)
    assert stranger() == "PermissionError"
    # Were the folder open: the socket is not. Were it too: who speaks is asked of the system.
    Path(single_instance.address()).parent.chmod(0o755)
    assert stranger() == "PermissionError"
    Path(single_instance.address()).chmod(0o666)
    assert stranger() in ("heard b''", "ConnectionResetError", "BrokenPipeError")
    assert single_instance.tell("release").ok
    window.until("listening", f"user {NOBODY} may not connect", "release")


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs root, to act as somebody else")
def test_a_folder_that_another_user_has_made_is_not_trusted(runtime: Path) -> None:
    (runtime / "kame-desktop").mkdir()
    os.chown(runtime / "kame-desktop", NOBODY, NOBODY)
    with pytest.raises(PermissionError):
        single_instance.make_folder()
    with pytest.raises(PermissionError):
        single_instance.tell("press")
    done = ptt("press")
    assert done.returncode == 2 and done.stderr == (
        "KAME's window can't be reached: it may be another user's. Run this as the user who started KAME.\n"
    )


def test_the_address_fits_wherever_the_runtime_folder_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    long = tmp_path / ("x" * 120)
    long.mkdir()
    for place in ("", "relative", str(long), str(tmp_path / "absent")):
        monkeypatch.setenv("XDG_RUNTIME_DIR", place)
        assert len(os.fsencode(single_instance.address())) < 104
        assert str(os.getuid()) in single_instance.address()
