"""Code and tables are told from prose while an answer arrives, and a voice gets a sentence in their place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.conversation.aloud import Aloud, aloud
from app.conversation.blocks import Block, blocks
from app.conversation.clauses import split_clauses
from app.conversation.intended import intended_answer
from app.conversation.progress import Progress
from app.conversation.spoken_form import spoken
from tests.support.examples import examples

CODE = "```python\nprint('a | b')\n```\n"
TABLE = "| a | b |\n|---|:-:|\n| 1 | 2 |\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Just words, a | b and `code`.", [("prose", "Just words, a | b and `code`.")]),
        (f"So:\n\n{CODE}Done.", [("prose", "So:\n\n"), ("code", CODE), ("prose", "Done.")]),
        (f"So:\n\n{TABLE}\nDone.", [("prose", "So:\n\n"), ("table", TABLE), ("prose", "\nDone.")]),
        (f"So: {CODE}", [("prose", "So: "), ("code", CODE)]),
        ("~~~\n```\n~~~\n", [("code", "~~~\n```\n~~~\n")]),
        ("````md\n```\n````\n", [("code", "````md\n```\n````\n")]),
        ("```ls -l``` lists.", [("code", "```ls -l```"), ("prose", " lists.")]),
        ("Use ```ls``` here.", [("prose", "Use ```ls``` here.")]),
        ("```sh\nls", [("code", "```sh\nls")]),
        ("```sh\nls```\nDone.", [("code", "```sh\nls```\n"), ("prose", "Done.")]),
        ("| a bar alone |\nso.", [("prose", "| a bar alone |\nso.")]),
        ("a | b\n--|--\n1 | 2\n\nso.", [("prose", "a | b\n"), ("table", "--|--\n1 | 2\n"), ("prose", "\nso.")]),
        ("A rule\n---\nso.", [("prose", "A rule\n---\nso.")]),
        (f"{TABLE}Right behind.", [("table", TABLE), ("prose", "Right behind.")]),
    ],
)
def test_blocks_are_told_from_prose(text: str, found: list[tuple[str, str]]) -> None:
    assert [(block.kind, block.text) for block in blocks(text)] == found


@pytest.mark.parametrize(
    ("text", "language", "code", "closed"),
    [
        ("```python\nx = 1\n```\n", "python", "x = 1", True),
        ("   ```sh title=x\n   ls\n     -l\n   ```", "sh", "ls\n  -l", True),
        ("```\nx\n\n\ny", "", "x\n\n\ny", False),
        ("```c++\nx;```\n", "c++", "x;", False),
        ("```ls -l```", "", "ls -l", True),
        ("```", "", "", False),
        ("~~~\n```\n~~~", "", "```", True),
    ],
)
def test_code_stands_without_its_fences(text: str, language: str, code: str, closed: bool) -> None:
    block = Block("code", text)
    assert (block.language, block.code, block.closed) == (language, code, closed)


MARKS = [
    "```",
    "```py\n",
    "``",
    "~~~",
    "| a ",
    "|",
    "---",
    "|--|",
    "\n",
    "\n\n",
    "a",
    " b",
    " ",
    ":-:",
    "`x`",
    "- ",
    "1. ",
]


@settings(max_examples=examples(600))
@given(st.lists(st.sampled_from(MARKS), max_size=16))
def test_what_was_decided_of_a_growing_answer_stays(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert "".join(block.text for block in blocks(text)) == text
    before: list[Block] = []
    for end in range(len(text) + 1):
        now = blocks(text[:end], whole=False) if end < len(text) else blocks(text)
        if before:
            assert now[: len(before) - 1] == before[:-1]
            assert now[len(before) - 1].kind == before[-1].kind
            assert now[len(before) - 1].text.startswith(before[-1].text)
        before = now


WORDS = [
    "so",
    "it. Is",
    "**bold**",
    "```py",
    "\n```\n",
    "\n| a | b |",
    "\n|---|---|",
    "\n\n",
    "\n- item",
    "x = 1",
    "5 % off",
]


@settings(max_examples=examples(400))
@given(st.lists(st.sampled_from(WORDS), max_size=16))
def test_the_voice_takes_no_word_back(words: list[str]) -> None:
    voice, heard, closed = Aloud(), "", []
    for place, word in enumerate(words):
        heard += voice.push(f" {word}" if place else word)
        assert heard == voice.text
        now = split_clauses(spoken(heard), complete=False)
        assert now[: len(closed)] == closed
        closed = now
    heard += voice.flush()
    assert heard == aloud(" ".join(words))
    assert split_clauses(spoken(heard), complete=True)[: len(closed)] == closed


def test_blocks_in_a_row_are_announced_once_and_others_each() -> None:
    assert spoken(f"{CODE}\n\n{CODE}{TABLE}") == "The code is on the screen. The table is on the screen."
    assert spoken(f"{CODE}And:\n{CODE}").count("on the screen") == 2
    assert spoken(f"Da:\n{TABLE}", "de") == "Da: Die Tabelle steht auf dem Bildschirm."


def test_an_announcement_is_a_clause_before_anything_follows() -> None:
    voice = Aloud()
    heard = voice.push("Here you go") + voice.push(" now:\n\n```python") + voice.push("\nx")
    assert split_clauses(spoken(heard), complete=False) == ["Here you go now:", "The code is on the screen."]
    assert voice.in_block
    assert voice.push(" = 1\n```\n\nSo") == "\nSo" and not voice.in_block


def test_a_block_is_heard_with_the_sentence_that_stands_for_it() -> None:
    text = f"So:\n\n{CODE}\nIt is {TABLE}"
    made = Progress(told=True)
    made.hear(text, "So:")
    assert text[: made.heard] == "So:"
    made.hear(text, "The code")
    assert text[: made.heard] == f"So:\n\n{CODE}"
    made.hear(text, "is on the screen.")
    made.hear(text, "It")
    assert text[: made.heard] == f"So:\n\n{CODE}\nIt"
    made.feed(7)  # as many words as the voice got
    assert text[: made.sent(text)] == f"So:\n\n{CODE}\nIt"


def test_announced_code_is_heard_as_it_grows() -> None:
    made, text = Progress(), "So:\n```sh\nls"
    made.hear(text, "So: The code is on the screen.")
    assert made.heard == len(text) and made.all_heard
    text += " -l\n```\nThen"
    made.follow(text)
    assert text[: made.heard] == "So:\n```sh\nls -l\n```\n"


def test_what_looked_like_words_and_is_a_table_is_indexed_again() -> None:
    made, text = Progress(), "See\n\n| a | b |"
    made.hear(text, "See")
    text += "\n|---|---|\n| 1 | 2 |"
    made.hear(text, "The table is on the screen.")
    assert made.heard == len(text)


def test_a_model_is_told_of_its_code_as_it_wrote_it() -> None:
    answer = f"So it **is**:\n\n{CODE}\n{TABLE}\nAll of it. And more."
    heard = spoken(answer).split()
    whole = intended_answer(answer, heard, whole=True)
    assert whole == f"So it is:\n\n{CODE}\n{TABLE}\nAll of it. And more."
    assert intended_answer(answer, heard[:8], whole=False) == f"So it is:\n\n{CODE.strip()}"
