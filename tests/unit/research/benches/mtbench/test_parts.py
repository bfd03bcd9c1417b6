"""The parts of the bench of spoken MT-Bench: systems, key facts, costs, and files on disk."""

import argparse
from pathlib import Path

import pytest

from app.research.benches.mtbench.asking import has_fact, known_facts
from app.research.benches.mtbench.plan import Plan, Spending, System, Tools, estimate, load_questions, write_down
from app.research.commands.bench_mtbench import question_numbers, systems
from app.session.control import BackendChoice, UserError
from tests.support.tables import cases

pytestmark = pytest.mark.slow
QUESTIONS = load_questions()


def test_systems_as_they_are_written() -> None:
    found = systems("moshi,kame=openai:gpt-4.1,cascade=compatible:m@http://127.0.0.1:1/v1,typed,last-oracle")
    assert found[0] == System("moshi") and found[-1] == "last-oracle"
    assert found[1] == System("kame", BackendChoice("openai", "gpt-4.1"))
    assert found[2].backend.base_url == "http://127.0.0.1:1/v1" and found[2].choice().answer_mode == "after"
    assert [getattr(one, "name", one) for one in found[:2]] == ["moshi", "kame=openai:gpt-4.1"]
    for wrong in ("", "siri", "kame=siri:1"):
        with pytest.raises(argparse.ArgumentTypeError):
            systems(wrong)
    assert question_numbers("101-103,141") == [101, 102, 103, 141]


@cases(
    "question, turn, right, wrong",
    (101, 1, "You are in second place now.", "You are in first place."),
    (105, 1, "The secretary is Alice.", "The secretary is Cheryl, since Alice's car is purple."),
    (106, 2, "Uncertain: it says nothing of apples.", "It is true."),
    (108, 1, "The word that does not belong is car, the others are parts.", "Tyre, car, engine belong together."),
    (149, 1, "Supervised needs labels; reinforcement learns from rewards.", "Machines learn."),
)
def test_key_facts(question: int, turn: int, right: str, wrong: str) -> None:
    assert has_fact(question, turn, right) is True and has_fact(question, turn, wrong) is False


def test_the_references_have_the_key_facts_but_for_those_that_are_wrong() -> None:
    checked = [(q.number, t) for q in QUESTIONS for t in (1, 2) if q.references and (q.number, t) in known_facts()]
    by_number = {question.number: question for question in QUESTIONS}
    missing = {key for key in checked if not has_fact(*key, by_number[key[0]].references[key[1] - 1])}
    assert missing == {(104, 1), (104, 2), (105, 1), (109, 2)} and len(known_facts()) >= 20
    assert has_fact(160, 1, "anything") is None


def test_what_a_run_costs_is_told_before() -> None:
    systems_ = [System("kame"), System("moshi")]
    found = estimate(systems_, 6, QUESTIONS, BackendChoice("openai"), lambda choice, usage: 0.001, last_oracle=True)
    assert found.requests == 8 * 360 and found.judge_calls == 360 * 3 + 20
    without = estimate(systems_, 6, QUESTIONS, BackendChoice("openai"), lambda choice, usage: 0.001)
    assert without.judge_calls == 360 * 2 + 20
    assert found.dollars == pytest.approx(0.001 * (8 * 360 + found.judge_calls)) and "$" in found.sentence
    unknown = estimate([System("kame")], 1, QUESTIONS, None, lambda choice, usage: None)
    assert unknown.dollars is None and unknown.judge_calls == 0
    for estimated, cap in ((unknown, 5.0), (found, 0.5)):
        with pytest.raises(UserError, match="--cap"):
            estimated.check(cap)
        estimated.check(0.0)
    found.check(100.0)


def test_a_run_stops_at_its_cap(tmp_path: Path) -> None:
    spending = Spending(1.0, tmp_path)
    spending.add(None)
    spending.add(0.6)
    spending.check()
    spending.add(0.5)
    with pytest.raises(UserError, match="higher --cap"):
        spending.check()


def test_a_folder_takes_more_systems_but_none_that_has_changed(tmp_path: Path) -> None:
    tools = Tools(None, None, None, None)  # type: ignore[arg-type]

    def plan(*systems_: System, weights: str = "") -> Plan:
        return Plan(systems_, load_questions([102]), 1, None, tmp_path, weights=weights)

    at = [System("typed", BackendChoice("compatible", "m", f"http://127.0.0.1:{port}/v1")) for port in (1, 2)]
    write_down(plan(at[0]), tools)
    write_down(plan(at[0], System("tandem")), tools)
    for changed in (plan(at[1]), plan(System("tandem"), weights="other")):
        with pytest.raises(UserError, match="another --out"):
            write_down(changed, tools)
