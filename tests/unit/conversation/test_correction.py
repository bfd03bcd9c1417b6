"""Corrections are bridged, and say nothing twice; what an answer may begin with before it is known asserts nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.conversation.languages import CODES, language
from app.conversation.speaking.clauses import split_clauses
from app.conversation.speaking.correction import Correction, after_bridge, plan_correction
from app.conversation.speaking.restating import agreed_words, restated_words
from app.conversation.speaking.revisions import OracleAsked, OracleWords, Revisions
from tests.support.tables import cases


def _plan(said: str, text: str, *, complete: bool = True, corrections: int = 0) -> Correction:
    return plan_correction(said, split_clauses(text, complete=complete), complete=complete, corrections=corrections)


@cases(
    "said, text",
    ("The capital is Lyon.", "The capital is Paris."),  # most words are the same
    ("It is Lyon.", "It is not Lyon. It is Paris."),
    ("You have 3 apples.", "You have 2 apples. One was eaten."),
    ("It is hot. It is far from Paris.", "It is hot. It is near."),
)
def test_what_differs_in_the_word_that_matters_is_taken_back(said: str, text: str) -> None:
    assert _plan(said, text).action == "correct"


@cases(
    "said, text, found",
    ("You have three apples,", "You have three apples left.", ("correct", 0, 0)),
    ("You have three apples.", "You have three apples and two pears.", ("correct", 0, 0)),
    ("You have three", "You have three apples left.", ("continue", 0, 3)),
    ("You have three apples, I think,", "You have three apples, I think, and no pears.", ("continue", 1, 2)),
    ("You have lost three of your", "You have lost all. That is sad.", ("correct", 0, 0)),
    ("", "You are second. He is third.", ("continue", 0, 0)),
    ("You are in second place.", "You are in second place. The other is third.", ("continue", 1, 0)),
    # The same in other words is not said again.
    ("You are now in second place.", "Now you are in the second place. He is third.", ("continue", 1, 0)),
    # Neither is the beginning that both have.
    ("Good question. It is Lyon for sure.", "Good question. Paris is the capital.", ("correct", 1, 0)),
)
def test_a_sentence_continues_with_its_own_words_alone(said: str, text: str, found: tuple[str, int, int]) -> None:
    join = _plan(said, text)
    assert (join.action, join.next_clause, join.skip) == found


def test_once_the_user_has_spoken_again_a_complete_sentence_begins_and_nothing_is_corrected() -> None:
    clauses = split_clauses("It is Paris, on the river Seine. It is old.", complete=True)
    for said in ("It is", "It is Lyon."):
        assert plan_correction(said, clauses, complete=True, resumed=True) == Correction("continue", 0)


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


RESTATED = [
    ("en", "What is the capital of Norway?", "The capital of Norway is Oslo.", "The capital of Norway is"),
    ("en", "And what is the taste of water?", "The taste of water is none.", "The taste of water is"),
    ("en", "Who wrote the play Hamlet?", "The play Hamlet was written by", "The play Hamlet"),
    ("en", "Which desert covers most of Africa?", "The desert is the Sahara.", "The desert"),
    ("en", "Which river flows through Paris?", "The river Seine flows through Paris.", ""),
    ("en", "How many legs does a spider have?", "A spider has eight legs.", "A spider"),
    ("en", "What's the largest planet?", "Jupiter is the largest planet.", ""),
    ("en", "Why is the sky blue?", "The sky is blue because", "The sky"),
    ("en", "At how many degrees does water boil?", "Water boils at a hundred degrees.", ""),
    ("de", "Was ist die Stadt von Ibsen?", "Die Stadt von Ibsen ist Skien.", "Die Stadt von Ibsen ist"),
    ("es", "¿Cuál es la capital de Noruega?", "La capital de Noruega es Oslo.", "La capital de Noruega es"),
    ("fr", "Quelle est la capitale de la Norvège ?", "La capitale de la Norvège est", "La capitale de la Norvège est"),
    ("it", "Qual è la capitale della Norvegia?", "La capitale della Norvegia è Oslo.", "La capitale della Norvegia è"),
]


@pytest.mark.parametrize(("code", "question", "answer", "begins"), RESTATED)
def test_what_only_restates_a_question(code: str, question: str, answer: str, begins: str) -> None:
    assert " ".join(answer.split()[: restated_words(answer, question, code)]) == begins


FALSE_PREMISES = [
    ("When did Einstein invent the telephone?", "Einstein invented the telephone in 1876."),
    ("When did Einstein invent the telephone?", "Einstein did invent the telephone in 1905."),
    ("Why is the moon made of cheese?", "The moon is made of cheese because"),
    ("Why did Napoleon win at Waterloo?", "Napoleon won at Waterloo because"),
    ("Who was the queen of France in 2010?", "The queen of France in 2010 was"),
    ("Where is the capital city of Africa?", "The capital city of Africa is Cairo."),
    ("How did Shakespeare write Faust?", "Shakespeare wrote Faust in"),
    ("Why do fish breathe with lungs?", "Fish breathe with lungs because"),
    ("When will the sun orbit the earth?", "The sun will orbit the earth"),
    ("Why can penguins fly?", "Penguins can fly because"),
    ("What year did Rome beat the Aztecs?", "Rome beat the Aztecs in"),
    ("Why has Australia no deserts?", "Australia has no deserts because"),
    ("Which of the two moons of Earth is larger?", "The two moons of Earth are"),
    ("Why are vaccines not safe?", "Vaccines are not safe because"),
    ("How do humans hear with their noses?", "Humans hear with their noses by"),
    ("When did Germany win the first world war?", "Germany won the first world war in"),
    ("Why does water flow uphill?", "Water does flow uphill because"),
    ("Who stole the Eiffel Tower?", "The Eiffel Tower was stolen by"),
    ("What makes gold lighter than air?", "Gold is lighter than air because"),
    ("Why have cats six legs?", "Cats have six legs because"),
]


@pytest.mark.parametrize(("question", "answer"), FALSE_PREMISES)
def test_a_false_premise_is_not_confirmed(question: str, answer: str) -> None:
    """What is restated has no verb but a form of "to be" at its end, so that it states nothing by itself."""
    english = language("en")
    said = answer.lower().split()[: restated_words(answer, question)]
    verbs = english.copulas | english.auxiliaries | {"invented", "won", "wrote", "breathe", "beat", "hear", "flow"}
    assert not verbs.intersection(said[:-1]) and not (verbs - english.copulas).intersection(said[-1:])
    assert not {"no", "not", "two", "six", "first"}.intersection(said)


@pytest.mark.parametrize("question", ["Is Oslo the capital of Norway?", "Can a spider swim?", "Tell me the capital."])
def test_questions_that_may_be_answered_by_yes_or_no_are_not_restated(question: str) -> None:
    assert restated_words("The capital of Norway is Oslo.", question) == 0


def _known(*asked: tuple[str, str]) -> Revisions:
    known = Revisions()
    for number, (question, answer) in enumerate(asked, 1):
        known.ask(OracleAsked(number, 1, False, words=question))
        for word in answer.split():
            known.update(OracleWords(number, 1, f" {word}", 0.0))
    return known


QUESTION = "What is the capital of Norway?"
CAPITAL = "The capital of Norway is Oslo. It"


@cases(
    "asked, words",
    ([("What is the capital?", "The capital of France is Paris. It"), (QUESTION, CAPITAL)], 3),
    ([("What is the capital of Nor", "The capital of Norway is"), (QUESTION, CAPITAL)], 5),
    ([("What is the capital?", "The capital is"), (QUESTION, CAPITAL)], 2),
    ([("What is the capital?", "The capital of the"), ("What is the capital of Nor", "The capital of the UK")], 3),
    ([(QUESTION, "The capital of Norway is"), (QUESTION, CAPITAL)], 0),
    ([("What is the capital?", "It is the"), (QUESTION, CAPITAL)], 0),
    ([("What is", "The capital of Norway is"), ("What is the capital?", CAPITAL), (QUESTION, "")], 5),
    ([("What", "The capital of Norway is"), ("What is the", CAPITAL), (QUESTION, "")], 0),
    ([(QUESTION, CAPITAL)], 0),
)
def test_two_revisions_have_to_agree_that_were_asked_on_other_words(asked: list[tuple[str, str]], words: int) -> None:
    known = _known(*asked).of_turn(1)
    newest = next(revision for revision in reversed(known) if revision.has_words)
    clause = newest.first_clause
    assert clause is not None and agreed_words(clause.spoken, newest, known, QUESTION) == words


@pytest.mark.parametrize("code", CODES)
def test_each_language_has_what_restating_needs(code: str) -> None:
    one = language(code)
    assert len(one.question_words) > 8 and one.copulas and one.auxiliaries and one.genitives
    assert not one.copulas & one.auxiliaries
