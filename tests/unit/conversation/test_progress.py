"""Where in a revision's text the voice is: told by what reached the front-end and by what was heard."""

import random

import pytest

from app.conversation.progress import Progress
from app.conversation.spoken_form import spoken

TEXT = "The highest mountain in Europe is Mount Elbrus, 5,642 metres high. It costs $5, or 20% off."


def heard(text: str, *said: str) -> str:
    made = Progress()
    for words in said:
        made.hear(text, words)
    return text[: made.heard]


def test_what_reached_the_front_end_is_counted_in_words() -> None:
    made = Progress(told=True)
    assert made.sent(TEXT) == 0
    made.feed(3)
    assert TEXT[: made.sent(TEXT)] == "The highest mountain"
    made.feed(100)
    assert made.sent(TEXT) == len(TEXT)


def test_without_reports_everything_counts_as_sent() -> None:
    assert Progress().sent(TEXT) == len(TEXT)


def test_tokens_that_wait_for_their_frame_hold_their_words_back() -> None:
    made = Progress()
    made.take(3, 9)
    assert TEXT[: made.sent(TEXT)] == "The highest mountain in"  # a quarter of sixteen words and a bit
    made.take(12, 0)
    assert made.sent(TEXT) == len(TEXT)
    made.feed(8)
    made.take(2, 2)
    assert TEXT[: made.sent(TEXT)] == "The highest mountain in"  # half of the words that it has


def test_what_was_heard_was_sent() -> None:
    made = Progress(told=True)
    made.hear(TEXT, "the highest")
    assert made.sent(TEXT) == made.heard == len("The highest")


@pytest.mark.parametrize(
    ("said", "reached"),
    [
        (("The", "highest"), "The highest"),
        (("the HIGHEST mountain,",), "The highest mountain"),
        (("The highest mountain in Europe is Mount Elbrus", ","), TEXT[:47]),
        ((spoken(TEXT),), TEXT),
        (("The highest mountain in Europe is Mount Elbrus, five thousand six hundred metres high",), TEXT[:66]),
        (("Well, the highest peak in Europe",), "The highest mountain in Europe"),
        (("Or rather, no:",), ""),
        (("Mount Elbrus", "5,642"), TEXT[:53]),
    ],
)
def test_what_was_heard_is_found_however_it_was_spelt(said: tuple[str, ...], reached: str) -> None:
    assert heard(TEXT, *said) == reached


def test_one_word_that_is_also_much_further_on_does_not_run_ahead() -> None:
    text = "One two three four five six seven eight nine and at last ten."
    assert heard(text, "ten") == ""
    assert heard(text, "at", "last") == "One two three four five six seven eight nine and at last"


def test_a_growing_text_is_followed() -> None:
    made = Progress()
    made.hear("It is", "It is")
    assert made.heard == 5
    made.hear("It is noon, in Rome.", "noon, in")
    assert made.heard == len("It is noon, in")


def test_an_answer_goes_on_where_an_older_one_was() -> None:
    made = Progress()
    assert made.go_on(TEXT, "The highest mountain in Europe is")
    assert TEXT[: made.heard] == "The highest mountain in Europe is"
    made.hear(TEXT, "Mount")
    assert TEXT[: made.heard] == "The highest mountain in Europe is Mount"


def test_an_answer_that_says_something_else_begins_at_its_beginning() -> None:
    made = Progress()
    assert not made.go_on(TEXT, "Let me think about the question of the hour")
    assert made.heard == 0


def test_a_respelt_end_was_heard_and_a_long_rest_was_not() -> None:
    made = Progress()
    made.hear("It is 3 km² big.", "It is three")
    assert made.finish() and made.heard == len("It is 3 km² big.")
    other = Progress()
    other.hear(TEXT, "The highest")
    assert not other.finish() and TEXT[: other.heard] == "The highest"


def test_progress_never_goes_back() -> None:
    dice = random.Random(7)
    words = "the a of mountain is high 5,642 20% – « x".split()
    for _ in range(200):
        text = " ".join(dice.choice(words) for _ in range(dice.randint(0, 30)))
        made, last = Progress(told=True), 0
        for _ in range(12):
            made.hear(text, " ".join(dice.choice(words) for _ in range(dice.randint(0, 4))))
            made.feed(dice.randint(0, 4))
            assert last <= made.heard <= made.sent(text) <= len(text)
            last = made.heard


def test_answers_read_aloud_are_heard_to_their_end() -> None:
    answers = [
        "Sure! **Three** things:\n1. Boil 2 litres.\n2. Add 10 g of salt (about 1/4 spoon).\n3. Wait.",
        "That is 3 × 4 = 12, or √144; at 20 °C it's 5 km/h – see [the table](https://example.org/a).",
        "It's well-known, e.g. in the U.S., that “to be or not to be” isn't Marlowe's.",
    ]
    for answer in answers:
        made = Progress()
        for word in spoken(answer).split():
            made.hear(answer, word)
        assert made.heard == len(answer) or made.finish(), answer[made.heard :]
