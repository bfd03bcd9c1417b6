"""Two results of a bench side by side: what has become worse, the exit code, and the page."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from app.cli import parser
from app.research.benches.comparison import compare, page
from app.research.benches.mtbench.asking import Answer
from app.research.benches.mtbench.judge import Judgement
from app.research.benches.mtbench.plan import Plan, System, load_questions
from app.research.benches.mtbench.run import MtBenchResult
from app.research.benches.mtbench.scores import summarise
from app.research.benches.rivals.run import Measured, Outcome, RivalsResult
from app.session.control import UserError
from tests.support.tables import cases

pytestmark = pytest.mark.slow
QUESTIONS = load_questions([101, 102, 103, 141])


def result(folder: Path, name: str, *, first_sound: float = 0.9, scores: Sequence[float] = ()) -> Path:
    """A folder with the document that `bench mtbench` itself writes."""
    facts = ["Second place.", "Washington.", "No.", "No."]
    answers = [
        Answer("tandem", 0, question.number, 1, "", fact, first_sound=first_sound)
        for question, fact in zip(QUESTIONS, facts, strict=True)
    ]
    judged = [
        Judgement("tandem", 0, question.number, 1, score, "", "")
        for question, score in zip(QUESTIONS, scores, strict=False)
    ]
    plan = Plan([System("tandem")], QUESTIONS, 1, None, folder)
    found = MtBenchResult(plan, summarise([("tandem", "tandem", 0.0)], QUESTIONS, answers, judged))
    return written(folder, name, found.document())


def written(folder: Path, name: str, document: dict[str, Any]) -> Path:
    place = folder / name
    place.mkdir()
    (place / "results.json").write_text(json.dumps(document))
    return place


@cases(
    "before, after, verdicts",
    ({}, {}, {}),
    ({}, {"first_sound": 0.95}, {}),  # within the tolerance
    ({}, {"first_sound": 1.4}, {"first_sound": "worse"}),
    ({"scores": (6, 7, 6, 7)}, {"scores": (3, 4, 3, 4)}, {"scores.average.mean": "worse"}),
    ({"scores": (6, 7, 6, 7)}, {"scores": (9, 4, 8, 5)}, {}),  # each may be chance
    ({"scores": (6, 7, 6, 7)}, {}, {"scores.average.mean": "only before"}),
)
def test_changes_are_judged(
    tmp_path: Path, before: dict[str, Any], after: dict[str, Any], verdicts: dict[str, str]
) -> None:
    found = compare(result(tmp_path, "a", **before), result(tmp_path, "b", **after))
    told = {row.figure.rpartition("].")[2]: row.verdict for row in found.rows if row.verdict != "same"}
    assert {name: told.get(name) or told.get(f"{name}_raw_median") for name in verdicts} == verdicts
    assert found.ok is ("worse" not in verdicts.values()), told
    assert not told if not verdicts else True
    assert not any("answers[" in row.figure for row in found.rows)


def _rivals(first: float, wrong: int, asked: int = 3) -> dict[str, Any]:
    outcomes = [Outcome("1", "synthetic", first, False, 0.0, "It is.", wrong, 10) for _ in range(asked)]
    return RivalsResult("m", [Measured("tandem", "this app", outcomes)]).document()


def _answers(sound: float) -> dict[str, Any]:
    """Returns the document of a bench with two voices; the second is heard after `sound` seconds."""
    return {
        "groups": [
            {"way": "talk", "voice": voice, "sound_p50": seconds, "answers": [{"way": "x", "sound": seconds}]}
            for voice, seconds in (("a", 1.0), ("b", sound))
        ]
    }


def _frames(p99: float) -> dict[str, Any]:
    """The document of a bench that timed a step in two precisions. The second one takes `p99` milliseconds."""
    rows = ((precision, ms) for precision, ms in (("bf16", 50.0), ("int8", p99)))
    return {"frames": [{"size": "7B", "precision": precision, "whole": {"p99": ms}} for precision, ms in rows]}


@cases(
    "before, after, worse",
    (_rivals(1.0, 1), _rivals(2.0, 1), {"rivals[tandem].synthetic.first_sound_p50"}),
    ({"speech": {"within_300_ms": 0.9}}, {"speech": {"within_300_ms": 0.5}}, {"speech.within_300_ms"}),
    (
        {"recognisers": [{"recogniser": "whisper", "words_wrong": {"people": 0.2}}]},
        {"recognisers": [{"recogniser": "whisper", "words_wrong": {"people": 0.3}}]},
        {"recognisers[whisper].words_wrong.people"},
    ),
    (_answers(1.0), _answers(3.0), {"groups[talk b].sound_p50"}),
    (_frames(60.0), _frames(75.0), {"frames[7B int8].whole.p99"}),
)
def test_benches_have_directions(
    tmp_path: Path, before: dict[str, Any], after: dict[str, Any], worse: set[str]
) -> None:
    a, b = written(tmp_path, "a", before), written(tmp_path, "b", after)
    assert worse <= {row.figure for row in compare(a, b).rows if row.verdict == "worse"}
    assert worse <= {row.figure for row in compare(b, a).rows if row.verdict == "better"}


def test_the_exit_code_tells_of_what_has_become_worse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = result(tmp_path, "a"), result(tmp_path, "b", first_sound=2.0)
    assert parser.main(["bench", "compare", str(a), str(a)]) == 0
    capsys.readouterr()
    assert parser.main(["bench", "compare", str(a), str(b), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["ok"] is False
    assert parser.main(["bench", "compare", str(a / "results.json"), str(b), "--tolerance", "200"]) == 0
    assert "+122 %" not in capsys.readouterr().out


def test_what_is_no_result_is_told_in_a_sentence(tmp_path: Path) -> None:
    a = result(tmp_path, "a")
    (tmp_path / "other.json").write_text('{"bench": "duplex"}')
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "empty.json").write_text('{"bench": "mtbench", "first_word": 1.0}')
    for other in (tmp_path / name for name in ("nowhere", "other.json", "list.json", "empty.json")):
        with pytest.raises(UserError):
            compare(a, other)


def test_the_page_holds_the_figures_of_both_and_stands_alone(tmp_path: Path) -> None:
    a, b = result(tmp_path, "a & b"), result(tmp_path, "c", first_sound=3.0)
    for place in (a, b):
        (place / "figures").mkdir()
        (place / "figures" / "curve.svg").write_text(
            '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
        )
    text = page(compare(a, b), a, b)
    assert text.count("data:image/svg+xml") == 2 and "a &amp; b" in text and '<tr class="worse">' in text
    # A figure of somebody else's result is drawn, and its script can't run.
    assert text.count("src=") == 2 and not any(tag in text for tag in ("<link", "<script", "<svg", "http"))
    body = text[text.index("<body>") : text.index("</body>") + 7]
    ElementTree.fromstring(body)  # well-formed
