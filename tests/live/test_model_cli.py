"""The commands for models, as a user types them: weights, doctor, bench card, and a conversation with a small
model."""

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.cli.parser import main
from app.frontend.kame.card_look import CardLook
from app.platform import single_instance
from app.services import doctor
from tests.support import sounds
from tests.support.hub import Hub
from tests.support.tiny_kame import make_checkpoint, make_files

ABOUT = {"system", "processor", "graphics card", "disk", "sound", "back-end embedded", "built-in voice"}
"""What `doctor` has a line for on every machine."""


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict]:
    """A command with `--json`: its exit code and its document."""
    code = main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_weights_are_fetched_and_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with Hub({"SakanaAI/kame": make_files(tmp_path / "remote")}) as hub:
        code, document = run(capsys, "models", "list", "--kind", "frontend")
        assert code == 0 and {row["state"] for row in document["models"]} == {"absent"}
        code, document = run(capsys, "models", "get", "kame", "--mirror", hub.url)
        assert code == 0 and Path(document["folder"]).name == "SakanaAI--kame"
    _, document = run(capsys, "models", "list")
    assert {row["name"]: row["state"] for row in document["models"]}["kame"] == "here"
    assert run(capsys, "models", "check", "kame")[0] == 0
    file = Path(document["models"][0]["folder"]) / "model.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    code, document = run(capsys, "models", "check", "kame")
    assert code == 2 and "model.safetensors is not the file that was downloaded" in document["error"]
    code, document = run(capsys, "models", "get", "parrot")
    assert code == 2 and "no model called “parrot”" in document["error"]


@pytest.mark.slow  # measures recogniser and voice
def test_doctor_tells_what_there_is_and_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    code, document = run(capsys, "doctor")
    about = {finding["about"]: finding for finding in document["findings"]}
    assert code == (0 if document["ok"] else 2)
    assert about.keys() >= ABOUT
    assert about["back-end embedded"]["verdict"] == "good"
    assert "hears 5 s of speech in" in about["built-in voice"]["words"]
    assert "card" in document["advice"] and document["advice"].endswith(".")


def test_doctor_names_commands_that_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine with a card and without the weights; the app's command is not on the PATH."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(single_instance, "command", lambda: "/opt/kame/bin/kame-desktop")
    monkeypatch.setattr(doctor, "_tell_cuda", lambda card, add, progress: CardLook(30 * 2**30, 32 * 2**30, 1e12))
    monkeypatch.setattr(doctor, "embedded_speed", lambda: (True, "hears and says everything at once"))
    code, document = run(capsys, "doctor")
    assert code == (0 if document["ok"] else 2) and {finding["about"] for finding in document["findings"]} >= ABOUT
    assert "“/opt/kame/bin/kame-desktop models get kame”" in document["advice"]
    assert "“/opt/kame/bin/kame-desktop bench card --quick” measures it." in document["advice"]


@pytest.mark.slow
def test_the_bench_of_the_card_runs_on_a_processor_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps = "bench card --device cpu --size tiny --steps card,kernels,full-int8 --json --output".split()
    code = main([*steps, str(tmp_path)])
    *lines, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert code == 0 and last["ok"]
    assert [(line["step"], line["outcome"]) for line in lines] == [
        ("card", "passed"),
        ("kernels", "left out"),
        ("full-int8", "passed"),
    ]
    assert lines[2]["facts"]["in a row, full cache"]["p50"] > 0
    assert "| full-int8 | in a row, full cache |" in Path(last["page"]).read_text("utf-8")
    code, document = run(capsys, "bench", "card", "--steps", "moon")
    assert code == 2 and "no step “moon”" in document["error"]


def _silent(weights: Path) -> Path:
    """Has the model say no word: untrained, it would talk without end."""
    from safetensors.torch import load_file, save_file

    state = load_file(weights / "model.safetensors")
    state["text_linear.weight"].zero_()
    save_file(state, weights / "model.safetensors")
    config = json.loads((weights / "config.json").read_text())
    (weights / "config.json").write_text(json.dumps({**config, "lm_gen_config": {"use_sampling": False}}))
    return weights


@pytest.mark.slow
def test_a_sound_file_goes_through_a_small_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = _silent(make_checkpoint(tmp_path / "weights"))
    question = sounds.write(tmp_path / "q.wav", sounds.room(2.0))
    files = ("--weights", weights, "--input", question, "--output", tmp_path / "a.wav", "--record", tmp_path / "record")
    code, document = run(capsys, *"talk --frontend kame --device cpu --delay-ms 160".split(), *map(str, files))
    assert code == 2 and "No words were heard" in document["failures"][-1]  # an empty room
    samples, rate = soundfile.read(tmp_path / "a.wav", dtype="float32")
    assert rate == 24_000 and len(samples) >= 2.0 * rate and np.abs(samples).max() > 0
    events = (tmp_path / "record" / "events.jsonl").read_text()
    assert '"type":"SessionStarted"' in events and '"frontend":"kame"' in events and "ContextMeasured" in events


@pytest.mark.slow
def test_without_weights_or_a_card_the_talk_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single_instance, "command", lambda: "/opt/kame/bin/kame-desktop")
    question = sounds.write(tmp_path / "q.wav", sounds.room(1.0))
    words = ("--input", str(question), "--output", str(tmp_path / "a.wav"))
    code, document = run(capsys, "talk", "--frontend", "moshi", "--device", "cpu", "--weights", "nowhere", *words)
    assert code == 2 and "“/opt/kame/bin/kame-desktop models get moshi”" in document["error"]
    code, document = run(capsys, "talk", "--frontend", "kame", "--device", "cuda", *words)
    assert code == 2 and "cascade" in document["error"]


@pytest.mark.slow
def test_a_model_that_cant_be_measured_keeps_none_of_the_others_from_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    code, document = run(capsys, "models", "bench", "kokoro", "piper-joe")
    assert code == 1 and not document["ok"]
    assert [row["name"] for row in document["models"]] == ["piper-joe"] and document["models"][0]["rate"] > 0
