"""Recordings: written whatever an event holds, and read or refused in one sentence whatever a file holds."""

import json
import os
import sys
import threading
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli import parser
from app.conversation import events as e
from app.conversation.event_json import read_event, to_json
from app.history.importing import read
from app.history.recordings import Replay
from app.session import recorder as recorder_module
from app.session.control import UserError
from app.session.recorder import Recorder
from app.untrusted.limits import EVENT_LINE
from tests.support.history import MOON, talk
from tests.support.raising import raising
from tests.support.tables import cases

HEAD = '{"format": "kame-recording", "version": 1}'
LINES = [HEAD, *(to_json(event) for event in talk(MOON))]
SOUND = np.full(1920, 0.5, np.float32)


@pytest.mark.parametrize("text", ["\ud83c", "a\udf19b", "\ud83c\udf19", "a\u2028b\x85c\0"])
def test_half_a_character_costs_no_more_than_itself(text: str, tmp_path: Path) -> None:
    to_json(e.OracleDelta(1.0, 1, text)).encode()
    told: list[str] = []
    with Recorder(tmp_path, told.append) as recording:
        recording.event(e.OracleDelta(1.0, 1, text))
        for _ in range(20):
            recording.sound(SOUND, SOUND, 0)
        recording.event(e.OracleDelta(2.0, 1, "After it."))
    assert told == []
    first, second = Replay(tmp_path).events()
    assert second == e.OracleDelta(2.0, 1, "After it.") and first.text.encode()
    with wave.open(str(tmp_path / "user.wav")) as sound:
        assert sound.getnframes() == 20 * SOUND.size


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), UnicodeError("odd"), TypeError("odd")])
def test_whatever_ends_a_recording_is_reported(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    with Recorder(tmp_path, told.append) as recording:
        monkeypatch.setattr(recorder_module, "to_json", raising(error))
        for at in range(3):
            recording.event(e.UserStarted(float(at), 1))
            recording.sound(SOUND, SOUND, 0)
    (sentence,) = told
    assert sentence.startswith("The recording has stopped: ") and "continues" in sentence


def test_a_slow_disk_cuts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(recorder_module, "CLOSE_SECONDS", 0.05)
    held = threading.Event()

    def slow(event: e.Event) -> str:
        held.wait()
        return to_json(event)

    monkeypatch.setattr(recorder_module, "to_json", slow)
    told: list[str] = []
    with Recorder(tmp_path, told.append) as recording:
        recording.event(e.UserStarted(1.0, 1))
        for _ in range(20):
            recording.sound(SOUND, SOUND, 0)
    (sentence,) = told
    assert "not complete yet" in sentence and "continues" not in sentence and sentence in caplog.text
    held.set()
    recording._thread.join()
    assert len(told) == 1 and list(Replay(tmp_path).events()) == [e.UserStarted(1.0, 1)]
    for name in ("user.wav", "assistant.wav"):
        with wave.open(str(tmp_path / name)) as sound:
            assert sound.getnframes() == 20 * SOUND.size


def test_what_is_too_long_for_a_line_is_left_out_but_no_recording_is_too_long(tmp_path: Path) -> None:
    told: list[str] = []
    with Recorder(tmp_path, told.append) as recording:
        for text in ("First.", "ä" * (EVENT_LINE.bytes // 2), "x" * EVENT_LINE.bytes, "Last."):
            recording.event(e.OracleDelta(1.0, 1, text))
    assert [event.text for event in Replay(tmp_path).events()] == ["First.", "Last."]
    assert len(told) == 1 and "too long" in told[0]
    line = to_json(e.OracleDelta(1.0, 1, "x" * (EVENT_LINE.bytes - 100)))
    with (tmp_path / "events.jsonl").open("w") as file:
        file.write(HEAD + "\n")
        for _ in range(66):
            file.write(line + "\n")
    assert sum(1 for _ in Replay(tmp_path).events()) == 66


def test_the_advice_fits_what_is_wrong_with_the_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Give the folder that"):
        Replay(tmp_path)
    (tmp_path / "events.jsonl").mkdir()
    with pytest.raises(UserError, match="it is a folder"):
        Replay(tmp_path)


@cases(
    "line",
    '{"type":"UserStarted","at":"1","turn":1}',
    '{"type":"UserStarted","at":NaN,"turn":1}',
    '{"type":"UserStarted","at":1e999,"turn":1}',
    '{"type":"UserStarted","at":1,"turn":[]}',
    '{"type":["UserStarted"],"at":1,"turn":1}',
    '{"type":"OracleHandedOver","at":1,"revision":{},"of":1}',
    '{"type":"ToolCalled","at":1,"revision":1,"name":null,"arguments":7}',
    "[" * 100_000,
    '{"a":' * 100_000,
    '"' + "x" * 2_000_000 + '"',
    '{"type":"UserStarted","at":1,"turn":' + "9" * 5000 + "}",
    ids=lambda line: line[:50],
)
def test_a_line_that_is_no_event_is_refused(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="not an event"):
        read_event(line)
    (tmp_path / "events.jsonl").write_text("\n".join([*LINES[:5], line, *LINES[5:]]) + "\n")
    assert parser.main(["replay", str(tmp_path)]) == 2
    assert "line 6 of it is " in capsys.readouterr().err


@pytest.mark.parametrize("first", [[], ['{"format": "kame-recording", "version": 2}']], ids=["none", "newer"])
def test_a_recording_of_another_version_is_left(
    first: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "\n".join([*first, *LINES[1:]])
    (tmp_path / "events.jsonl").write_text(text)
    assert parser.main(["replay", str(tmp_path)]) == 2
    assert "another version of KAME has written it" in capsys.readouterr().err
    with pytest.raises(UserError, match="another version of KAME has written it"):
        read(tmp_path)
    assert (tmp_path / "events.jsonl").read_text() == text


def test_line_breaks_of_other_alphabets_are_no_ends_of_lines(tmp_path: Path) -> None:
    line = json.dumps({"type": "OracleDelta", "at": 1.0, "revision": 1, "text": "a\u2028b\x85c"}, ensure_ascii=False)
    (tmp_path / "events.jsonl").write_text(f"{HEAD}\n{line}\n{LINES[1]}\n", "utf-8", newline="\n")
    assert [type(event).__name__ for event in Replay(tmp_path).events()] == ["OracleDelta", "SessionStarted"]


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes among files there")
def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "events.jsonl")
    assert parser.main(["replay", str(tmp_path)]) == 2
    assert "a pipe or a device" in capsys.readouterr().err
    (tmp_path / "events.jsonl").unlink()
    (tmp_path / "events.jsonl").write_text("\n".join(LINES))
    os.mkfifo(tmp_path / "user.wav")
    assert parser.main(["replay", str(tmp_path), "--play"]) == 2
    assert "a pipe or a device" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"RIFF\xff\xff\xff\xffWAVEfmt ", b"no sound at all" * 100])
def test_a_damaged_sound_is_refused(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "events.jsonl").write_text("\n".join(LINES))
    for name in ("user.wav", "assistant.wav"):
        (tmp_path / name).write_bytes(content)
    assert parser.main(["replay", str(tmp_path), "--play"]) == 2
    assert "user.wav" in capsys.readouterr().err


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5) | st.sampled_from(["\ud800", "\x1b[31m", "backend", "complete", "user"]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.none(), max_size=2),
)


