"""Code and tables while an answer arrives, for the voice and for the screen; and how documents are shared out."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.conversation import events as e
from app.conversation.languages import CODES, language
from app.conversation.markdown import Block, blocks, ends_in_block
from app.conversation.prompt import Document, beginning, given_parts, given_words, material, plain_name
from app.conversation.record.progress import Progress
from app.conversation.record.transcript import Transcript, Turn
from app.conversation.speaking.clauses import GrowingClauses, aloud, clauses_of, spoken
from tests.support.examples import examples
from tests.support.tables import cases

CODE = "```python\nprint('a | b')\n```\n"
TABLE = "| a | b |\n|---|:-:|\n| 1 | 2 |\n"


@cases(
    "text, found",
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
)
def test_blocks_are_distinguished_from_prose(text: str, found: list[tuple[str, str]]) -> None:
    assert [(block.kind, block.text) for block in blocks(text)] == found


@cases(
    "text, language, code, closed",
    ("```python\nx = 1\n```\n", "python", "x = 1", True),
    ("   ```sh title=x\n   ls\n     -l\n   ```", "sh", "ls\n  -l", True),
    ("```\nx\n\n\ny", "", "x\n\n\ny", False),
    ("```c++\nx;```\n", "c++", "x;", False),
    ("```ls -l```", "", "ls -l", True),
    ("```", "", "", False),
    ("~~~\n```\n~~~", "", "```", True),
)
def test_code_stands_without_its_fences(text: str, language: str, code: str, closed: bool) -> None:
    block = Block("code", text)
    assert (block.language, block.code, block.closed) == (language, code, closed)


MARKS = "```·```py\n·``·~~~·| a ·|·---·|--|·\n·\n\n·a· b· ·:-:·`x`·- ·1. ".split("·")


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


WORDS = "so·it. Is·**bold**·```py·\n```\n·\n| a | b |·\n|---|---|·\n\n·\n- item·x = 1·5 % off".split("·")


@settings(max_examples=examples(400))
@given(st.lists(st.sampled_from([*WORDS, "C#", "x < 5:", "$4", "it. - I", "2. So", "end. 3.", "§."]), max_size=24))
@example(["so", "so", "so", "x = 1", "so", "\n\n"])
def test_the_voice_takes_no_word_back(words: list[str]) -> None:
    answer, before, closed, growing = "", "", [], GrowingClauses()
    for place, word in enumerate(words):
        answer += f" {word}" if place else word
        heard = aloud(answer, whole=False)
        assert heard.startswith(before)
        before, now = heard, clauses_of(answer, complete=False)
        assert growing.of(answer, complete=False) == now
        kept = [clause for clause in closed if " on the screen" not in clause.spoken]  # code may still grow
        assert [clause for clause in now if clause in kept] == kept, "in both forms"
        assert [one.spoken for one in now[: len(closed)]] == [one.spoken for one in closed]
        closed = now
    assert aloud(answer).startswith(before)
    last = clauses_of(answer, complete=True)
    assert growing.of(answer, complete=True) == last
    assert [clause.spoken for clause in last[: len(closed)]] == [clause.spoken for clause in closed]


@settings(max_examples=examples(400))
@given(st.lists(st.sampled_from([*WORDS, "C#", "x < 5:", "$4", "it. - I"]), max_size=16))
def test_the_clauses_of_an_answer_cover_it_without_gaps(words: list[str]) -> None:
    answer = " ".join(words)
    clauses = clauses_of(answer, complete=True)
    reached = 0
    for clause in clauses:
        assert clause.begin == reached and len(clause.ends) == len(clause.spoken.split())
        assert list(clause.ends) == sorted(clause.ends) and clause.ends[0] >= reached
        reached = clause.ends[-1]
    assert reached == (len(answer) if clauses else 0)


def test_blocks_in_a_row_are_announced_once_and_at_once() -> None:
    assert spoken(f"{CODE}\n\n{CODE}{TABLE}") == "The code is on the screen. The table is on the screen."
    assert spoken(f"{CODE}And:\n{CODE}").count("on the screen") == 2
    assert spoken(f"Da:\n{TABLE}", "de") == "Da: Die Tabelle steht auf dem Bildschirm."
    answer = "Here you go now:\n\n```python\nx"
    clauses = clauses_of(answer, complete=False)
    assert [clause.spoken for clause in clauses] == ["Here you go now:", "The code is on the screen."]
    assert ends_in_block(answer) and not ends_in_block(f"{answer} = 1\n```\n\nSo")


def test_a_block_is_heard_with_the_sentence_that_stands_for_it() -> None:
    text = f"So:\n\n{CODE}\nIt is {TABLE}"
    made = Progress(reported=True)
    made.hear(text, "So:")
    assert text[: made.heard] == "So:"
    made.hear(text, "The code")
    assert text[: made.heard] == f"So:\n\n{CODE}"
    made.hear(text, "is on the screen.")
    made.hear(text, "It")
    assert text[: made.heard] == f"So:\n\n{CODE}\nIt"
    made.feed(7)
    assert text[: made.sent(text)] == f"So:\n\n{CODE}\nIt"


def test_what_looked_like_words_and_is_a_table_is_indexed_again() -> None:
    made, text = Progress(), "See\n\n| a | b |"
    made.hear(text, "See")
    text += "\n|---|---|\n| 1 | 2 |"
    made.hear(text, "The table is on the screen.")
    assert made.heard == len(text)


SHELL = "```sh\nls -l\n```"
ANSWER = f"It is **so**, see `a b`:\n\n1. [The docs](http://a.b) say it.\n2. So does *he*:\n\n{SHELL}\n\nThat costs $5."


def asked(answer: str, revision: int = 1, *, complete: bool = True) -> Transcript:
    transcript = Transcript()
    give(transcript, answer, revision, complete=complete)
    transcript.apply(e.AssistantStarted(2.0, 1, revision))
    return transcript


def give(transcript: Transcript, answer: str, revision: int, *, complete: bool = True) -> None:
    transcript.apply(e.OracleRequested(1.0, revision, 1, "B", "m", "How?", True))
    transcript.apply(e.OracleDelta(1.5, revision, answer))
    if complete:
        transcript.apply(e.OracleEnded(1.6, revision, "complete", 9))


def say(transcript: Transcript, words: str, revision: int = 1) -> Turn:
    for word in words.split():
        transcript.apply(e.AssistantSaid(3.0, 1, word, revision))
    return transcript.turns[-1]


def test_what_was_heard_grows_word_by_word_and_is_always_well_formed() -> None:
    transcript, before = asked(ANSWER), ""
    for word in spoken(ANSWER).split():
        now = say(transcript, word).written
        assert len(now) >= len(before) - 4, "only a closing marker moves on"
        assert now.count("**") % 2 == now.count("`") % 2 == 0 and "](" not in now.replace("](http://a.b)", "")
        assert now.startswith("It") and (SHELL in now or "ls -l" not in now)
        before = now
    transcript.apply(e.AssistantEnded(9.0, 1, False))
    assert transcript.turns[-1].written == ANSWER


PLAIN = "Learn C# first, and use it if x < 5. It costs $5 a month.\n\nThat is all."


def test_the_front_end_reports_what_its_words_stand_for() -> None:
    transcript, reached = asked(PLAIN), 0
    for clause in clauses_of(PLAIN, complete=True):
        for word, end in zip(clause.spoken.split(), clause.ends, strict=True):
            transcript.apply(e.AssistantSaid(3.0, 1, word, 1, False, reached, end))
            reached = end
            turn = transcript.turns[-1]
            assert turn.written == PLAIN[:reached].strip()
            assert PLAIN.startswith(turn.meant) and turn.meant.endswith((".", "5.", "all."))
    assert reached == len(PLAIN)


def test_a_bridge_stands_for_nothing_that_the_model_wrote() -> None:
    transcript = asked("It is C.")
    transcript.apply(e.AssistantSaid(3.0, 1, "It is C.", 1, False, 0, 8))
    give(transcript, "It is C#, not C.", 2)
    transcript.apply(e.AssistantCorrected(4.0, 1, 2, "corrected"))
    transcript.apply(e.AssistantSaid(4.0, 1, "Or rather,", 2, False, 0, 0))
    transcript.apply(e.AssistantSaid(4.0, 1, "it is C sharp,", 2, False, 0, 9))
    turn = transcript.turns[-1]
    assert turn.written == "It is C. Or rather, it is C#,"
    assert turn.meant == "It is C#, not C."


def test_what_a_model_reads_of_its_answer_and_an_opening_is_no_markdown() -> None:
    answer = f"So it **is**, e.g. here:\n\n{CODE}\nAll of *it*. And more.\n- one\n- two"
    for words, end in (("So it", CODE), ("So it is, for example here: The code", CODE), ("All of", "*it*.")):
        turn = say(asked(answer), words)
        wanted = answer[: answer.index(end) + len(end)].strip()
        assert turn.meant == (answer[: answer.index("\n\n")] if words == "So it" else wanted)
    transcript = asked("It is **so**.")
    transcript.apply(e.AssistantOpened(2.0, 1))
    say(transcript, "Well, 2*3*4.", revision=0)
    turn = say(transcript, "It is so.")
    assert turn.written == "Well, 2\\*3\\*4. It is **so**."
    assert turn.meant == "It is **so**."


@pytest.mark.parametrize(
    ("opening", "answer", "shown"),
    [
        ("Hmm,", "The capital is Paris.", "Hmm, the capital is Paris."),
        ("Hmm,", "Paris is the capital.", "Hmm, Paris is the capital."),
        ("Let me see.", "The capital is Paris.", "Let me see. The capital is Paris."),
    ],
)
def test_an_answer_continues_an_opening_without_a_capital(opening: str, answer: str, shown: str) -> None:
    transcript = asked(answer)
    transcript.apply(e.AssistantOpened(2.0, 1))
    say(transcript, opening, revision=0)
    turn = say(transcript, answer)
    assert turn.written == shown and "".join(one.text for one in turn.passages) == shown and turn.meant == answer


def test_a_front_end_with_words_of_its_own_shows_these() -> None:
    transcript = asked("The **capital** of France is Paris.")
    turn = say(transcript, "Well you know they call that great city by the river Paris I think")
    assert turn.written == turn.text


def test_a_newer_revision_continues_or_corrects_what_is_shown() -> None:
    transcript = asked("It is *one* of the oldest cities.")
    say(transcript, "It is one of")
    give(transcript, "It is **one** of the _largest_ cities:\n\n- Rome", 2)
    transcript.apply(e.AssistantCorrected(4.0, 1, 2, "continued"))
    say(transcript, "the largest cities: Rome", 2)
    transcript.apply(e.AssistantEnded(9.0, 1, False))
    assert transcript.turns[-1].written == "It is *one* of the _largest_ cities:\n\n- Rome"
    transcript = asked("It is *noon*. More.")
    say(transcript, "It is noon.")
    give(transcript, "Look: it is **one** o'clock.\n\n- Really", 2)
    transcript.apply(e.AssistantCorrected(4.0, 1, 2, "corrected"))
    say(transcript, "Or rather, it is one o'clock. Really", 2)
    transcript.apply(e.AssistantEnded(9.0, 1, False))
    assert transcript.turns[-1].written == "It is *noon*. Or rather, it is **one** o'clock.\n\n- Really"


def test_announced_code_grows_with_its_stream() -> None:
    transcript = asked("So: ```sh\nls", complete=False)
    say(transcript, "So: The code is on the screen.")
    assert transcript.turns[-1].written == "So:\n\n```sh\nls\n```\n"
    assert transcript.apply(e.OracleDelta(4.0, 1, " -l\necho")) is transcript.turns[-1]
    assert transcript.turns[-1].written == "So:\n\n```sh\nls -l\necho\n```\n"


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
def test_it_is_introduced_in_the_language_of_the_conversation(code: str) -> None:
    own = material([Document("a", "x")], 100, code)
    assert own.startswith(language(code).material) and (code == "en") == ("never instructions" in own)


@pytest.mark.parametrize("name", ["/home/me/a.txt", r"C:\Users\me\a.txt", "a.txt"])
def test_a_name_has_no_folder(name: str) -> None:
    assert plain_name(name) == "a.txt"


def test_a_document_is_not_written_into_logs() -> None:
    assert "secret" not in repr(Document("secret.txt", "a secret"))
