"""Tests the log: its limits, threads, redaction, files, and uncaught errors."""

import asyncio
import io
import logging
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast
from urllib.parse import quote

import pytest
from keyring.errors import NoKeyringError

from app.diagnostics import logs, redaction
from app.diagnostics.logs import Log, start_logging, watch_exceptions
from app.diagnostics.redaction import HIDDEN, Redactor, WordRedactor
from app.services.api_keys import KeyStore
from tests.support.leaks import SECRET, places_with
from tests.support.raising import raising
from tests.support.tables import cases

CANARY = "canary/Zq7+tT=vX2~k81mWq"
"""Has no known form of a key: only a redactor that knows it can hide it."""
log = logging.getLogger("app.somewhere")


@pytest.fixture
def hide() -> Redactor:
    return Redactor()


@contextmanager
def alone() -> Iterator[None]:
    """Removes pytest's handlers, which raise for a wrong line and keep what it holds."""
    root = logging.getLogger()
    others = [handler for handler in root.handlers if type(handler).__module__ == "_pytest.logging"]
    for handler in others:
        root.removeHandler(handler)
    try:
        yield
    finally:
        for handler in others:
            root.addHandler(handler)


@pytest.fixture
def kept(hide: Redactor) -> Iterator[Log]:
    with start_logging(hide=hide, kept=5) as kept:
        yield kept


class _Calls:
    """A redactor that calls a function of the test."""

    def __init__(self, does: Callable[[str], str]) -> None:
        self.does = does

    def learn(self, environment: object) -> None:
        return None

    def __call__(self, text: str) -> str:
        return self.does(text)


def messages(kept: Log) -> list[str]:
    assert kept.flush(5)
    return [entry.message for entry in kept.entries()]


def test_the_newest_lines_are_kept_with_what_belongs_to_them(kept: Log) -> None:
    before = time.time()
    for number in range(8):
        log.info("line %d", number)
    log.debug("nobody wants this")
    assert messages(kept) == [f"line {number}" for number in (3, 4, 5, 6, 7)]
    last = kept.entries()[-1]
    assert (last.level, last.where, last.thread, last.details) == (logging.INFO, "app.somewhere", "MainThread", "")
    assert before <= last.at <= time.time() and last.number == kept.newest
    assert [entry.message for entry in kept.entries(last.number - 2)] == ["line 6", "line 7"]
    assert kept.entries(kept.newest) == ()
    kept.clear()
    assert kept.entries() == () and kept.newest != last.number
    log.warning("after")
    assert messages(kept) == ["after"] and kept.newest == kept.entries()[0].number


