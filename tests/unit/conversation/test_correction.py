"""Corrections: what was said isn't said again, and a disagreement is bridged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.conversation.speaking.clauses import split_clauses
from app.conversation.speaking.correction import Correction, after_bridge, plan_correction


def _plan(said: str, text: str, *, complete: bool = True, corrections: int = 0) -> Correction:
    return plan_correction(said, split_clauses(text, complete=complete), complete=complete, corrections=corrections)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("The capital is Lyon.", "The capital is Paris."),  # most words are the same
        ("It is Lyon.", "It is not Lyon. It is Paris."),
        ("You have 3 apples.", "You have 2 apples. One was eaten."),
        ("It is hot. It is far from Paris.", "It is hot. It is near."),
    ],
)
def test_what_differs_in_the_word_that_matters_is_taken_back(said: str, text: str) -> None:
    assert _plan(said, text).action == "correct"


@pytest.mark.parametrize(
    ("said", "text", "found"),
    [
        ("You have three apples,", "You have three apples left.", ("correct", 0, 0)),
        ("You have three apples.", "You have three apples and two pears.", ("correct", 0, 0)),
        ("You have three", "You have three apples left.", ("continue", 0, 3)),
        ("You have three apples, I think,", "You have three apples, I think, and no pears.", ("continue", 1, 2)),
        ("You have lost three of your", "You have lost all. That is sad.", ("correct", 0, 0)),
        ("", "You are second. He is third.", ("continue", 0, 0)),
        ("You are in second place.", "You are in second place. The other is third.", ("continue", 1, 0)),
        # The same in other words is not said again.
        (
            "You are now in second place.",
            "Now you are in the second place. The other one is third.",
            ("continue", 1, 0),
        ),
        # Neither is the beginning that both have.
        (
            "Good question. It is Lyon for sure, believe me.",
            "Good question. Paris has always been the capital.",
            ("correct", 1, 0),
        ),
    ],
)
def test_a_sentence_continues_with_its_own_words_alone(said: str, text: str, found: tuple[str, int, int]) -> None:
    join = _plan(said, text)
    assert (join.action, join.next_clause, join.skip) == found


def test_once_the_user_has_spoken_again_a_complete_sentence_begins_and_nothing_is_corrected() -> None:
    text = "It is Paris, on the river Seine. It is old."
    assert plan_correction("It is", split_clauses(text, complete=True), complete=True, resumed=True) == Correction(
        "continue", 0
    )
    assert plan_correction(
        "It is Lyon.", split_clauses(text, complete=True), complete=True, resumed=True
    ) == Correction("continue", 0)


SENTENCES = st.lists(
    st.sampled_from(
        [
            "You have three apples left.",
            "You have three apples, and two pears, as I see it.",
            "You have three.",
            "It is not so.",
            "It is so.",
            "Well, it is Paris, the capital of France, where the river is.",
            "It is Paris.",
        ]
    ),
    min_size=1,
    max_size=3,
)


@given(SENTENCES, SENTENCES, st.data())
def test_each_stretch_is_whole_sentences_of_one_answer(older: list[str], newer: list[str], data: st.DataObject) -> None:
    """The older answer is left at the end of any of its clauses."""
    begun = split_clauses(" ".join(older), complete=True)
    said = " ".join(begun[: data.draw(st.integers(1, len(begun)))])
    clauses = split_clauses(" ".join(newer), complete=True)
    join = plan_correction(said, clauses, complete=True)
    if join.next_clause >= len(clauses):
        return
    rest = " ".join([" ".join(clauses[join.next_clause].split()[join.skip :]), *clauses[join.next_clause + 1 :]])
    if join.action == "continue" and not said.endswith("."):
        assert f"{said} {rest}".split() == " ".join(newer).split(), "in mid-sentence only its own words go on"
    else:
        assert rest[0].isupper() and " ".join(newer).endswith(rest)


def test_a_contradiction_is_bridged_once_enough_is_known() -> None:
    found = _plan("You are in first place.", "Actually the answer is second, since you took over that rank.")
    assert found.action == "correct" and found.next_clause == 0 and found.bridge == "Or rather,"
    assert _plan("You win.", "He loses the whole race.", corrections=1).bridge != found.bridge
    assert plan_correction("", [], complete=False) == Correction("wait")
    assert _plan("The capital of France is surely Lyon.", "Well, that is not", complete=False) == Correction("wait")


def test_after_a_bridge_a_clause_loses_its_capital_but_a_name_keeps_it() -> None:
    assert after_bridge("The other one is third.") == "the other one is third."
    assert after_bridge("Washington is the capital.") == "Washington is the capital."
    assert after_bridge("I think so.") == "I think so."
    assert after_bridge("NASA did.") == "NASA did."
