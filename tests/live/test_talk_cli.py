"""`talk` as its user meets it: a real recogniser, back-end and voice on real files, and a sentence for each
error."""

import asyncio
import contextlib
import io
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
import soundfile

from app.backend import key_names
from app.cli import parser, talk_command
from app.conversation import events as e
from app.conversation.words import fold
from app.history.recordings import Replay
from app.research.benches.recordings import word_distance
from app.session.recorder import ASSISTANT_FILE, EVENTS_FILE, USER_FILE
from app.tts.voices import make_voice
from tests.support import sounds
from tests.support.closed_network import run_closed, why_not
from tests.support.leaks import SECRET, places_with, quoting_peer
from tests.support.read_back import transcribe
from tests.support.servers import Script, closed_port_url, peer
from tests.support.tables import cases
from tests.support.virtual_audio import virtual_audio

pytestmark = pytest.mark.usefixtures("models_are_kept")
RUN = """
from app.__main__ import main
raise SystemExit(main())
"""
ROOT = Path(__file__).resolve().parents[2]


def talk(*arguments: str | Path) -> tuple[int, dict, str]:
    """Runs `talk … --json`: exit code, document, standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = parser.main(["talk", *map(str, arguments), "--json"])
    return code, json.loads(out.getvalue()), err.getvalue()


def served(url: str) -> tuple[str, ...]:
    return ("--backend", "openai", "--base-url", f"{url}/v1", "--model", "any")


def talk_alone(*arguments: str | Path, env: dict[str, str] | None = None) -> tuple[int, dict, str]:
    """Runs `talk … --json` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, "talk", *map(str, arguments), "--json"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        timeout=240,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


def talk_offline(*arguments: str | Path) -> tuple[int, dict, str]:
    """Runs `talk … --json` where no network can be reached, which it must not try."""
    found = run_closed([sys.executable, "-c", RUN, "talk", *map(str, arguments), "--json"], os.environ, timeout=240)
    assert "{" in found.output and not found.packets, (found.packets, found.output)
    return found.code, json.loads(found.output[found.output.index("{") :]), found.output


def _text(document: dict, speaker: str) -> str:
    return " ".join(t["text"] for t in document["turns"] if t["speaker"] == speaker)


