"""Complete questions, open clauses, and punctuation that recognisers set inside sentences."""

import pytest

from app.conversation.completeness import completeness, ends_open


@pytest.mark.parametrize(
    "words",
    [
        "What is the capital of France?",
        "Why are there so many different kinds of beetles?",
        "What is superposition?",
        "How old is it?",
        "What is that?",
        "I can't sleep at night. Do you have any advice?",
        "If you have just overtaken the second person, what's your current position?",
        "I have two apples. How many pieces of fruit do I have?",
        "How long does that take?",
        "How far is it from? London to Edinburgh?",
    ],
)
def test_a_whole_question_is_one(words: str) -> None:
    assert completeness(words) == "question"


@pytest.mark.parametrize(
    "words",
    [
        "",
        "um",
        "So.",
        "What is the...",
        "What is the capital?",
        "What is the capital of?",
        "Can you explain?",
        "Can you tell me?",
        "Who wrote?",
        "Which planet has the most?",
        "Should I buy?",
        "Where can I?",
        "Give me three.",
        "What's the best way?",
        "Does anybody know why?",
        "How do I, uh",
        "Is it true that?",
        "What process?",
        "Can a process?",
        "David has three sisters and",
        "What is the longest?",
        "Give me a second",
    ],
)
def test_an_open_clause_is_open_whatever_mark_the_recogniser_sets(words: str) -> None:
    assert completeness(words) == "open"


def test_a_statement_may_be_followed_by_its_question() -> None:
    assert completeness("My sister is getting married in June.") == "statement"
    assert completeness("My sister is getting married in June. What should I give her for it?") == "question"


def test_a_request_needs_what_it_asks_for() -> None:
    assert completeness("Give me a good name for a black dog.") == "request"
    assert completeness("Tell me a joke.") == "short"
    assert completeness("Please describe the concept.") == "open"


def test_a_preposition_is_no_end() -> None:
    assert ends_open("What is the capital of?") and ends_open("So, um")
    assert not ends_open("What is the capital of France?") and not ends_open("")
