"""Revisions as the events tell of them: where the voice is in one, and what it took back of another."""

import random

from hypothesis import given
from hypothesis import strategies as st

from app.conversation import events as e
from app.conversation.record.progress import Progress
from app.conversation.record.revisions import RevisionLog
from app.conversation.record.transcript import CorrectionPoint, Passage, Transcript, Turn, passages
from app.conversation.speaking.clauses import spoken
from app.conversation.speaking.correction import taken_back
from tests.support.tables import cases

GPT, CLAUDE = ("OpenAI", "gpt"), ("Anthropic", "claude")
HANDED_OVER: list[e.Event] = [
    e.OracleRequested(1.0, 1, 1, *CLAUDE, "how high", True),
    e.OracleRequested(1.0, 2, 1, *GPT, "how high", True, True),
    e.OracleDelta(1.4, 1, "Mine."),
    e.OracleDelta(1.5, 2, "It is"),
    e.OracleDelta(1.6, 2, " high"),
    e.AssistantStarted(1.9, 1, 1),
    e.BackendChanged(2.0, *GPT, "handed"),
    e.OracleHandedOver(2.0, 2),
    e.OracleSuperseded(2.0, 1, 2),
    e.OracleEnded(2.0, 1, "superseded", 1),
    e.SecondaryChanged(2.0, *CLAUDE),
    e.OracleFed(2.1, 2, 3, 80.0),
    e.OracleDelta(2.2, 2, " indeed."),
    e.AssistantCorrected(2.3, 1, 2, "continued"),
    e.AssistantSaid(2.4, 1, "is high indeed.", 2),
    e.OracleEnded(2.5, 2, "complete", 4),
    e.OracleRequested(9.0, 4, 2, *GPT, "and now", True),
]


def log(events: list[e.Event], limit: int = 9) -> RevisionLog:
    made = RevisionLog(limit)
    for event in events:
        made.apply(event)
    return made


def test_a_revision_keeps_its_number_when_it_is_handed_over_and_becomes_the_newest() -> None:
    made = log(HANDED_OVER[:-1])
    assert [(r.number, r.order, r.secondary, r.status) for r in made.revisions] == [
        (1, 1, False, "superseded"),
        (2, 3, False, "complete"),
    ]
    two = made.revisions[1]
    assert (two.text, two.requested_at, two.first_words_at, two.drives_since) == ("It is high indeed.", 1.0, 1.5, 2.0)
    assert (made.revisions[0].by, two.fed_at, two.ended_at) == (2, 2.1, 2.5)
    assert (made.order(1), made.order(2), made.order(7)) == (1, 3, 0)


def test_what_becomes_of_a_revision() -> None:
    made = log([e.OracleRequested(1, n, 1, *GPT, "a", False) for n in (1, 2)])
    one, two = made.revisions
    assert (one.status, one.waiting) == ("waiting", True)
    for event in (e.OracleDelta(2, 1, "one"), e.OracleDelta(2, 1, "two"), e.OraclePromoted(2, 1)):
        made.apply(event)
    assert (one.text, one.words, one.final, one.status) == ("one two", 2, True, "streaming")
    made.apply(e.OracleSuperseded(3, 1, 2))
    made.apply(e.OracleEnded(4, 1, "complete", 4))
    assert (one.status, one.by, one.end_reason) == ("superseded", 2, "complete")
    made.apply(e.ToolCalled(5, 2, "clock", "{}"))
    assert not two.waiting
    made.apply(e.ToolReturned(6, 2, "clock", True, "noon", 1.0))
    assert two.waiting and two.waits_since == 6


def test_only_the_newest_are_kept() -> None:
    made = log([e.OracleRequested(n, n, 1, *GPT, "a", False) for n in range(1, 6)], limit=2)
    assert [r.number for r in made.revisions] == [4, 5]
    assert made.apply(e.OracleDelta(9, 1, "late")) is None


TEXT = "The highest mountain in Europe is Mount Elbrus, 5,642 metres high. It costs $5, or 20% off."


def heard(text: str, *said: str) -> str:
    made = Progress()
    for words in said:
        made.hear(text, words)
    return text[: made.heard]


