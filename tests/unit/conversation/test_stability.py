"""Which revisions may be spoken before the turn is over, and what the back-end is told of an answer."""

import pytest

from app.conversation import events as e
from app.conversation.intended import intended_answer
from app.conversation.prompt import build_prompt
from app.conversation.stability import KnownRevision, is_stable
from app.conversation.transcript import Transcript
from app.conversation.turn import TakeFloor

QUESTION = "What is the capital of Norway"
STATEMENT = "I would like to see the capital of Norway"
ANSWER = "It is Oslo. It lies by the sea."


def asked(number: int, words: str, text: str = ANSWER, **more: bool) -> KnownRevision:
    return KnownRevision(number, 1, asked=words, text=text, done=True, order=number, **more)


@pytest.mark.parametrize(
    ("revisions", "ended", "stable"),
    [
        ([asked(1, "What", complete=True)], TakeFloor(1), True),
        ([asked(1, "What", wanted=True)], TakeFloor(1, told=True), True),
        ([asked(1, QUESTION)], TakeFloor(1, 1.0, f"{QUESTION}?"), True),
        ([asked(1, QUESTION)], TakeFloor(1, 1.0, f"{QUESTION}?", told=True), False),
        ([asked(1, QUESTION)], TakeFloor(1, 1.0, f"{QUESTION} and of Spain?"), False),  # it asks something else
        ([asked(1, QUESTION)], TakeFloor(1, 1.0), False),  # nobody knows whether there was more
        ([asked(2, QUESTION), asked(3, f"{QUESTION} and", "")], TakeFloor(1, 1.0, QUESTION), False),
        ([asked(1, STATEMENT)], TakeFloor(1, 1.0, STATEMENT), False),
        ([asked(2, STATEMENT), asked(1, "I would like to see")], TakeFloor(1, 1.0, STATEMENT), True),
        ([asked(2, STATEMENT), asked(1, "I would", "It is a wish.")], TakeFloor(1, 1.0, STATEMENT), False),
        ([asked(3, STATEMENT), asked(2, "I would like", ""), asked(1, "I would")], TakeFloor(1, 1.0), True),
        ([asked(2, STATEMENT), asked(1, "I would like", "It")], TakeFloor(1, 1.0), False),
    ],
)
def test_the_newest_answer_may_be_spoken_once_it_is_stable(
    revisions: list[KnownRevision], ended: TakeFloor, stable: bool
) -> None:
    assert is_stable(revisions[0], revisions, ended) is stable


def test_words_of_another_language_tell_nothing_of_whether_they_are_whole() -> None:
    foreign = KnownRevision(1, 1, asked=QUESTION, text=ANSWER, done=True, language="de")
    assert not is_stable(foreign, [foreign], TakeFloor(1, 1.0, f"{QUESTION}?"))
    assert not KnownRevision(1, 1, asked=STATEMENT, paused=False, language="de").may_stay
    assert KnownRevision(1, 1, asked=STATEMENT, paused=False).may_stay


def test_what_was_meant_is_the_sentences_that_were_begun() -> None:
    text = "It is **Oslo**. It lies by the sea, in the south. More is not known."
    assert intended_answer(text, "It is Oslo. It lies by the sea,".split(), whole=False) == (
        "It is Oslo. It lies by the sea, in the south."
    )
    assert intended_answer(text, ["It", "is", "Oslo."], whole=False) == "It is Oslo."
    assert intended_answer(text, ["by", "the", "sea,"], whole=True) == text.replace("*", "")
    assert intended_answer(text, "That is another thing.".split(), whole=True) == ""


def told(*said: tuple[str, int], interrupted: bool = False) -> tuple[str, str]:
    """What is shown of an answer that was spoken so, and what the back-end is told of it."""
    transcript = Transcript()
    answers = {1: " It is Bergen. It is old.", 2: " It is Oslo, in the south. It lies by the sea. It is new."}
    transcript.apply(e.TranscriptFinal(1.0, 1, "What is it?", 1.0))
    for number, text in answers.items():
        transcript.apply(e.OracleRequested(1.0, number, 1, "b", "m", "What", number == 2))
        transcript.apply(e.OracleDelta(1.0, number, text))
    transcript.apply(e.AssistantStarted(2.0, 1, said[0][1]))
    if not said[0][1]:
        transcript.apply(e.AssistantOpened(2.0, 1))
    for text, revision in said:
        for word in text.split():
            transcript.apply(e.AssistantSaid(3.0, 1, word, revision))
    transcript.apply(e.AssistantEnded(4.0, 1, interrupted))
    messages = build_prompt(transcript.turns, 2, "And then?")
    return transcript.turns[-1].text, " ".join(m.content for m in messages if m.role == "assistant")


def test_neither_an_opening_nor_a_bridge_is_told_to_the_backend() -> None:
    mended = (("Let me think.", 0), ("It is Bergen.", 1), ("Or rather, it is Oslo, in the south.", 2))
    shown, meant = told(*mended, ("It lies by the sea. It is new.", 2))
    assert shown.startswith("Let me think. It is Bergen. Or rather,")
    assert meant == "It is Oslo, in the south. It lies by the sea. It is new."
    assert told(*mended, interrupted=True)[1] == "It is Oslo, in the south."
    assert told(("It is Bergen.", 1), ("Or rather,", 2), interrupted=True)[1] == "It is Bergen."
    assert told(("Let me", 0), interrupted=True) == ("Let me", "")


def test_of_a_model_that_speaks_in_words_of_its_own_what_was_heard_is_told() -> None:
    assert told(("Oh that would be the city of Bergen I guess", 2))[1] == "Oh that would be the city of Bergen I guess"