def test_a_spoken_question_gets_a_spoken_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    question = "Can you explain why the above question is interesting?"
    asked = sounds.write(tmp_path / "q.wav", sounds.question("103_2"), rate=96_000, channels=2, subtype="PCM_U8")
    ends = ("--input", asked, "--output", tmp_path / "a.wav", "--record", tmp_path / "rec")
    code, document, stderr = talk_alone(*ends) if why_not() else talk_offline(*ends)
    assert code == 0, stderr
    heard, said = fold(_text(document, "user")), fold(_text(document, "assistant"))
    assert word_distance(fold(question), heard) <= 0.15 * len(fold(question))
    # An independent recogniser reads back what the transcript says was spoken.
    read_back = fold(transcribe(tmp_path / "a.wav"))
    # (A small model's words can be odd, and hard to read back; the voice itself is judged on fixed words.)
    assert len(said) >= 3 and word_distance(said, read_back) <= max(2, 0.2 * len(said)), (said, read_back)
    assert {p.name for p in (tmp_path / "rec").iterdir()} == {EVENTS_FILE, USER_FILE, ASSISTANT_FILE}
    # The recorded talk can be told again, word for word.
    capsys.readouterr()
    assert parser.main(["replay", str(tmp_path / "rec"), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["turns"] == document["turns"] and again["events"]["SessionEnded"] == 1
    user, assistant = (soundfile.info(tmp_path / "rec" / name) for name in (USER_FILE, ASSISTANT_FILE))
    assert user.frames == assistant.frames and user.samplerate == 24_000


def test_enter_silences_the_answer_where_there_are_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    master, slave = os.openpty()
    called: list[bool] = []

    async def press_enter() -> bool:
        pressed = asyncio.Event()
        if not talk_command._on_enter(lambda: (called.append(True), pressed.set())):
            return False
        os.write(master, b"\n")
        await asyncio.wait_for(pressed.wait(), 10)
        return True

    with os.fdopen(slave, "rb", buffering=0) as keys, monkeypatch.context() as patched:
        patched.setattr(sys, "stdin", keys)
        assert asyncio.run(press_enter()) and called == [True]
        os.close(master)
    with open(os.devnull) as none:
        monkeypatch.setattr(sys, "stdin", none)
        assert not asyncio.run(press_enter())


def test_a_bad_file_is_a_sentence_and_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = sounds.write(tmp_path / "q.wav", np.zeros(48_000, np.float32))
    assert parser.main(["talk", "--input", str(path), "--output", str(tmp_path / "a.wav")]) == 2
    told = capsys.readouterr().err
    assert "silence" in told and "q.wav" in told and told.strip().endswith(".") and "Traceback" not in told


@pytest.mark.slow
def test_noise_without_words_says_that_nothing_was_heard(tmp_path: Path) -> None:
    path = sounds.write(tmp_path / "q.wav", sounds.room(2.0, dbfs=-30))
    code, document, _ = talk("--input", path, "--output", tmp_path / "a.wav")
    assert code == 2 and "No words were heard" in document["failures"][0]


def test_a_back_end_that_breaks_off_is_spoken_as_far_as_it_came(tmp_path: Path) -> None:
    path = sounds.write(tmp_path / "q.wav", sounds.question("103_2"))
    script = Script(("The", " answer", " is", " quite", " simple.", " But", " then"))
    script.break_after = 5
    with peer(script) as url:
        code, document, _ = talk("--input", path, "--output", tmp_path / "a.wav", *served(url), "--no-openings")
    assert code == 2
    assert _text(document, "assistant") == "The answer is quite simple."
    assert "broke off" in document["failures"][-1]
    assert fold(transcribe(tmp_path / "a.wav")) == fold("The answer is quite simple.")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk is played by Linux's /dev/full")
def test_an_answer_that_finds_no_room_is_a_sentence_and_the_words_are_kept(tmp_path: Path) -> None:
    path = sounds.write(tmp_path / "q.wav", np.concatenate([sounds.question("141_2"), sounds.room(2.0)]))
    (tmp_path / "a.wav").symlink_to("/dev/full")
    with peer(Script(("It", " is", " fine."))) as url:
        code, document, stderr = talk("--input", path, "--output", tmp_path / "a.wav", *served(url))
    told = document.get("error") or document["failures"][-1]
    assert code == 2 and told.endswith(".") and "Traceback" not in stderr, stderr


@pytest.mark.slow  # in less than a minute some buffers are still being filled
def test_two_minutes_in_bounded_memory(tmp_path: Path) -> None:
    """Two questions, two minutes apart: both are answered, with no more memory than ten seconds apart take. What Python
    and numpy allocate is counted: what the models' libraries take varies by 30 MB from run to run."""
    question, pause = sounds.question("141_2"), sounds.room(10)
    peaks = []
    with peer(Script(("It", " is", " fine."))) as url:
        for pauses in (1, 1, 12):  # the first one loads libraries, too
            sound = np.concatenate([question, *([pause] * pauses), question, sounds.room(1.0)])
            path, length = sounds.write(tmp_path / "q.wav", sound), len(sound) / 24_000
            del sound
            tracemalloc.start()
            try:
                code, document, stderr = talk("--input", path, "--output", tmp_path / "a.wav", *served(url))
                peaks.append(tracemalloc.get_traced_memory()[1])
            finally:
                tracemalloc.stop()
            assert code == 0, stderr
            assert [t["speaker"] for t in document["turns"]] == ["user", "assistant", "user", "assistant"]
            assert document["seconds"] >= length - 0.1
    # The sound between them is 11 MB as float32 and 5.5 MB as 16 bit.
    assert peaks[2] - peaks[1] < 5_000_000, peaks  # on a busy machine, 3.5 MB were seen


def test_a_wrong_name_is_a_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = sounds.write(tmp_path / "q.wav", sounds.question("141_2"))
    common = ["talk", "--input", str(path), "--output", str(tmp_path / "a.wav")]
    assert parser.main([*common, "--backend", "hal9000"]) == 2
    assert parser.main([*common, "--frontend", "hal9000"]) == 2
    assert parser.main(["talk", "--input", str(path), "--output", str(path)]) == 2
    assert parser.main(["talk", "--input", str(path), "--output", str(tmp_path / "no" / "a.wav")]) == 2
    assert parser.main(["replay", str(tmp_path)]) == 2
    told = capsys.readouterr().err.strip().splitlines()
    assert len(told) == 5 and all(line.endswith(".") for line in told), told


def test_no_microphone_is_a_sentence_and_exit_code_2(tmp_path: Path) -> None:
    with virtual_audio(devices=False) as audio:
        code, document, _ = talk_alone("--output", tmp_path / "a.wav", env=audio.env)
    assert code == 2 and "microphone" in document["error"] and document["error"].endswith(".")


@pytest.mark.slow  # tests/session has people speak over answers
def test_over_a_real_answer_uh_huh_lets_it_go_on_and_stop_stops_it(tmp_path: Path) -> None:
    with make_voice() as voice:
        hum, okay, stop = (voice.synthesize(words).result(20).samples for words in ("Uh-huh.", "Okay.", "Stop, wait."))
    pause = sounds.room(3.5)
    question = sounds.question("103_2")
    heard = [question, pause, hum, pause, okay, pause]
    stop_begins = sum(map(len, heard)) / 24_000
    path = sounds.write(tmp_path / "q.wav", np.concatenate([*heard, stop, sounds.room(1.0)]))
    answer = "It is interesting because it has more than one answer. " + "And there is one more to be found. " * 8
    with peer(Script(tuple(f" {word}" for word in answer.split()))) as url:
        code, document, stderr = talk(
            "--input", path, "--output", tmp_path / "a.wav", "--record", tmp_path / "rec", *served(url)
        )
    assert code == 0, stderr
    first = next(t for t in document["turns"] if t["speaker"] == "assistant")
    held = [x.at for x in Replay(tmp_path / "rec").events() if isinstance(x, e.AssistantHeld)]
    assert stop_begins < held[-1] <= stop_begins + 0.35, (stop_begins, held)
    # A hum need not even be a pause; after each that was one the answer went on.
    begins = [(len(question) + sum(map(len, between))) / 24_000 for between in ([pause], [pause, hum, pause])]
    assert all(any(0 < at - begin <= 0.35 for begin in begins) for at in held[:-1]), (begins, held)
    assert first["interrupted"] and 20 < len(first["text"].split()) < len(answer.split())


def test_a_swap_from_the_command_line_is_told_and_one_that_fails_changes_nothing(tmp_path: Path) -> None:
    question = sounds.write(tmp_path / "q.wav", sounds.question("103_2"))
    with peer(Script((" It", " is", " the", " second", " one", "."))) as url:
        backend = f"--backend compatible --base-url {closed_port_url()} --model any"
        swaps = f"--swap 0.2=compatible:tiny@{url}/v1 --swap 0.4=compatible@nowhere"
        ends = ("--input", question, "--output", tmp_path / "a.wav")
        code, document, stderr = talk(*ends, *backend.split(), *swaps.split())
    [told] = [text for text in document["failures"] if "is not a server address" in text]
    assert told.endswith("The conversation continues with what it has.")
    assert [swap["model"] for swap in document["swaps"]] == ["tiny"]
    assert document["turns"][-1]["text"] == "It is the second one." and document["turns"][-1]["backends"] == ["tiny"]
    assert code == 2, stderr


@pytest.mark.slow
@cases(
    "user, run",
    pytest.param("", talk, id="a key"),
    pytest.param("user:p4ssword@", talk, id="a user in the address"),
    pytest.param("", talk_alone, id="in a process of its own", marks=pytest.mark.slow),
)
def test_a_talk_leaves_no_key_behind(
    user: str, run: Callable[..., tuple[int, dict, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = sounds.write(tmp_path / "q.wav", sounds.question("103_2"))
    home = {name: str(tmp_path / name) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    with quoting_peer(401) as (where, seen):
        url = f"http://{user}{urlsplit(where).netloc}/v1"
        [name] = key_names("compatible", url)
        for variable, value in {name: SECRET, **home}.items():
            monkeypatch.setenv(variable, value)
        ends = ("--input", question, "--output", tmp_path / "a.wav", "--record", tmp_path / "rec")
        options = ("--backend", "compatible", "--model", "any", "--base-url", url)
        code, document, stderr = run(*ends, *options)
        assert seen and (user or set(seen) == {SECRET}), "a user in the address goes before the key"
    assert code == 2 and "refuses the API key" in " ".join(document["failures"])
    heard = " ".join(t["text"] for t in document["turns"] if t["speaker"] == "user")
    assert "interesting" in heard, "what was said stays"
    for secret in (SECRET, "p4ssword"):
        assert not places_with(secret, folders=[tmp_path], texts=[json.dumps(document), stderr])
