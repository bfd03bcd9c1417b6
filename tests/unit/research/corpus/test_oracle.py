"""The simulated oracle: unusable predictions are refused, and a check finds what would teach something wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.research.corpus.dialogue import Dialogue, OracleEvent, Utterance, Word, in_order
from app.research.corpus.oracle import HintRequest, check_dialogues, fault_of

pytestmark = pytest.mark.slow

ANSWER = "It lies in Cambridge near the river and opens at ten every day but Monday."


def question() -> Utterance:
    spoken = [Word(f"w{number}", 1.0 + 0.3 * number, 1.25 + 0.3 * number, "user") for number in range(12)]
    return Utterance("user", tuple(spoken))


@pytest.mark.parametrize(
    ("text", "share", "fault"),
    [
        ("It is near the water and you can walk there in ten minutes.", 0.3, ""),
        ("The hint says it is in Cambridge, so it is there.", 0.9, "speaks of the prompt"),
        (ANSWER, 0.3, "knows the answer too early"),
        (ANSWER, 0.9, "repeats the answer"),
        ("", 0.9, "empty"),
    ],
)
def test_unusable_predictions_are_refused_with_a_reason(text: str, share: float, fault: str) -> None:
    assert fault_of(text, HintRequest("where is the museum", share, ANSWER)) == fault


def good() -> Dialogue:
    asked = question()
    start = asked.end + 0.3
    answer = [Word(w, start + 0.3 * n, start + 0.3 * n + 0.25, "model") for n, w in enumerate(ANSWER.split())]
    events = [
        OracleEvent(2.0, "It is near the water and you can walk there in ten minutes.", 0.2),
        OracleEvent(asked.end + 0.3, ANSWER, 1.0, True),
    ]
    return Dialogue("good", in_order([*asked.words, *answer]), events, "", answer[-1].end + 1)


def test_a_sound_corpus_passes() -> None:
    result = check_dialogues([good()] * 5)
    assert result.ok and not result.faults and result.events == 10


@pytest.mark.parametrize(
    ("fault", "change"),
    [
        (
            "has heard words that come later",
            lambda d: d.events.append(OracleEvent(1.5, d.events.pop().text, 1.0, True)),
        ),
        ("an answer that the oracle never tells", lambda d: d.events.pop()),
        ("words are out of order", lambda d: d.words.reverse()),
        ("the true answer is another one", lambda d: d.events.append(OracleEvent(d.events.pop().at, "N.", 1.0, True))),
    ],
)
def test_garbage_is_found_and_fails_the_check(fault: str, change: Callable[[Dialogue], object]) -> None:
    dialogue = good()
    change(dialogue)
    result = check_dialogues([dialogue])
    assert fault in " ".join(result.faults) and not result.ok