@st.composite
def _mutated(draw: st.DrawFn) -> bytes:
    """The lines of a recording, with some of them changed, left out, exchanged, or cut in their bytes."""
    lines: list[Any] = [json.loads(line) for line in LINES]
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(lines) - 1))
        name = draw(st.sampled_from(sorted(lines[place])))
        match draw(st.sampled_from(["value", "missing", "extra", "type", "line", "order"])):
            case "value":
                lines[place] = lines[place] | {name: draw(VALUES)}
            case "missing":
                lines[place] = {key: value for key, value in lines[place].items() if key != name} or {"type": "x"}
            case "extra":
                lines[place] = lines[place] | {draw(st.text(max_size=6)): draw(VALUES)}
            case "type":
                lines[place] = lines[place] | {
                    "type": draw(st.sampled_from([line["type"] for line in lines if "type" in line]))
                }
            case "line":
                lines[place] = lines[draw(st.integers(0, len(lines) - 1))]
            case "order":
                lines.insert(draw(st.integers(0, len(lines))), lines.pop(place))
    data = bytearray("\n".join(json.dumps(line) for line in lines).encode())
    for _ in range(draw(st.integers(0, 2))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data[: draw(st.integers(0, len(data)) | st.just(len(data)))])


@given(data=_mutated())
def test_any_recording_is_told_or_refused_in_a_sentence(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp() / "mutated"
    folder.mkdir(exist_ok=True)
    (folder / "events.jsonl").write_bytes(data)
    code = parser.main(["replay", str(folder), "--json"])
    try:
        Replay(folder)
    except UserError as error:
        assert code == 2 and str(error).endswith(".")
    else:
        assert code == 0


def test_a_disk_that_stands_still_costs_little_memory_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "MOST_WAITING", 10)
    begun, held = threading.Event(), threading.Event()

    def slow(event: e.Event) -> str:
        begun.set()
        held.wait(10)
        return to_json(event)

    monkeypatch.setattr(recorder_module, "to_json", slow)
    told: list[str] = []
    with Recorder(tmp_path, told.append) as recording:
        recording.event(e.UserStarted(1.0, 1))
        assert begun.wait(10)
        for _ in range(500):
            recording.sound(SOUND, SOUND, 0)
            recording.event(e.UserStarted(2.0, 2))
        assert recording._queue.qsize() <= 20
        (sentence,) = told
        assert "too slow" in sentence
        held.set()
    for name in ("user.wav", "assistant.wav"):
        with wave.open(str(tmp_path / name)) as sound:
            assert sound.getnframes() == 500 * SOUND.size
