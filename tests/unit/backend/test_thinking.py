"""Thinking and dialogue tokens are taken out of an answer, and answers that speak about such marks stay whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.backend.thinking import AnswerFilter

PIECES = (None, 1, 3, 7)


def filtered(text: str, piece: int | None = None, **known: bool | None) -> tuple[str, AnswerFilter]:
    """What is left of `text`, which arrives in pieces of so many letters."""
    one = AnswerFilter(**known)  # type: ignore[arg-type]
    size = piece or max(1, len(text))
    return "".join(one.push(text[i : i + size]) for i in range(0, len(text), size)) + one.flush(), one


LEAKS = {
    "<think>hm, so</think>Paris.": "Paris.",
    "<think>\nhm\n</think>\n\nParis.": "Paris.",
    "  <think>hm</think> Paris.": "Paris.",
    "<thinking>x y</thinking> Paris.": "Paris.",
    "<thought>x</thought>Paris.": "Paris.",
    "[THINK]x y z[/THINK]Paris.": "Paris.",
    "<THINK>x</THINK>Paris.": "Paris.",
    "<reasoning>x</reasoning>Paris.": "Paris.",
    "<seed:think>x</seed:think>Paris.": "Paris.",
    "◁think▷x◁/think▷Paris.": "Paris.",
    "<think effort='low'>x</think>Paris.": "Paris.",
    "<ANALYSIS>x</ANALYSIS>\nParis.": "Paris.",
    "<reflection>x</reflection>Paris.": "Paris.",
    "<inner_monologue>x</inner_monologue>Paris.": "Paris.",
    "<|begin_of_thought|>x<|end_of_thought|>Paris.": "Paris.",
    "<|thinking_start|>x<|thinking_end|>Paris.": "Paris.",
    "<|think|>x<|/think|>Paris.": "Paris.",
    "Sure. <think>x y.</think>Paris.": "Sure. Paris.",
    "Okay, <think>\nx</think> Paris.": "Okay,  Paris.",
    "{think}x{/think}Paris.": "Paris.",
    "<<think>>x<</think>>Paris.": "Paris.",
    "<THINK >x</THINK >Paris.": "Paris.",
    "<think/>Paris.": "Paris.",
    "<internal_thoughts>x</internal_thoughts>Paris.": "Paris.",
    "<thinking_process>x</thinking_process>Paris.": "Paris.",
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Paris.<|return|>": "Paris.",
    "<|channel>thought\nhm hm\n<channel|>Paris.": "Paris.",
    "The capital is Paris.<|im_end|>\n<|im_start|>user And Spain?<|im_end|>": "The capital is Paris.",
    "Paris<|eot_id|>": "Paris",
    "Paris.</s>": "Paris.",
    "Paris. <end_of_turn>\n<start_of_turn>user": "Paris. ",
    "Paris.<｜end▁of▁sentence｜>": "Paris.",
    "Paris.<|endoftext|>Human: And Spain?": "Paris.",
    "<|im_start|>assistant\nParis is it.<|im_end|>": "Paris is it.",
    "<|start_header_id|>assistant<|end_header_id|>\n\nParis.<|eot_id|>": "Paris.",
    "Paris.\n[INST] And? [/INST]": "Paris.\n",
}


@pytest.mark.parametrize("text", LEAKS)
@pytest.mark.parametrize("piece", PIECES)
def test_marks_are_taken_out_in_any_spelling_however_they_are_cut(text: str, piece: int | None) -> None:
    left, _ = filtered(text, piece)
    assert left == LEAKS[text]


UNOPENED = {
    "The user asks for the capital of France. It is Paris.</think>\n\nParis.": "Paris.",
    "Okay, so I need to find it. France. Right.\n</think>\nParis is it. Good.": "Paris is it. Good.",
    "France, capital is Paris?</think>Paris.": "Paris.",
    "Hmm. Let me see. x.</thinking>Paris.": "Paris.",
    "We need the capital of a country in Europe. [/THINK] Paris.": "Paris.",
    "analysisWe need the capital. Paris it is.assistantfinalParis.": "Paris.",
}


@pytest.mark.parametrize("text", UNOPENED)
@pytest.mark.parametrize("piece", PIECES)
def test_thinking_without_its_opening_is_taken_out_of_the_first_answer(text: str, piece: int | None) -> None:
    left, one = filtered(text, piece, unopened=None)
    assert left == UNOPENED[text] and one.closed_unopened and one.thought


@pytest.mark.parametrize("piece", PIECES)
def test_a_model_that_is_known_for_it_may_think_for_as_long_as_it_wants(piece: int | None) -> None:
    text = "France is a country. " * 40 + "</think>\nParis."
    assert filtered(text, piece, unopened=True)[0] == "Paris."
    left, one = filtered(text, piece, unopened=None)
    assert left == text and one.closed_unopened, "it is known from now on"
    assert filtered("Paris, as always.", piece, unopened=True)[0] == "Paris, as always.", "it may not think at all"


def test_words_are_let_through_as_they_come() -> None:
    one = AnswerFilter()
    assert [one.push(word) for word in ("Paris", " is", " it", " for x", " < 5", " and", " [1", "]", " then")] == [
        "Paris", " is", " it", " for x", " < 5", " and", " [1", "]", " then",
    ]  # fmt: skip
    one = AnswerFilter(unopened=None)
    assert one.push("Paris is it") == "" and one.push(". And") == "Paris is it. And"


ABOUT = """The <think> tag opens a block, and </think> closes it.
<think> is a tag that some models write.
</think> is the closing one.
Models such as R1 write <think> before their thoughts and </think> after them.
Use `<think>` and `</think>`.
The token <|im_end|> ends a turn.
<|im_end|> is a token that ends a turn.
Tokens such as <|eot_id|>, <|im_end|> and </s> end a turn.
It is called "<think>", and it is a tag.
It is called “<think>”, and it is a tag.
„<think>“ heißt die Marke.
« <think> » ouvre la pensée, et « </think> » la ferme.
In HTML, </s> closes a strike-through.
Paris is the capital. A <think> block would come first.
The mark </think> comes last.
A list: <|im_start|>, <|im_end|>.
Write <|im_start|>user to begin a turn.
x <y and z> w
[1] is a note. [Analysis] is a heading.
[Reasoning] It is warm, since the sun shines.
If a < b and c > d then stop.
The template has [INST] and [/INST] around the question.
First comes <start_of_turn> and then the role.
Is </think> needed? Yes.
The stop token is <|endoftext|>, as in GPT-2.
Between <reasoning> and </reasoning> stands what the user doesn't see.
There are two: <thinking> and <thought>.
It must close what it opens: <think> with </think>.
Some write ◁think▷ in place of it.
You can filter it with "<think>.*?</think>".
The DeepSeek template ends with <｜end▁of▁sentence｜>, which is one token.
A chat has roles. <|im_start|> begins each.
He said: "</think> is odd."
In XML, <analysis> and <summary> are allowed names.
My thinking is simple: buy bread.
Der Block steht zwischen <think> und </think>.
La etiqueta <think> es de otro modelo.
Il tag </think> chiude il blocco.
Generics in Java look like List<String> and in C++ like vector<int>.
The <s> and </s> tokens are those of SentencePiece.""".split("\n")
CODE = [
    "```\n<think>x</think>\n```\nThat is how it looks.",
    "Here it is:\n```html\n<s>no</s> <|im_end|>\n```\nIn HTML.",
]


@pytest.mark.parametrize("text", ABOUT + CODE)
@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("unopened", [False, None])
def test_an_answer_about_such_marks_stays_whole(text: str, piece: int | None, unopened: bool | None) -> None:
    assert filtered(text, piece, unopened=unopened)[0] == text


def test_a_block_behind_the_first_sentence_is_only_taken_out_of_a_model_that_thinks() -> None:
    text = "The capital of France is Paris.\n<think>Was that right?</think>\nYes."
    assert filtered(text)[0] == text
    assert filtered(text, thinks=True)[0] == "The capital of France is Paris.\n\nYes."


def test_thoughts_without_end_are_no_answer() -> None:
    left, one = filtered("<think>and so on and on")
    assert left == "" and one.thinking and one.thought == "and so on and on"


MARKS = ["<think>", "</think>", "<", "</", "think", ">", " ", "\n", "é", "<|im_end|>", "Paris", ".", '"', "`", "[", "]"]


@given(st.lists(st.sampled_from(MARKS), max_size=12), st.data(), st.sampled_from([False, None, True]))
def test_any_chunking_gives_the_same_text(pieces: list[str], data: st.DataObject, unopened: bool | None) -> None:
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    whole, cut = AnswerFilter(unopened=unopened), AnswerFilter(unopened=unopened)
    expected = whole.push(text) + whole.flush()
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join(map(cut.push, chunks)) + cut.flush() == expected
