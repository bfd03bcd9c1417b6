"""Words and clauses do not depend on how a stream was cut into deltas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.conversation.clauses import split_clauses
from app.conversation.words import WordGatherer, fold, is_backchannel, same_words

TEXTS = st.text(alphabet=st.sampled_from("abc ,.!?;:é'’5\n"), max_size=80)


@st.composite
def streams(draw: st.DrawFn) -> list[str]:
    text = draw(TEXTS)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(streams())
def test_gathered_pieces_are_the_stream_and_never_cut_a_word(deltas: list[str]) -> None:
    gatherer = WordGatherer()
    pieces = [piece for delta in deltas if (piece := gatherer.push(delta))]
    rest = gatherer.flush()
    text = "".join(deltas)
    assert "".join([*pieces, rest]).split() == text.split()
    # Each piece, the last aside, is followed by white space: its words were whole.
    behind = ""
    for piece in pieces:
        behind += piece
        assert text.startswith(behind) and text[len(behind)].isspace()


@given(TEXTS, st.data())
def test_a_clause_once_cut_stays_cut_where_it_is(text: str, data: st.DataObject) -> None:
    # The stream is seen at a word's end, as whole words are all that ever arrives.
    words = text.split()
    part = " ".join(words[: data.draw(st.integers(0, len(words)))])
    early = split_clauses(part, complete=False)
    late = split_clauses(text, complete=True)
    assert late[: len(early)] == early
    assert " ".join(late).split() == words


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("Yes. It is.", ["Yes.", "It is."]),
        (
            "The central dogma of molecular biology is a set of rules that describes how it is done.",
            ["The central dogma of molecular biology", "is a set of rules that describes how it is done."],
        ),
        ("It is 3.5 m, says Dr. Who, of the U.S. Army.", ["It is 3.5 m,", "says Dr. Who, of the U.S. Army."]),
        ("One, two, three and four, then five.", ["One, two, three and four,", "then five."]),
        ("Wait… what?", ["Wait… what?"]),
    ],
)
def test_clauses_close_where_a_voice_would_pause(text: str, clauses: list[str]) -> None:
    assert split_clauses(text, complete=True) == clauses


def test_a_long_sentence_without_commas_is_cut_so_that_speech_can_begin() -> None:
    assert [len(c.split()) for c in split_clauses("word " * 60, complete=True)] == [11, 28, 21]


def test_words_compare_without_case_and_punctuation() -> None:
    assert fold("What’s the U.S. doing — at 3.5?") == ("what's", "the", "u.s", "doing", "at", "3.5")
    assert same_words("So, where is it?", "so where is it")
    assert not same_words("So where is it", "So where it is")


@pytest.mark.parametrize(
    "text", ["mhm", "Mm-hmm.", "MMMM.", "M.H.M.", "Uh-huh", "Okay, right.", "Yeah, I see", "", "Oh, wow!"]
)
def test_go_on_is_heard_as_go_on(text: str) -> None:
    assert is_backchannel(text)


@pytest.mark.parametrize("text", ["Stop", "No, wait", "Okay but why", "Yes yes yes yes yes", "What?"])
def test_an_interruption_is_no_backchannel(text: str) -> None:
    assert not is_backchannel(text)
