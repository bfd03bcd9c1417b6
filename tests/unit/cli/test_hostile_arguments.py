"""Whatever a command is given, it says in a sentence what is wrong: no traceback, no wait, no fault of the app."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli.parser import main
from app.platform.standard_streams import ready_streams
from tests.support import sounds

HALF = "\udcff\udcfe.wav"
"""What Python makes of a file's name that is no UTF-8."""
STEERING = "\x1b]0;title\x07\x1b[31m\u202e"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Names of things that are no file of the kind that is wanted."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "empty").write_bytes(b"")
    (folder / "random").write_bytes(bytes(range(256)) * 16)
    (folder / "deep").write_text("[" * 100_000)
    (folder / "odd").write_text('5\nnull\n[]\n{"a": NaN}\n')
    found = {
        "missing": str(folder / "none" / "x"),
        "folder": str(folder),
        "empty": str(folder / "empty"),
        "random": str(folder / "random"),
        "deep": str(folder / "deep"),
        "odd": str(folder / "odd"),
        "long": "x" * 5_000,
        "half": HALF,
        "nul": "a\0b",
        "steering": STEERING,
        "blank": "",
    }
    if sys.platform != "win32":
        os.mkfifo(folder / "pipe")
        (folder / "loop").symlink_to(folder / "loop")
        found |= {"pipe": str(folder / "pipe"), "zero": "/dev/zero", "loop": str(folder / "loop")}
    return found


PLACES = ["missing", "folder", "empty", "random", "deep", "odd", "long", "half", "nul", "steering", "blank"]
if sys.platform != "win32":
    PLACES += ["pipe", "zero", "loop"]

RESEARCH = [
    "corpus check {}",
    "corpus import {out} --from kame {}",
    "corpus import {out} --from moshi {}",
    "corpus make {out} --as-they-are --steps scripts --items {}",
    "corpus make {} --as-they-are --steps scripts --items {items}",
    "corpus make {out} --steps {}",
    "corpus make {out} --as-they-are --steps scripts --items {items} --format {}",
    "bench hearing {}",
]
FILES = [
    "replay {}",
    "replay {} --json",
    "models check {}",
    "models check kame --folder {}",
    "models remove {}",
    "models bench {}",
    "keys test {}",
    "keys list {}",
    "keys list compatible --base-url {}",
    "ask --backend {} Hi",
    "ptt {}",
    *(pytest.param(command, marks=pytest.mark.slow) for command in RESEARCH),
]
"""Commands with a gap for a file or a name."""


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield


def run(capsys: pytest.CaptureFixture[str], words: list[str]) -> tuple[int, str]:
    """Returns the exit code of a command, and all that it prints."""
    ready_streams()
    try:
        code = main(words)
    except SystemExit as left:
        assert isinstance(left.code, int)
        code = left.code
    printed = capsys.readouterr()
    said = printed.out + printed.err
    assert "unrecognized arguments" not in said, "an option that no longer exists tests nothing"
    return code, said


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("command", FILES)
def test_a_file_or_name_that_is_none_is_a_sentence(
    command: str, place: str, places: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "items.jsonl").write_text('{"question": "What is it?", "answer": "Nothing."}\n')
    gaps = {"{}": places[place], "{out}": str(tmp_path / "out"), "{items}": str(tmp_path / "items.jsonl")}
    if command.startswith("ask") and place == "blank":
        return  # the app's own model, which answers
    code, said = run(capsys, [gaps.get(word, word) for word in command.split()])
    assert code in (0, 2), said
    assert "Traceback" not in said and "\x1b" not in said and "\u202e" not in said


@pytest.mark.parametrize("place", [place for place in PLACES if place != "blank"])
def test_a_sound_file_that_is_none_is_a_sentence(
    place: str, places: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = run(capsys, ["talk", "--input", places[place], "--output", str(tmp_path / "a.wav")])
    assert code == 2 and "Traceback" not in said and "\x1b" not in said, said


NUMBERS = ["nan", "-1", "inf", "-inf", "1e999", "9" * 5_000, "", "x", "1e", "0x10"]
OPTIONS = ["temperature", "cap", "context", "delay-ms", "lead-ms", "patience", "rate", "volume"]


@pytest.mark.parametrize(
    ("option", "number"),
    [
        pytest.param(
            option,
            number,
            id=f"{option}-{number[:8] or 'blank'}",
            marks=() if number == "nan" or option in ("temperature", "delay-ms") else pytest.mark.slow,
        )
        for option in (*OPTIONS, "swap")
        for number in NUMBERS
    ],
)
def test_no_number_is_refused(option: str, number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = f"{number}=embedded" if option == "swap" else number
    code, said = run(capsys, ["talk", "--input", str(tmp_path / "none.wav"), f"--{option}={value}"])
    assert code == 2 and f"argument --{option}" in said and "Traceback" not in said


@pytest.mark.slow
@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999"])
@pytest.mark.parametrize("command", ["train run r --corpus c --rate", "bench window --minutes"])
def test_what_is_measured_is_a_number(command: str, number: str, capsys: pytest.CaptureFixture[str]) -> None:
    *words, option = command.split()
    code, said = run(capsys, [*words, f"{option}={number}"])
    assert code == 2 and f"argument {option}: must be a number" in said


@pytest.mark.skipif(sys.platform == "win32", reason="names files by Unix' rules")
def test_the_question_is_not_written_over_by_any_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = sounds.write(tmp_path / "q.wav", sounds.question("103_2"))
    (tmp_path / "link").symlink_to(path)
    code, said = run(capsys, ["talk", "--input", str(path), "--output", str(tmp_path / "link")])
    assert code == 2 and "written over the question" in said