def test_what_reached_the_front_end_is_counted_in_words_or_is_all() -> None:
    made = Progress(reported=True)
    assert made.sent(TEXT) == 0
    made.feed(3)
    assert TEXT[: made.sent(TEXT)] == "The highest mountain"
    made.feed(100)
    assert made.sent(TEXT) == len(TEXT)
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


@cases(
    "said, reached",
    (("The", "highest"), "The highest"),
    (("the HIGHEST mountain,",), "The highest mountain"),
    (("The highest mountain in Europe is Mount Elbrus", ","), TEXT[:47]),
    ((spoken(TEXT),), TEXT),
    (("The highest mountain in Europe is Mount Elbrus, five thousand six hundred metres high",), TEXT[:66]),
    (("Well, the highest peak in Europe",), "The highest mountain in Europe"),
    (("Or rather, no:",), ""),
    (("Mount Elbrus", "5,642"), TEXT[:53]),
)
def test_what_was_heard_is_found_however_it_was_spelt(said: tuple[str, ...], reached: str) -> None:
    assert heard(TEXT, *said) == reached


def test_one_word_that_is_also_much_further_on_does_not_run_ahead() -> None:
    text = "One two three four five six seven eight nine and at last ten."
    assert heard(text, "ten") == ""
    assert heard(text, "at", "last") == "One two three four five six seven eight nine and at last"


def test_a_growing_text_is_followed_and_another_answer_continues_where_an_older_one_was() -> None:
    made = Progress()
    made.hear("It is", "It is")
    assert made.heard == 5
    made.hear("It is noon, in Rome.", "noon, in")
    assert made.heard == len("It is noon, in")
    made = Progress()
    assert made.go_on(TEXT, "The highest mountain in Europe is")
    assert TEXT[: made.heard] == "The highest mountain in Europe is"
    made.hear(TEXT, "Mount")
    assert TEXT[: made.heard] == "The highest mountain in Europe is Mount"
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
        made, last = Progress(reported=True), 0
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


def test_a_correction_strikes_from_its_first_word_on_and_never_an_opening() -> None:
    texts = {1: "It is Lyon.", 2: "It is Paris."}
    before = answered((1, "It is Lyon."), (2, ""), texts=texts, corrected=(2,))
    assert withdrawn(before) == []
    assert withdrawn(answered((1, "It is Lyon."), (2, "Or"), texts=texts, corrected=(2,))) == ["It is Lyon."]
    turn = answered((0, "Let me think."), (1, "It is Lyon."), (2, "Or rather, it is Paris."),
                    texts={1: "It is Lyon.", 2: "It is Paris."}, corrected=(2,))  # fmt: skip
    assert withdrawn(turn) == ["It is Lyon."]


def test_a_correction_may_be_corrected() -> None:
    turn = answered(
        (1, "It is Lyon."),
        (2, "Or rather, it is Nice."),
        (3, "No, wait: it is Paris. It is big."),
        texts={1: "It is Lyon.", 2: "It is Nice.", 3: "It is Paris. It is big."},
        corrected=(2, 3),
    )
    assert withdrawn(turn) == ["It is Lyon. Or rather, it is Nice."]
    assert [p.text.strip() for p in turn.passages if p.replaces and not p.withdrawn] == [
        "No, wait: it is Paris. It is big."
    ]


def test_other_languages_have_their_own_bridges() -> None:
    turn = answered(
        (1, "Das ist einfach. Es sind drei Äpfel."),
        (2, "Oder besser gesagt: es sind zwei Äpfel."),
        texts={1: "Das ist einfach. Es sind drei Äpfel.", 2: "Das ist einfach. Es sind zwei Äpfel."},
        corrected=(2,),
        language="de",
    )
    assert withdrawn(turn) == ["Es sind drei Äpfel."]


WORDS = st.lists(st.sampled_from(["one", "two,", "three.", "–", "Five;", "six?", "é", "..."]), max_size=14)


@given(WORDS, WORDS)
def test_each_word_is_reported_once(said: list[str], newer: list[str]) -> None:
    assert len(taken_back(" ".join(said), " ".join(newer))) == len(said)
    text = " ".join([*said, *newer])
    point = CorrectionPoint(len(" ".join(said)) + bool(said), " ".join(newer), "en")
    parts = passages(text, 0, [point])
    assert "".join(part.text for part in parts) == text
    assert not any(part.replaces and part.withdrawn for part in parts)
