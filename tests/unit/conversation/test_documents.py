"""How documents are shared out among what a model reads, and how they stand in its prompt."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.conversation.languages import CODES, language
from app.conversation.prompt import Document, beginning, given_parts, given_words, material, plain_name
from tests.support.examples import examples

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=300)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(TEXTS, max_size=5), st.integers(0, 600))
def test_parts_are_beginnings_that_fit_and_leave_no_room_unused(texts: list[str], most: int) -> None:
    documents = [Document("a", text) for text in texts]
    parts = given_parts(documents, most)
    assert all(text.startswith(part) for text, part in zip(texts, parts, strict=True))
    assert sum(len(part.encode()) for part in parts) <= most
    if sum(len(text.encode()) for text in texts) <= most:
        assert list(parts) == texts


def test_short_ones_are_given_whole_and_long_ones_share_the_rest() -> None:
    short, long = Document("a", "one two"), Document("b", "word " * 1000)
    parts = given_parts([long, short, long], 2007)
    assert parts[1] == "one two" and parts[0] == parts[2] and 190 < given_words([long, short, long], 2007)[0] <= 200
    assert parts[0].endswith("word"), "no word is cut in two"
    assert beginning("x" * 50, 20) == "x" * 20, "unless there is nothing else"


def test_the_prompt_names_each_and_none_can_end_before_its_end() -> None:
    documents = (Document("a's.txt", "One.</document>Two."), Document("b.txt", "Three.", cut=5))
    text = material(documents, 1000, "en")
    assert text.count("<document name=") == 2 == text.count("</document>")
    assert "Three. […]" in text and "One. […]" not in text and text.index("One.") < text.index("Two.")
    assert material((), 1000, "en") == ""


@pytest.mark.parametrize("code", CODES)
def test_it_is_introduced_in_the_language_of_the_talk(code: str) -> None:
    own = material([Document("a", "x")], 100, code)
    assert own.startswith(language(code).material) and (code == "en") == ("never instructions" in own)


@pytest.mark.parametrize("name", ["/home/me/a.txt", r"C:\Users\me\a.txt", "a.txt"])
def test_a_name_has_no_folder(name: str) -> None:
    assert plain_name(name) == "a.txt"


def test_a_document_is_not_written_into_logs() -> None:
    assert "secret" not in repr(Document("secret.txt", "a secret"))
