"""Full-Duplex-Bench: its samples are found, and outputs are scored."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from app.research.benches.duplex.run import overlap_figures, run_duplex, score
from app.research.benches.duplex.samples import Word, find_samples
from app.session.control import SessionChoice, UserError

pytestmark = pytest.mark.slow


def words(*texts: str, begin: float = 0.0, each: float = 0.3) -> list[Word]:
    return [Word(text, begin + n * each, begin + (n + 1) * each) for n, text in enumerate(texts)]


def sample(folder: Path, name: str, **marks: Any) -> Path:
    place = folder / name
    place.mkdir(parents=True)
    soundfile.write(place / "input.wav", np.zeros(16_000), 16_000)
    for file, value in marks.items():
        (place / f"{file}.json").write_text(json.dumps(value))
    return place


def all_kinds(folder: Path) -> Path:
    sample(folder, "synthetic_pause_handling/1", pause=[{"text": "[PAUSE]", "timestamp": [1.0, 2.0]}])
    sample(folder, "candor_turn_taking/2", turn_taking=[{"text": "Hello.", "timestamp": [2.5, 4.0]}])
    sample(folder, "candor_turn_taking/10", turn_taking=[{"text": "Hello.", "timestamp": [3.5, 4.0]}])
    interrupt = [{"context": "One?", "interrupt": "Two?", "timestamp": [4.0, 6.0]}]
    sample(folder, "synthetic_user_interruption/1", interrupt=interrupt)
    place = sample(folder, "icc_backchannel/1")
    (place.parent / "icc_gt_distribution.json").write_text(json.dumps({"1": [0.0, 0.5, 0.5]}))
    for name in ("user_interruption", "user_backchannel", "talking_to_other", "background_speech"):
        meta = {"context_text": "One?", "current_turn_text": "Mhm.", "timestamps": [1.0, 1.5]}
        sample(folder, f"{name}/1", metadata=meta)
    return folder


def test_samples_of_both_versions_are_found_in_order(tmp_path: Path) -> None:
    found = find_samples(all_kinds(tmp_path))
    assert {one.task for one in found} == {
        "pause handling",
        "smooth turn taking",
        "user interruption",
        "backchannel",
        "overlap: interruption",
        "overlap: backchannel",
        "overlap: talking to others",
        "overlap: background speech",
    }
    assert [one.end for one in found if one.task == "smooth turn taking"] == [2.5, 3.5]
    (interrupted,) = (one for one in found if one.task == "user interruption")
    assert (interrupted.begin, interrupted.end) == (4.0, 6.0)
    (heard,) = (one for one in found if one.task == "backchannel")
    assert heard.people == (0.0, 0.5, 0.5)
    assert len(find_samples(tmp_path, 1)) == len(found) - 1


def test_what_is_no_sample_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no samples"):
        find_samples(tmp_path)
    sample(tmp_path, "turn_taking/1", turn_taking=[{"text": "x"}])
    with pytest.raises(UserError, match="marks"):
        find_samples(tmp_path)


def test_the_figures_of_an_overlap() -> None:
    spans = [(0.5, 2.2), (4.0, 6.0)]
    said = [*words("Stockholm", "lies", "there.", begin=0.6), *words("Oslo", "is", "Norwegian.", begin=4.0)]
    found = overlap_figures(spans, said, words("Stockholm", "lies", "there."), 2.0, 3.0)
    assert found.spoke and found.behaviour == "respond"
    assert found.stop == pytest.approx(0.2) and found.gap == pytest.approx(1.0)
    going_on = overlap_figures([(0.5, 6.0)], said, said, 2.0, 3.0)
    assert going_on.stop is None and going_on.gap is None
    # It stopped, and answered before the event was over: both happened.
    quick = overlap_figures([(0.5, 2.2), (2.6, 6.0)], said, said, 2.0, 3.0)
    assert quick.stop == pytest.approx(0.2)
    # It went on to the end of the event: what it says after its next rest is no reaction.
    resting = overlap_figures([(0.5, 3.5), (4.0, 6.0)], said, said, 2.0, 3.0)
    assert resting.stop is None and resting.gap is None
    # Without the output without the event nobody knows what it would have said.
    assert overlap_figures(spans, said, None, 2.0, 3.0).behaviour is None


def test_the_outputs_of_another_program_are_scored(tmp_path: Path) -> None:
    place = sample(tmp_path, "turn_taking/1", turn_taking=[{"text": "Hello.", "timestamp": [2.5, 4.0]}])
    (one,) = find_samples(tmp_path)
    with pytest.raises(UserError, match="output"):
        score(one)
    chunks = [{"text": " Hi", "timestamp": [3.0, 3.4]}, {"text": " there you go", "timestamp": [3.4, 4.5]}]
    (place / "output.json").write_text(json.dumps({"text": "Hi there", "chunks": chunks}))
    result = run_duplex(find_samples(tmp_path), None, lambda work: None, SessionChoice(), lambda text: None)
    (scored,) = result.scored
    assert scored.takeover is True and scored.latency == pytest.approx(0.5)
    assert result.document()["tasks"][0]["latency_mean"] == 0.5
    assert "outputs that were there" in result.table() and result.document()["tasks"][0]["latency_p50"] == 0.5
