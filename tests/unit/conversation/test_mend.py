"""Mending: what was said isn't said again, what contradicts it is bridged."""

from __future__ import annotations

from app.conversation.clauses import split_clauses
from app.conversation.mend import Mend, after_bridge, mend


def _mend(said: str, text: str, *, complete: bool = True, corrections: int = 0) -> Mend:
    return mend(said, split_clauses(text, complete=complete), complete=complete, corrections=corrections)


def test_nothing_said_yet_begins_at_the_beginning() -> None:
    assert _mend("", "You are second. He is third.") == Mend("continue", 0)
    assert mend("", [], complete=False) == Mend("wait")


def test_the_same_beginning_goes_on_behind_it() -> None:
    assert _mend("You are in second place.", "You are in second place. The other is third.") == Mend("continue", 1)


def test_the_same_in_other_words_is_not_said_again() -> None:
    found = _mend("You are now in second place,", "Now you are in the second place. The other one is third.")
    assert found == Mend("continue", 1)


def test_a_contradiction_is_bridged() -> None:
    found = _mend("You are in first place.", "Actually the answer is second, since you took over that rank.")
    assert found.action == "correct" and found.next_clause == 0 and found.bridge == "Or rather,"
    assert _mend("You win.", "He loses the whole race.", corrections=1).bridge != found.bridge


def test_it_waits_until_enough_of_the_newer_answer_is_known() -> None:
    assert _mend("The capital of France is surely Lyon.", "Well, that is not", complete=False) == Mend("wait")


def test_clauses_that_were_said_are_left_out_of_a_correction() -> None:
    found = _mend(
        "Good question. It is Lyon for sure, believe me.", "Good question. Paris has always been the capital."
    )
    assert found.action == "correct" and found.next_clause == 1


def test_behind_a_bridge_a_clause_loses_its_capital_but_a_name_keeps_it() -> None:
    assert after_bridge("The other one is third.") == "the other one is third."
    assert after_bridge("Washington is the capital.") == "Washington is the capital."
    assert after_bridge("I think so.") == "I think so."
    assert after_bridge("NASA did.") == "NASA did."
