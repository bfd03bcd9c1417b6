"""The demo's figures: medians, and as text."""

from __future__ import annotations

import json

import pytest

from app.demo.base import DemoFigure, DemoResult, chosen_backends
from app.demo.report import document, lines
from app.session.errors import UserError
from tests.support.demo_talk import DEAR, FIRST, SECOND

GIVEN = (DemoFigure("A?", 1.0, 0.5), DemoFigure("B?", 1.2, 0.2), DemoFigure("C?", 2.0, 0.4))


def test_the_medians_are_those_of_each_side() -> None:
    result = DemoResult(GIVEN, True, "First")
    assert (result.median("cascade"), result.median("tandem")) == (1.2, 0.4)


def test_the_visitors_own_questions_count_once_there_are_any() -> None:
    own = DemoFigure("Mine?", 3.0, 1.0, own=True)
    result = DemoResult((*GIVEN, own), True)
    assert result.counted == (own,) and (result.median("cascade"), result.median("tandem")) == (3.0, 1.0)
    second = DemoFigure("And mine?", 1.0, 2.0, own=True)
    assert DemoResult((*GIVEN, own, second)).median("cascade") == 2.0


def test_a_question_that_one_side_has_not_answered_counts_for_neither() -> None:
    result = DemoResult((GIVEN[0], DemoFigure("D?", None, 0.1), DemoFigure("Mine?", 0.1, None, own=True)))
    assert result.counted == (GIVEN[0],)
    assert DemoResult().median("tandem") is None


def test_the_report_holds_what_was_measured_and_said() -> None:
    figure = DemoFigure("A\n b?", 1.23456, None, said=("Yes.", ""), trouble=("", "It is on fire."))
    found = json.loads(json.dumps(document(DemoResult((figure, GIVEN[1]), True, "First"))))
    assert found["ok"] and found["backend"] == "First" and found["median_seconds"] == {"cascade": 1.2, "tandem": 0.2}
    assert found["questions"][0] == {
        "question": "A b?",
        "own": False,
        "cascade": {"seconds": 1.235, "said": "Yes.", "trouble": ""},
        "tandem": {"seconds": None, "said": "", "trouble": "It is on fire."},
    }
    assert not document(DemoResult(GIVEN))["ok"], "it was stopped"
    assert not document(DemoResult((figure,), True))["ok"], "nothing can be compared"
    told = lines(DemoResult((figure, GIVEN[1]), True))
    assert "cascade 1.23 s (Yes.); tandem no answer (It is on fire.)" in told[0]
    assert told[-1].endswith("median: cascade 1.20 s, tandem 0.20 s.")


def test_a_backend_that_costs_money_takes_part_only_by_name() -> None:
    backends = (FIRST, SECOND, DEAR)
    assert chosen_backends(backends, ()) == (FIRST, SECOND)
    assert chosen_backends(backends, ("dear", "first")) == (DEAR, FIRST)
    with pytest.raises(UserError, match=r"“third”.*First, Second, OpenAI"):
        chosen_backends(backends, ("third",))
