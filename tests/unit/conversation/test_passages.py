"""What the voice took back of an answer, and what it said in its place."""

from hypothesis import given
from hypothesis import strategies as st

from app.conversation import events as e
from app.conversation.correction import taken_back
from app.conversation.passages import CorrectionPoint, Passage, passages
from app.conversation.transcript import Transcript, Turn


def answered(
    *said: tuple[int, str], texts: dict[int, str], corrected: tuple[int, ...] = (), language: str = "en"
) -> Turn:
    """The turn of an answer whose revisions (number, words) were heard in this order."""
    transcript = Transcript()
    for number, text in texts.items():
        transcript.apply(e.OracleRequested(1.0, number, 1, "B", "m", "why", True, language=language))
        transcript.apply(e.OracleDelta(1.1, number, text))
    transcript.apply(e.AssistantStarted(2.0, 1, 1))
    for number, text in said:
        if number in corrected:
            assert transcript.apply(e.AssistantCorrected(3.0, 1, number, "corrected")) is None
        for word in text.split():
            transcript.apply(e.AssistantSaid(3.0, 1, word, number))
    turn = transcript.last("assistant")
    assert turn is not None and "".join(passage.text for passage in turn.passages) == turn.text
    return turn


def withdrawn(turn: Turn) -> list[str]:
    return [passage.text for passage in turn.passages if passage.withdrawn]


def test_without_a_correction_an_answer_is_one_passage() -> None:
    turn = answered((1, "It is Paris."), (2, "It lies on the Seine."), texts={1: "It is Paris.", 2: "It is Paris."})
    assert turn.passages == (Passage("It is Paris. It lies on the Seine."),)
    assert Turn("assistant", 1, 0.0).passages == ()
    assert Turn("user", 1, 0.0, "Why not?").passages == (Passage("Why not?"),)


def test_a_sentence_that_was_broken_off_is_taken_back_and_replaced() -> None:
    turn = answered(
        (1, "The capital is Syd–"),
        (2, "– or rather, the capital is Canberra."),
        texts={1: "The capital is Sydney.", 2: "The capital is Canberra."},
        corrected=(2,),
    )
    assert turn.passages == (
        Passage("The capital is Syd–", withdrawn=True),
        Passage(" – or rather, the capital is Canberra.", replaces=True),
    )


def test_the_sentences_that_both_answers_begin_with_stay() -> None:
    turn = answered(
        (1, "Australia is a large country. The capital is Sydney. It is by the sea."),
        (2, "Or rather, the capital is Canberra. It is inland."),
        texts={
            1: "Australia is a large country. The capital is Sydney. It is by the sea.",
            2: "Australia is a large country. The capital is Canberra. It is inland.",
        },
        corrected=(2,),
    )
    assert [(p.text.strip(), p.withdrawn, p.replaces) for p in turn.passages] == [
        ("Australia is a large country.", False, False),
        ("The capital is Sydney. It is by the sea.", True, False),
        ("Or rather, the capital is Canberra. It is inland.", False, True),
    ]


def test_it_is_struck_from_the_bridge_s_first_word_on_and_not_before() -> None:
    texts = {1: "It is Lyon.", 2: "It is Paris."}
    before = answered((1, "It is Lyon."), (2, ""), texts=texts, corrected=(2,))
    assert withdrawn(before) == []
    assert withdrawn(answered((1, "It is Lyon."), (2, "Or"), texts=texts, corrected=(2,))) == ["It is Lyon."]


def test_a_correction_may_be_corrected() -> None:
    turn = answered(
        (1, "It is Lyon."),
        (2, "Or rather, it is Nice."),
        (3, "No, wait: it is Paris. It lies on the Seine."),
        texts={1: "It is Lyon.", 2: "It is Nice.", 3: "It is Paris. It lies on the Seine."},
        corrected=(2, 3),
    )
    assert withdrawn(turn) == ["It is Lyon. Or rather, it is Nice."]
    assert [p.text.strip() for p in turn.passages if p.replaces and not p.withdrawn] == [
        "No, wait: it is Paris. It lies on the Seine."
    ]


def test_an_opening_is_never_taken_back() -> None:
    turn = answered((0, "Let me think."), (1, "It is Lyon."), (2, "Or rather, it is Paris."),
                    texts={1: "It is Lyon.", 2: "It is Paris."}, corrected=(2,))  # fmt: skip
    assert withdrawn(turn) == ["It is Lyon."]


def test_other_languages_and_markup_are_compared_as_they_are_spoken() -> None:
    turn = answered(
        (1, "Das ist einfach. Es sind drei Äpfel."),
        (2, "Oder besser gesagt: es sind zwei Äpfel."),
        texts={1: "Das ist einfach. Es sind drei Äpfel.", 2: "**Das ist einfach.** Es sind *zwei* Äpfel."},
        corrected=(2,),
        language="de",
    )
    assert withdrawn(turn) == ["Es sind drei Äpfel."]


def test_going_on_with_another_revision_takes_nothing_back() -> None:
    transcript = Transcript()
    transcript.apply(e.AssistantSaid(1.0, 1, "It is Paris.", 1))
    transcript.apply(e.AssistantCorrected(2.0, 1, 2, "continued"))
    transcript.apply(e.AssistantSaid(3.0, 1, "It lies on the Seine.", 2))
    assert [passage.withdrawn for passage in transcript.turns[0].passages] == [False]


WORDS = st.lists(st.sampled_from(["one", "two,", "three.", "–", "Five;", "six?", "é", "..."]), max_size=14)


@given(WORDS, WORDS)
def test_each_word_is_told_of_once(said: list[str], newer: list[str]) -> None:
    assert len(taken_back(" ".join(said), " ".join(newer))) == len(said)
    text = " ".join([*said, *newer])
    point = CorrectionPoint(len(" ".join(said)) + bool(said), " ".join(newer), "en")
    parts = passages(text, 0, [point])
    assert "".join(part.text for part in parts) == text
    assert not any(part.replaces and part.withdrawn for part in parts)
