"""The comparison with other assistants: what is played is measured, over real pipes to a process of a known kind."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from app.conversation.frame import SAMPLE_RATE
from app.platform.installation import resource
from app.research.benches.recordings import Recording
from app.research.benches.rivals import run as run_module
from app.research.benches.rivals.process import ASSISTANTS, Assistant, AssistantProcess, chosen
from app.research.benches.rivals.run import ask, run_rivals
from app.session.control import UserError

pytestmark = pytest.mark.slow
DRIVERS = Path(run_module.__file__).parent / "drivers"
PARROT = f"""
import sys, time
sys.path.insert(0, {str(DRIVERS)!r})
import numpy as np
from pipe import Pipe, USER_RATE, settings

pipe, loud, quiet = Pipe(), 0, 0
print("this goes to the log")
pipe.ready()
while (data := pipe.read()) is not None:
    if np.abs(np.frombuffer(data, "<i2")).max() > 1000:
        loud, quiet = loud + 1, 0
    else:
        quiet += 1
    if loud and quiet == 25:  # half a second of silence ends the turn
        loud = 0
        pipe.heard("what was", 7)
        pipe.heard("what was said with " + settings()["model"], 7)
        tone = np.sin(np.arange(8000) * 0.1) * 8000
        pipe.play(16000, tone.astype("<i2").tobytes())
        busy = time.process_time() + 0.05  # more than the system's tick, by which processor time is counted
        while time.process_time() < busy:
            pass
"""
"""An assistant that answers half a second after the end, with half a second of a tone."""


def item(seconds: float = 1.0, *, pause: float = 0.0) -> Recording:
    voice = (0.2 * np.sin(np.arange(round(seconds * SAMPLE_RATE)) * 0.1)).astype(np.float32)
    sound = voice
    if pause:
        sound = np.concatenate([voice, np.zeros(round(pause * SAMPLE_RATE), np.float32), voice])
    return Recording("one", "what was said with tiny", sound, len(sound) / SAMPLE_RATE, kind="synthetic")


def parrot(tmp_path: Path) -> AssistantProcess:
    return AssistantProcess("parrot", [sys.executable, "-c", PARROT], {"KAME_RIVAL_MODEL": "tiny"}, tmp_path / "log")


def test_an_answer_is_timed_by_what_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.research.benches.rivals.run.SETTLE_SECONDS", 0.7)
    with parrot(tmp_path) as process:
        whole = ask(process, item())
        cut = ask(process, item(pause=1.2))
        assert process.usage()[1] > 1e6
    assert whole.first_sound == pytest.approx(0.52, abs=0.25) and not whole.early and whole.talked_over == 0.0
    assert (whole.wrong, whole.words) == (0, 5)
    assert cut.early and cut.talked_over == pytest.approx(0.5, abs=0.1) and cut.first_sound is not None
    assert "this goes to the log" in (tmp_path / "log").read_text()


def test_all_are_asked_and_one_that_fails_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "FIRST_SECONDS", 0.1)
    monkeypatch.setattr("app.research.benches.rivals.run.SETTLE_SECONDS", 0.7)
    programs = {"parrot": PARROT, "broken": "raise SystemExit(1)"}
    monkeypatch.setattr(run_module, "_command", lambda one, progress: [sys.executable, "-c", programs[one.name]])
    result = run_rivals(
        [Assistant("parrot", "repeats"), Assistant("broken", "does nothing")],
        [item(0.5)],
        {"url": "", "key": "a-key", "model": "tiny"},
        0,
        tmp_path,
        lambda text: None,
    )
    parrot_, broken = result.measured
    assert len(parrot_.outcomes) == 1 and parrot_.processor > 0 and parrot_.memory > 1e6
    assert "did not start" in broken.trouble
    written = json.loads((tmp_path / "results.json").read_text())
    assert written["bench"] == "rivals" and written["rivals"][0]["synthetic"]["asked"] == 1
    assert "repeats" in (tmp_path / "results.md").read_text() and "a-key" not in (tmp_path / "results.md").read_text()


def test_who_takes_part() -> None:
    assert chosen([]) == list(ASSISTANTS) and [one.name for one in chosen(["pipecat"])] == ["pipecat"]
    with pytest.raises(UserError, match="no assistant “siri”"):
        chosen(["siri"])
    for one in ASSISTANTS:
        if one.lock:
            lock = resource("bench", "rivals", one.lock).read_text()
            assert "--hash=sha256:" in lock and "://" not in lock
            assert (DRIVERS / one.driver).is_file()