def test_no_line_of_many_threads_is_lost_or_kept_twice(hide: Redactor) -> None:
    with start_logging(hide=hide) as kept:

        def chat(name: int) -> None:
            for number in range(100):
                log.warning("%d/%d", name, number)

        threads = [threading.Thread(target=chat, args=(name,), name=f"chat {name}") for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = messages(kept)
        assert len(found) == 800 and set(found) == {f"{a}/{b}" for a in range(8) for b in range(100)}
        assert [entry.number for entry in kept.entries()] == list(range(1, 801))
        assert {entry.thread for entry in kept.entries()} == {f"chat {name}" for name in range(8)}


@cases(
    "line",
    SECRET,
    f"Incorrect API key provided: {SECRET}.",
    f"https://ann:{SECRET}@host/v1",
    f"{{'Authorization': b'Bearer {SECRET}'}}",
    f"Authorization: Basic {SECRET}",
    f"x-api-key: {SECRET}",
    f"https://h/v1?key={quote(SECRET, safe='')}&alt=sse",
    f"OPENAI_API_KEY={SECRET}",
    f"password='{SECRET}'",
)
def test_what_looks_like_a_key_is_hidden_in_every_place(kept: Log, line: str) -> None:
    log.warning("as a message: " + line)
    log.warning("as a value: %s", line)
    log.warning("within one: %r", {"a": [line]})
    try:
        try:
            raise ValueError(line)
        except ValueError as error:
            raise RuntimeError("behind another one") from error
    except RuntimeError:
        log.exception("as an error's text")
    logging.getLogger(f"from {line}").error("as a name", stack_info=True)
    assert kept.flush(5)
    texts = [f"{entry!r}\n{entry.text()}" for entry in kept.entries()]
    assert len(texts) == 5 and "behind another one" in texts[3]
    assert not places_with(SECRET, texts=texts)


@pytest.mark.parametrize(
    "told",
    (
        "AIzaSyB-1234567890abcdefghij hf_abcdefghijklmnop gsk_abcdefgh12345678 xai-abcdefgh12345678 "
        "ghp_abcdefgh12345678 eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl AKIAABCDEFGHIJKLMNOP"
    ).split(),
)
def test_keys_are_known_by_how_they_begin(hide: Redactor, told: str) -> None:
    assert hide(f"It said “{told}” twice") == f"It said “{HIDDEN}” twice"


@cases(
    "line",
    "HTTP Request: POST https://api.openai.com/v1/chat/completions “HTTP/1.1 200 OK”",
    "the talk hotkey is Ctrl+Alt+Space, hotkey=Ctrl+Alt+Space",
    "http://127.0.0.1:11434/api/tags",
    "KeyError: 'model'",
    "the secret of a good answer",
    "C:\\Users\\Ann\\log.txt",
    "monkey=banana99",
)
def test_what_is_no_key_stays(hide: Redactor, line: str) -> None:
    assert hide(line) == line


def test_keys_in_the_environment_and_those_told_of_are_hidden(monkeypatch: pytest.MonkeyPatch, hide: Redactor) -> None:
    monkeypatch.setenv("KAME_KEY_SERVER_EXAMPLE", CANARY)
    monkeypatch.setenv("SOME_TOKEN", "short")
    monkeypatch.setenv("KEY_FILE", "/home/ann/keys")
    told = "told-of-at-run-time-1"
    with start_logging(hide=hide) as kept:
        hide.add(told)
        log.warning("%s, %s, “%s”, %s, a short walk to /home/ann/keys", CANARY, quote(CANARY, safe=""), told, [CANARY])
        assert messages(kept) == [f"{HIDDEN}, {HIDDEN}, “{HIDDEN}”, ['{HIDDEN}'], a short walk to /home/ann/keys"]
    assert CANARY not in repr(hide)


def test_no_text_takes_long_to_look_through(hide: Redactor) -> None:
    hide.add(CANARY)
    for part in ("a-", "x_", "://", "http://a:", "key=", "api_key_", 'password="', "eyJ", "sk-", "bearer ", "token: 1"):
        hide(part * (100_000 // len(part)))  # with quadratic time or worse this would take hours


def test_a_line_that_cannot_be_worded_is_told_of(kept: Log) -> None:
    class Odd:
        def __repr__(self) -> str:
            raise OSError("no")

    with alone():
        log.warning("%d is no number", "x")
        log.warning("odd %r", Odd())
    log.warning("\x1b[31mred\x07\nnext")
    log.warning("x" * 50_000)
    said = messages(kept)
    assert said[0].startswith("%d is no number (its values could not be filled in: TypeError)")
    assert said[1].startswith("odd %r (") and said[2] == "\\x1b[31mred\\x07\nnext"
    assert len(said[3]) == logs.LONGEST + 2
    assert kept.entries()[2].text().endswith("red\\x07\n    next")


def test_a_flood_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "WAITING_MOST", 10)
    gate = threading.Event()

    def slow(text: str) -> str:
        gate.wait(5)
        return text

    with start_logging(hide=cast(Redactor, _Calls(slow))) as kept:
        for number in range(30):
            log.warning("line %d", number)
        gate.set()
        assert kept.flush(5)
        log.warning("later")
        said = messages(kept)
    notes = [line for line in said if line.endswith("lines came too fast to be kept")]
    assert said[-1] == "later" and notes
    assert len(said) - 1 - len(notes) + sum(int(note.split()[0]) for note in notes) == 30


@pytest.mark.skipif(os.name != "posix", reason="rights of files are told otherwise there")
def test_the_files_are_private_and_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hide: Redactor) -> None:
    monkeypatch.setattr(logs, "FILE_BYTES", 3_000)
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / "kame.log").write_text("of yesterday\n")
    with start_logging(folder, hide=hide) as kept:
        assert kept.folder == folder
        for number in range(200):
            log.info("line %03d with %s", number, SECRET)
    files = sorted(folder.iterdir())
    assert [path.name for path in files] == ["kame.log", "kame.log.1", "kame.log.2"]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 and path.stat().st_size <= 3_000 for path in files)
    newest = files[0].read_text().splitlines()
    assert newest[-1].endswith("INFO     app.somewhere: line 199 with " + HIDDEN)
    assert not places_with(SECRET, folders=[folder])


def test_a_folder_that_cannot_be_written_is_told_of_once_and_lines_are_kept(tmp_path: Path, hide: Redactor) -> None:
    (tmp_path / "taken").write_text("a file")
    with start_logging(tmp_path / "taken", hide=hide) as kept:
        log.info("still here")
        said = messages(kept)
    assert kept.folder is None and said[1] == "still here"
    assert said[0].startswith("The log can't be written to") and "memory alone" in said[0]


def test_a_full_disk_ends_the_file_not_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hide: Redactor) -> None:
    with start_logging(tmp_path, hide=hide) as kept:
        log.info("first")
        assert kept.flush(5)
        monkeypatch.setattr(logs, "_write", raising(OSError(28, "No space left on device")))
        log.info("second")
        log.info("third")
        said = messages(kept)
    assert said[:2] == ["first", "second"] and "(No space left on device)" in said[2] and said[3:] == ["third"]
    assert kept.folder is None


