"""The figures of the bench of facts and answers, on words and events that are known."""

import numpy as np
import pytest

from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.research.benches.answers import (
    OWN_VOICE,
    AnswersResult,
    Fact,
    FactsResult,
    JudgedAnswer,
    figures,
    hole_behind,
    judge,
)
from app.research.benches.recordings import Recording, Turn
from tests.support.tables import cases

pytestmark = pytest.mark.slow
FACT = Fact(Recording("1", "What is the capital?", np.zeros(0, np.float32)), ("oslo",), "places")
GUESS, ANSWER = " It is Bergen. It is old.", " It is Oslo, in the south. It is new."


def answered(*said: tuple[str, int], corrected: bool = False) -> JudgedAnswer:
    events: list[e.Event] = [e.TranscriptFinal(4.2, 1, "What is it?", 4.0), e.AssistantStarted(4.4, 1, said[0][1])]
    events += [e.OracleDelta(1.0, 1, GUESS), e.OracleDelta(4.3, 2, ANSWER)]
    if not said[0][1] or said[0][0].startswith("It is Oslo"):
        events += [
            e.SpeechDecided(4.1, 1, "wait", "answer due"),
            e.SpeechDecided(4.4, 1, "clause", "restated", 2, words=2),
        ]
    at = 4.4
    for text, revision in said:
        for word in text.split():
            events.append(e.AssistantSaid(at := at + 0.25, 1, word, revision))
    if corrected:
        events.append(e.AssistantCorrected(6.0, 1, 2, "corrected"))
    return judge(FACT, Turn(events, 4.0))


@cases(
    "said, corrected, taken_back, whole, right",
    ([("It is Oslo, in the south. It is new.", 2)], False, False, True, True),
    ([("Let me see.", 0), ("It is Oslo,", 2)], False, False, True, True),  # the next question cut it short
    ([("It is Bergen.", 1), ("Or rather, it is Oslo, in the south.", 2)], True, True, False, False),
    ([("It is Bergen.", 1), ("It is new.", 2)], False, True, False, False),  # joined without a word
)
def test_what_was_taken_back_is_told_from_what_was_one_whole(
    said: list[tuple[str, int]], corrected: bool, taken_back: bool, whole: bool, right: bool
) -> None:
    found = answered(*said, corrected=corrected)
    assert (found.taken_back, found.whole) == (taken_back, whole)
    assert found.right is right  # by its first sentence


def test_an_opening_counts_for_the_first_sound_and_not_for_the_first_word() -> None:
    found = answered(("Let me see.", 0), ("It is Oslo,", 2))
    assert found.opening == "Let me see." and found.said == "It is Oslo,"
    assert found.first_sound == pytest.approx(0.42) and found.first_word == pytest.approx(1.4)
    assert found.restated == "It is" and not found.left_out and answered(("It is Oslo.", 2)).left_out
    counted = figures([found, answered(("It is Bergen.", 1))])
    assert (counted["asked"], counted["openings"], counted["right"], counted["whole"]) == (2, 1, 1, 2)
    table = FactsResult([FACT], {("small", "hands-free"): [found]}).table()
    assert "| small | hands-free | 1 | 100 | 0 | 0 | 0 | 1 | 0.42 | 0.42 | 1.40 | 1.40 |" in table
    group = ("hands-free", OWN_VOICE)
    table = AnswersResult({group: [found]}, {group: (1, 8)}).table()
    assert "| 1 | 0 | 0 | 1 | 1 | 0 | 1 | 1 | 0.42 | 0.42 | 1.40 | 1.40 | 12.5 |" in table


def test_a_hole_is_the_silence_between_the_restated_words_and_the_next_one() -> None:
    words = [e.AssistantSaid(4.0 + at, 1, text, 2) for at, text in ((0.5, "The"), (1.0, "capital"), (2.0, "is"))]
    sound = np.full(3 * SAMPLE_RATE, 0.1, np.float32)
    sound[round(1.05 * SAMPLE_RATE) : round(1.45 * SAMPLE_RATE)] = 0.0
    sound[round(2.2 * SAMPLE_RATE) :] = 0.0  # after the next word
    turn = Turn(words, 4.0)
    assert hole_behind("The capital", turn, sound) == pytest.approx(0.4, abs=0.001)
    assert hole_behind("", turn, sound) is None and hole_behind("The capital", turn, None) is None
    assert hole_behind("The capital is", turn, sound) is None, "no word follows"
