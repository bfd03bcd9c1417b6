"""The spoken form: no markup, no symbols that a voice misreads, and no change as the text grows."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.conversation.clauses import split_clauses
from app.conversation.spoken_form import spoken
from tests.support.examples import examples


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("17 * 23 = 391.", "17 times 23 equals 391."),
        ("E = mc², roughly.", "E equals mc squared, roughly."),
        ("2^10 is 1,024 and x^2 is a square.", "2 to the power of 10 is 1,024 and x squared is a square."),
        ("8 ÷ 2 = 4, 9 - 4 = 5, 1+1 = 2", "8 divided by 2 equals 4, 9 minus 4 equals 5, 1 plus 1 equals 2"),
        ("It costs $5.50 or €3, at most £2 million.", "It costs 5.50 dollars or 3 euros, at most 2 million pounds."),
        ("50% of them, 3.5 % more", "50 percent of them, 3.5 percent more"),
        ("at 100 °C or 212°F, turn 90°", "at 100 degrees Celsius or 212 degrees Fahrenheit, turn 90 degrees"),
        ("10 km/h for 1/2 an hour over 5 m²", "10 kilometres per hour for one half an hour over 5 square metres"),
        ("Tom & Ann", "Tom and Ann"),
        ("Some fruit, e.g. plums", "Some fruit, for example plums"),
        ("**Yes**, *really*: [here](http://x.y/z)", "Yes, really: here"),
        ("In 1969, 1,234 people saw 3.5 of it at 7:30.", "In 1969, 1,234 people saw 3.5 of it at 7:30."),
        ("A well-known 24-7 thing from 1990-1995", "A well-known 24-7 thing from 1990-1995"),
        ("Fine 😀👍🏽.", "Fine ."),
        ("and/or, his/her, TCP/IP", "and/or, his/her, TCP/IP"),
        ("C++ and C# are languages", "C++ and C are languages"),
        ("# A heading\nText", "A heading. Text"),
        ("- one\n- `two()`\n+ [three](http://x.y)", "one. two(). three"),
        ("A paragraph\n\nand *another*\n\n1. end", "A paragraph. and another. end"),
        ("So:\n\n```py\nx = 1\n```\n\n> Quoted", "So: The code is on the screen. Quoted"),
        ("![A picture](http://x.y/z.png), $x^2$ and $y$", "A picture, x squared and y"),
    ],
)
def test_symbols_become_words(written: str, said: str) -> None:
    assert spoken(written) == said


PIECES = st.sampled_from(
    "the a cat costs $5 $ 5 50% * 17 23 = + - 1/2 km/h ² x^2 °C 100°F & e.g. **bold** (sum) so, then. Well: 3.5 1,234 "
    "in 1969 π √ ≈ it. What? [a](http://b.c) # 1. 2) • end".split()
)


@settings(max_examples=examples(400))
@given(st.lists(PIECES, min_size=2, max_size=40))
def test_a_clause_once_closed_is_said_the_same_however_the_text_grows(words: list[str]) -> None:
    closed: list[str] = []
    for count in range(1, len(words) + 1):
        now = split_clauses(spoken(" ".join(words[:count])), complete=False)
        assert now[: len(closed)] == closed
        closed = now