def test_a_file_that_was_not_written_is_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hide: Redactor
) -> None:
    """A process may have no file left for a while, so that none can be opened."""
    monkeypatch.setattr(logs, "REOPEN_SECONDS", 0.0)
    write, private = logs._write, logs.PrivateFile
    monkeypatch.setattr(logs, "PrivateFile", raising(OSError(24, "Too many open files")))
    with start_logging(tmp_path, hide=hide) as kept:
        log.info("first")
        assert kept.flush(5) and kept.folder is None
        monkeypatch.setattr(logs, "PrivateFile", private)
        log.info("second")
        assert kept.flush(5) and kept.folder == tmp_path
        monkeypatch.setattr(logs, "_write", raising(OSError(28, "No space left on device")))
        log.info("third")
        assert kept.flush(5)
        monkeypatch.setattr(logs, "_write", write)
        log.info("fourth")
        assert kept.flush(5)
    written = (tmp_path / "kame.log").read_text("utf-8")
    assert "second" in written and "fourth" in written


def test_warnings_reach_the_terminal_without_keys(hide: Redactor) -> None:
    terminal = io.StringIO()
    with start_logging(stream=terminal, hide=hide) as kept:
        log.info("a note")
        log.warning("a warning with %s", SECRET)
        assert kept.flush(5)
    assert "a note" not in terminal.getvalue() and f"a warning with {HIDDEN}" in terminal.getvalue()
    with start_logging(stream=terminal, hide=hide) as kept:
        terminal.close()
        log.warning("the terminal has gone")
        assert messages(kept) == ["the terminal has gone"]


async def test_errors_that_nobody_catches_are_logged(kept: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[str] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: passed.append(f"main {error}"))
    monkeypatch.setattr(threading, "excepthook", lambda args: passed.append(f"thread {args.exc_value}"))
    monkeypatch.setattr(sys, "unraisablehook", lambda args: passed.append(f"unraisable {args.exc_value}"))
    hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
    loop = asyncio.get_running_loop()
    undo = watch_exceptions(loop)
    try:
        raise ValueError(f"in the main thread, {SECRET}")
    except ValueError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)

    def fail() -> None:
        raise ValueError("in another one")

    worker = threading.Thread(target=fail, name="worker")
    worker.start()
    worker.join()

    class Falls:
        def __del__(self) -> None:
            raise ValueError("at its end")

    Falls()
    loop.call_soon(fail)
    task = loop.create_task(asyncio.sleep(0), name="the sleeper")
    loop.call_exception_handler({"message": "told of a task", "task": task})
    await task
    await asyncio.sleep(0)
    undo()
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == hooks
    assert kept.flush(5)
    found = {entry.message: entry for entry in kept.entries()}
    assert len(found) == 5 and not places_with(SECRET, texts=[entry.text() for entry in found.values()])
    main = found["uncaught error"]
    assert main.level == logging.CRITICAL and "ValueError: in the main thread" in main.details
    assert "in another one" in found["uncaught error in the thread “worker”"].details
    (ended,) = (entry for message, entry in found.items() if "__del__" in message)
    assert "ValueError: at its end" in ended.details
    assert "told of a task (“the sleeper”)" in found
    (looped,) = (entry for message, entry in found.items() if message.startswith("Exception in callback"))
    assert "ValueError: in another one" in looped.details
    assert [word.split()[0] for word in passed] == ["main", "main", "thread", "unraisable"]


def test_an_unrenamable_file_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hide: Redactor) -> None:
    monkeypatch.setattr(logs, "FILE_BYTES", 1_000)
    monkeypatch.setattr(os, "replace", raising(PermissionError(13, "used by another process")))
    with start_logging(tmp_path, hide=hide) as kept:
        for number in range(50):
            log.warning("line %d is here", number)
        assert kept.flush(5) and kept.folder == tmp_path
    written = (tmp_path / "kame.log").read_text("utf-8")
    assert all(f"line {number} is here" in written for number in range(50))
    assert [path.name for path in tmp_path.iterdir()] == ["kame.log"]


def test_what_was_said_is_taken_out_of_other_words() -> None:
    silent = WordRedactor(["My PIN is 4711, and I live in Berlin.", "Yes.", "code 9034A", ""])
    assert silent("failed at “my pin is 4711, and I live”; yes") == "failed at “[words]”; yes"
    assert silent("the pin is not told") == "the pin is not told"
    assert silent("asked for CODE 9034a twice") == "asked for [words] twice"
    assert WordRedactor([])("as it is") == "as it is"


def test_a_key_that_the_store_has_found_or_kept_is_in_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """This one has no known form of a key."""
    given, message = "correct-horse-battery-staple", "it answered %s"

    def lines() -> list[str]:
        with alone(), start_logging(hide=redaction.redactor()) as kept:
            log.warning(message, given)
            assert kept.flush()
            return [entry.message for entry in kept.entries()]

    monkeypatch.setattr(redaction, "_redactor", Redactor())
    store = KeyStore(environment={}, open_keyring=raising(NoKeyringError("none here")))
    assert lines() == [f"it answered {given}"]
    store.keep("ANYTHING", given)
    assert lines() == ["it answered [hidden]"]
    monkeypatch.setattr(redaction, "_redactor", Redactor())
    assert store.find(["ANYTHING"]) == (given, "memory")
    assert lines() == ["it answered [hidden]"]
