"""What nobody foresaw is one sentence and goes to the log; a closed pipe ends a command silently."""

import asyncio
import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from app.cli import bench_command, devices_command, parser
from app.cli.output import Terminal
from app.cli.parser import main

ROOT = Path(__file__).resolve().parents[3]
STEERING = "\x1b]0;title\x07\x1b[31mred\x9b2J\u202e\ud83d"
ENCODABLE = STEERING.replace("\ud83d", "")
"""For what pytest captures from the log, which it sends from process to process."""


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("app.cli.fault_log.log_folder", lambda: tmp_path)
    return tmp_path / "kame.log"


def instead(monkeypatch: pytest.MonkeyPatch, work: Any) -> None:
    """The command `devices` does this instead."""
    monkeypatch.setattr(devices_command, "run", lambda args, terminal: work())


def test_an_unforeseen_error_is_a_sentence_and_a_traceback_in_the_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], log: Path
) -> None:
    instead(monkeypatch, lambda: {}[f"no such key {STEERING}"])
    assert main(["devices"]) == 1
    said = capsys.readouterr()
    (sentence,) = said.err.splitlines()
    assert not said.out and "KeyError: 'no such key" in sentence and str(log) in sentence and "\x1b" not in said.err
    assert "Traceback" in log.read_text("utf-8") and "\x1b" not in log.read_text("utf-8")
    assert main(["devices", "--json"]) == 1
    assert "KeyError" in json.loads(capsys.readouterr().out)["error"]


def test_what_parts_and_threads_log_is_a_line_and_a_traceback_in_the_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], log: Path
) -> None:
    def work() -> int:
        def fail() -> None:
            raise RuntimeError(f"in a thread {ENCODABLE}")

        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()
        logging.getLogger("a.part").warning("beware of %s", ENCODABLE)
        return 0

    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)
    instead(monkeypatch, work)
    assert main(["devices"]) == 0
    said = capsys.readouterr().err
    assert "RuntimeError: in a thread red" in said and "Traceback" in log.read_text("utf-8")
    assert "beware of red" in said and "\x1b" not in said and "Traceback" not in said


def test_a_warning_where_no_log_can_be_written_is_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr("app.cli.fault_log.log_folder", lambda: tmp_path / "file" / "logs")
    before = threading.active_count()
    instead(monkeypatch, lambda: logging.getLogger("a.part").warning("beware of this") or 0)
    assert main(["devices"]) == 0
    said = capsys.readouterr().err
    assert said.count("beware of this") == 1 and "can't be written" in said
    assert threading.active_count() == before


def test_an_unseen_task_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], log: Path) -> None:
    async def fail() -> None:
        asyncio.get_running_loop().call_soon(lambda: 1 // 0)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    instead(monkeypatch, lambda: asyncio.run(fail()) or 0)
    assert main(["devices"]) == 0
    said = capsys.readouterr().err
    assert "ZeroDivisionError" in said and "Traceback" not in said
    assert "Traceback" in log.read_text("utf-8")


def test_files_are_named_in_errors(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    instead(monkeypatch, lambda: (tmp_path / "none").read_text())
    assert main(["devices"]) == 2
    assert f"“{tmp_path / 'none'}” can't be used: No such file" in capsys.readouterr().err


def test_no_text_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(False)
    terminal.say(STEERING)
    terminal.note(STEERING)
    for piece in STEERING:
        terminal.write(piece)
    terminal.end()
    said = capsys.readouterr()
    assert said.out == "red\N{REPLACEMENT CHARACTER}\n" * 2 and said.err == "red\N{REPLACEMENT CHARACTER}\n"
    Terminal(True).document({"words": STEERING})
    text = capsys.readouterr().out
    assert json.loads(text) == {"words": STEERING} and not any(one in text for one in "\x1b\x9b\u202e\ud83d")


def test_an_argument_that_is_told_again_steers_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["devices", STEERING])
    assert "\x1b" not in capsys.readouterr().err


QUICK = (("keys list", "stdout"), ("--help", "both"), ("replay /nowhere", "stdout"))
"""Commands, and what is closed, that are tried in the short test command too."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="reads an exit code as Unix gives it")
@pytest.mark.parametrize(
    ("command", "closed"),
    [
        pytest.param(command, closed, marks=() if (command, closed) in QUICK else pytest.mark.slow)
        for command in ("keys list", "keys list --json", "--help", "nonsense", "replay /nowhere")
        for closed in ("stdout", "both")
    ],
)
def test_a_closed_pipe_ends_a_command_silently(command: str, closed: str, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "app", *command.split()],
            cwd=ROOT,
            env={**os.environ, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring", "HOME": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe if closed == "both" else subprocess.PIPE,
            text=True,
            timeout=120,
        )
    listed = command.startswith("keys")
    assert done.returncode == (141 if listed else 0 if command == "--help" else 2)
    assert closed == "both" or not listed or done.stderr == ""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk is played by Linux's /dev/full")
def test_output_that_can_not_be_written_is_a_sentence(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "app", "keys", "list"],
            cwd=ROOT,
            env={**os.environ, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring", "HOME": str(tmp_path)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert done.returncode == 2
    assert done.stderr == "What this command says can't be written: No space left on device.\n"


@pytest.mark.parametrize("command", ["train run x", "corpus make x", "bench latency"])
def test_a_research_command_of_an_installed_app_names_where_it_is(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parser, "RESEARCH", "app.left_out.commands")
    monkeypatch.setattr(bench_command, "BENCHES", {"card": bench_command.BENCHES["card"]})
    with pytest.raises(SystemExit, match="2"):
        parser.main(command.split())
    named = " ".join(command.split()[: 2 if command.startswith("bench") else 1])
    assert f"“python3 packaging/bootstrap.py run {named}” runs it." in capsys.readouterr().err
    with pytest.raises(SystemExit, match="0"):
        parser.main(["bench", "card", "--help"])
