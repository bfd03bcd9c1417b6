"""The simulated oracle: causal times, prompts by level, and a check that finds what would teach something wrong."""

import random

import pytest

from app.research.corpus.dialogue import Dialogue, OracleEvent, Utterance, Word, in_order
from app.research.corpus.oracle import (
    EARS,
    HintRequest,
    check_dialogues,
    cleaned,
    fault_of,
    level_of,
    prompt_of,
    request_times,
)
from tests.support.tables import cases

pytestmark = pytest.mark.slow
ANSWER = "It lies in Cambridge near the river and opens at ten every day but Monday."


def question(words: int = 12, pause: float = 0.0) -> Utterance:
    spoken = []
    at = 1.0
    for number in range(words):
        at += pause if number == words // 2 else 0.0
        spoken.append(Word(f"w{number}", at, at + 0.25, "user"))
        at += 0.3
    return Utterance("user", tuple(spoken))


@pytest.mark.parametrize("seed", range(8))
def test_no_request_knows_a_word_before_it_was_spoken(seed: int) -> None:
    asked = question(pause=2.0)
    times = request_times(asked, random.Random(seed))
    for at, share, heard in times:
        assert (
            heard == sum(1 for word in asked.words if word.end + EARS[0] <= at)
            or share == 1
            or heard <= sum(word.end + EARS[0] <= at for word in asked.words)
        )
    assert [heard for *_, heard in times] == sorted({heard for *_, heard in times}), "one for each new word only"
    assert times[-1][1] == 1.0 and times[-1][0] > asked.end
    assert all(share < 1 for _, share, _ in times[:-1])


@pytest.mark.parametrize(("share", "level"), [(0.0, 0), (0.49, 0), (0.5, 1), (0.65, 2), (0.8, 3), (0.95, 4), (1.0, 5)])
def test_the_levels_begin_where_the_paper_has_them(share: float, level: int) -> None:
    assert level_of(share) == level
    if level < 5:
        prompt = prompt_of(HintRequest("where is the", share, ANSWER))
        assert (ANSWER in prompt) == (level > 0)


@cases(
    "text, share, fault",
    ("It is near the water and you can walk there in ten minutes.", 0.3, ""),
    ("The hint says it is in Cambridge, so it is there.", 0.9, "speaks of the prompt"),
    ("- Cambridge\n- Oxford", 0.6, "not spoken words"),
    ("the the the the the the the the the", 0.6, "repeats itself"),
    ("It is near the water.\nYou can walk there.", 0.3, "several lines"),
    (ANSWER, 0.3, "knows the answer too early"),
    (ANSWER, 0.9, "repeats the answer"),
    ("Nobody can say that today, I fear, please ask again.", 0.97, "does not follow the hint"),
    ("", 0.9, "empty"),
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


@cases(
    "answer, kept",
    (" “It is in Cambridge.”\n\nHere is why: …", "It is in Cambridge."),
    ("It is “there”", "It is “there”"),
    ("It is near the river. " * 6 + "And so", ("It is near the river. " * 6).strip()),
    ("and " * 40, ("and " * 40).strip()),
    (" \n ", ""),
)
def test_of_an_answer_whole_sentences_of_its_first_paragraph_are_kept(answer: str, kept: str) -> None:
    assert cleaned(answer) == kept


def test_a_sound_corpus_passes() -> None:
    result = check_dialogues([good()] * 5)
    assert result.ok and not result.faults and result.events == 10


def test_an_oracle_that_was_stopped_half_way_fails_the_check() -> None:
    bare = Dialogue("bare", good().words, [], "", good().seconds)
    result = check_dialogues([good(), good(), bare])
    assert not result.ok and result.faults == {"no oracle, though others have one": 1}
    assert check_dialogues([bare] * 3).ok


def test_garbage_is_found_and_fails_the_check() -> None:
    def broken(change) -> Dialogue:
        dialogue = good()
        change(dialogue)
        return dialogue

    def early(dialogue: Dialogue) -> None:
        dialogue.events[1] = OracleEvent(1.5, ANSWER, 1.0, True)

    def never(dialogue: Dialogue) -> None:
        dialogue.events.pop()

    def replaced(dialogue: Dialogue) -> None:
        dialogue.events.append(OracleEvent(dialogue.events[1].at + 0.5, "It is closed, as far as I know today.", 0.97))

    def unsorted(dialogue: Dialogue) -> None:
        dialogue.words.reverse()

    def another(dialogue: Dialogue) -> None:
        dialogue.events[1] = OracleEvent(dialogue.events[1].at, "It lies in Oxford.", 1.0, True)

    found = {
        "event: has heard words that come later": early,
        "an answer that the oracle never tells": never,
        "a guess replaces the true answer": replaced,
        "words are out of order": unsorted,
        "event: the true answer is another one": another,
    }
    for fault, change in found.items():
        result = check_dialogues([broken(change)])
        assert fault in result.faults and not result.ok, fault
