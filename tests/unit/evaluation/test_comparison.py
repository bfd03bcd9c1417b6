"""Two results of a bench side by side: what has become worse, the exit code, and the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from app.cli import parser
from app.evaluation.comparison import compare
from app.evaluation.comparison_page import page
from app.session.errors import UserError


def result(folder: Path, name: str, **changes: Any) -> Path:
    system = {
        "name": "tandem",
        "first_sound_raw_median": 0.9,
        "facts_share": 0.5,
        "requests": 3.0,
        "turns": 60,
        "scores": {"average": {"mean": 6.0, "low": 5.0, "high": 7.0}},
        **changes,
    }
    place = folder / name
    place.mkdir()
    (place / "results.json").write_text(json.dumps({"bench": "mtbench", "runs": 1, "systems": [system]}))
    return place


@pytest.mark.parametrize(
    ("changes", "verdicts"),
    [
        ({}, {}),
        ({"first_sound_raw_median": 0.95}, {}),  # within the tolerance
        ({"first_sound_raw_median": 1.4}, {"systems[tandem].first_sound_raw_median": "worse"}),
        ({"first_sound_raw_median": 0.4}, {"systems[tandem].first_sound_raw_median": "better"}),
        ({"facts_share": 0.2}, {"systems[tandem].facts_share": "worse"}),
        ({"requests": 9.0}, {"systems[tandem].requests": "changed"}),
        ({"turns": 10}, {}),
        ({"scores": {"average": {"mean": 5.1, "low": 4.0, "high": 6.0}}}, {}),  # the intervals overlap
        (
            {"scores": {"average": {"mean": 3.0, "low": 2.0, "high": 4.0}}},
            {"systems[tandem].scores.average.mean": "worse"},
        ),
        ({"scores": {}}, {"systems[tandem].scores.average.mean": "only before"}),
    ],
)
def test_what_differs_is_judged_by_what_it_is(tmp_path: Path, changes: dict, verdicts: dict[str, str]) -> None:
    found = compare(result(tmp_path, "a"), result(tmp_path, "b", **changes))
    assert {row.figure: row.verdict for row in found.rows if row.verdict != "same"} == verdicts
    assert found.ok is ("worse" not in verdicts.values())


def test_the_exit_code_tells_of_what_has_become_worse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = result(tmp_path, "a"), result(tmp_path, "b", first_sound_raw_median=2.0)
    assert parser.main(["bench", "compare", str(a), str(a)]) == 0
    capsys.readouterr()
    assert parser.main(["bench", "compare", str(a), str(b), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["ok"] is False
    assert parser.main(["bench", "compare", str(a / "results.json"), str(b), "--tolerance", "200"]) == 0
    assert "+122 %" not in capsys.readouterr().out


def test_what_is_no_result_is_told_in_a_sentence(tmp_path: Path) -> None:
    a = result(tmp_path, "a")
    (tmp_path / "other.json").write_text('{"bench": "duplex"}')
    for other in (tmp_path / "nowhere", tmp_path / "other.json"):
        with pytest.raises(UserError):
            compare(a, other)


def test_the_page_holds_the_figures_of_both_and_stands_alone(tmp_path: Path) -> None:
    a, b = result(tmp_path, "a & b"), result(tmp_path, "c", facts_share=0.1)
    for place in (a, b):
        (place / "figures").mkdir()
        (place / "figures" / "curve.svg").write_text(
            '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><path id="p"/><use href="#p"/></svg>'
        )
    text = page(compare(a, b), a, b)
    assert text.count("<svg") == 2 and "a &amp; b" in text and '<tr class="worse">' in text
    assert 'href="#before-curve-p"' in text and 'id="after-curve-p"' in text
    assert "src=" not in text and "<link" not in text and "<script" not in text
    body = text[text.index("<body>") : text.index("</body>") + 7]
    ElementTree.fromstring(body)  # well-formed
