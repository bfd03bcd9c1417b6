"""The revisions as the back-end's events tell of them."""

import pytest

from app.conversation import events as e
from app.gui.oracle.revisions import OracleLog, ShownRevision


def asked(revision: int, at: float = 1.0, words: str = "what is the", final: bool = False) -> e.OracleRequested:
    return e.OracleRequested(at, revision, 1, "embedded", "small", words, final)


def log(*events: e.Event, limit: int = 200) -> OracleLog:
    made = OracleLog(limit=limit)
    for event in events:
        made.apply(event)
    return made


def test_the_newest_comes_first_and_words_keep_their_spacing() -> None:
    made = log(asked(1), asked(2, 2.0), e.OracleDelta(2.25, 2, "Mont"), e.OracleDelta(2.5, 2, " Blanc,\nit"))
    newest, older = made.revisions
    assert (newest.number, newest.text, newest.words) == (2, "Mont Blanc,\nit", 3)
    assert newest.first_word_seconds == pytest.approx(0.25)
    assert (older.number, older.status, older.first_word_seconds) == (1, "waiting", None)
    assert older.asked_words == 3


def test_one_speaks_at_a_time() -> None:
    made = log(asked(1), asked(2), e.AssistantStarted(2, 1, 1))
    assert [r.speaking for r in made.revisions] == [False, True]
    changed = made.apply(e.AssistantCorrected(3, 1, 2, "continued"))
    assert {r.number for r in changed} == {1, 2}
    assert [(r.speaking, r.spoken) for r in made.revisions] == [(True, True), (False, True)]
    assert made.apply(e.AssistantSaid(3, 1, "more", 2)) == []
    made.apply(e.AssistantEnded(4, 1, False))
    assert not any(r.speaking for r in made.revisions)


def test_a_revision_that_is_handed_over_becomes_the_newest_under_its_own_number() -> None:
    secondary = e.OracleRequested(1.5, 1, 1, "OpenAI", "gpt", "what is the", True, True)
    made = log(
        secondary,
        asked(2, 2.0),
        e.OracleDelta(2.5, 1, "Noon."),
        e.OracleDelta(2.5, 2, "One."),
        e.AssistantStarted(3, 1, 2),
        e.OracleHandedOver(4, 1),
        e.OracleSuperseded(4, 2, 1),
    )
    first, second = made.revisions
    assert (first.number, first.secondary, first.text, first.first_word_seconds) == (1, False, "Noon.", 1.0)
    assert (second.number, second.status, second.by) == (2, "superseded", 1)
    made.apply(e.AssistantCorrected(5, 1, 1, "corrected"))
    assert made.current is first
    made.apply(e.AssistantSaid(5, 1, "One.", 2))
    assert first.speaking, "a late word of the older one"


def test_a_new_talk_counts_from_one_again() -> None:
    made = log(asked(1), e.OracleDelta(1, 1, "old"))
    assert [r.status for r in made.begin()] == ["stopped"]
    made.apply(asked(1))
    made.apply(e.OracleDelta(1, 1, "new"))
    assert [r.text for r in made.revisions] == ["new", "old"]


def test_old_ones_drop_out() -> None:
    made = log(*(asked(n) for n in range(1, 8)), limit=3)
    assert [r.number for r in made.revisions] == [7, 6, 5]
    assert made.apply(e.OracleDelta(2, 1, "late")) == []


ANSWER = "The highest mountain in Europe is Mount Elbrus."


def upto(revision: ShownRevision, letters: int) -> str:
    return revision.text[:letters]


def test_what_is_with_the_front_end_and_what_was_heard_are_told_apart() -> None:
    made = log(asked(1), e.OracleDelta(1, 1, ANSWER))
    (revision,) = made.revisions
    assert upto(revision, revision.sent) == ANSWER, "nobody has told of feeding yet"
    assert made.apply(e.OracleFed(2, 1, 5, 3.0)) == [revision]
    assert upto(revision, revision.sent) == "The highest mountain in Europe"
    assert made.apply(e.AssistantStarted(2.5, 1, 1)) == [revision]
    assert made.apply(e.AssistantSaid(3, 1, "The highest", 1)) == [revision]
    assert made.apply(e.AssistantSaid(3, 1, ",", 1, True)) == []
    assert upto(revision, revision.heard) == "The highest"
    made.apply(asked(2))
    made.apply(e.OracleDelta(4, 2, "No."))
    assert made.revisions[0].sent == 0, "in this conversation it is told"
    assert made.apply(e.OracleTaken(5, 2, 0, 1)) == [], "no whole word yet"
    assert made.apply(e.OracleTaken(5, 2, 1, 0)) == [made.revisions[0]]
    assert upto(made.revisions[0], made.revisions[0].sent) == "No."


def test_a_continued_answer_goes_on_in_the_newer_text_and_the_older_keeps_what_was_heard() -> None:
    made = log(
        asked(1),
        e.OracleDelta(1, 1, "The highest mountain in Europe is Mont Blanc."),
        e.AssistantStarted(2, 1, 1),
        e.AssistantSaid(2, 1, "The highest mountain in Europe is", 1),
        asked(2),
        e.OracleDelta(3, 2, ANSWER),
        e.OracleSuperseded(3, 1, 2),
        e.AssistantCorrected(3, 1, 2, "continued"),
    )
    new, old = made.revisions
    assert upto(new, new.heard) == upto(old, old.heard) == "The highest mountain in Europe is"
    made.apply(e.AssistantSaid(4, 1, "Mount", 2))
    assert (upto(new, new.heard), upto(old, old.heard)) == (
        "The highest mountain in Europe is Mount",
        "The highest mountain in Europe is",
    )


def test_a_corrected_answer_starts_again_after_its_bridge() -> None:
    made = log(
        asked(1),
        e.OracleDelta(1, 1, "The tallest of all is Mont Blanc."),
        e.AssistantStarted(2, 1, 1),
        e.AssistantSaid(2, 1, "The tallest of all is", 1),
        asked(2),
        e.OracleDelta(3, 2, "Elbrus is the tallest of all."),
        e.AssistantCorrected(3, 1, 2, "corrected"),
    )
    assert made.revisions[0].heard == 0
    for words in ("–", "or", "rather,", "Elbrus", "is"):
        made.apply(e.AssistantSaid(4, 1, words, 2))
    assert upto(made.revisions[0], made.revisions[0].heard) == "Elbrus is"


def test_the_voice_may_switch_without_an_event() -> None:
    made = log(
        asked(1),
        e.OracleDelta(1, 1, "It is noon."),
        e.AssistantStarted(2, 1, 1),
        e.AssistantSaid(2, 1, "It is", 1),
        asked(2),
        e.OracleDelta(3, 2, "It is noon in Rome."),
        e.AssistantSaid(3, 1, "noon", 2),
    )
    new, old = made.revisions
    assert (upto(new, new.heard), new.speaking, upto(old, old.heard), old.speaking) == (
        "It is noon",
        True,
        "It is",
        False,
    )


def test_a_late_word_of_the_older_answer_counts_for_both_and_the_newer_keeps_the_voice() -> None:
    made = log(
        asked(1),
        e.OracleDelta(1, 1, "It is noon."),
        e.AssistantStarted(2, 1, 1),
        e.AssistantSaid(2, 1, "It", 1),
        asked(2),
        e.OracleDelta(3, 2, "It is noon in Rome."),
        e.AssistantCorrected(3, 1, 2, "continued"),
    )
    new, old = made.revisions
    assert made.apply(e.AssistantSaid(3, 1, "is", 1)) == [old, new]
    assert (upto(new, new.heard), upto(old, old.heard)) == ("It is", "It is")
    assert new.speaking and not old.speaking


def test_an_interrupted_answer_is_told_from_one_that_was_heard_to_its_end() -> None:
    said = [asked(1), e.OracleDelta(1, 1, "It is 3 km² big."), e.OracleEnded(1, 1, "complete", 5)]
    said += [e.AssistantStarted(2, 1, 1), e.AssistantSaid(3, 1, "It is three", 1)]
    (whole,) = log(*said, e.AssistantEnded(4, 1, False)).revisions
    (cut,) = log(*said, e.AssistantEnded(4, 1, True)).revisions
    assert (upto(whole, whole.heard), whole.interrupted) == ("It is 3 km² big.", False)
    assert (upto(cut, cut.heard), cut.interrupted) == ("It is", True)


def test_the_one_that_counts_is_the_one_heard_then_the_newest_with_words_then_the_newest() -> None:
    made = OracleLog()
    assert made.current is None

    def number(*events: e.Event) -> int:
        for event in events:
            made.apply(event)
        return made.current.number

    assert number(asked(1)) == 1
    assert number(e.OracleDelta(1, 1, "Noon."), asked(2)) == 1, "2 has said nothing yet"
    assert number(e.OracleRequested(1, 3, 1, "OpenAI", "gpt", "a", True, True), e.OracleDelta(1, 3, "Aside.")) == 1
    assert number(e.AssistantStarted(2, 1, 1), e.OracleDelta(2, 2, "One."), e.OracleSuperseded(2, 1, 2)) == 1
    assert number(e.AssistantCorrected(3, 1, 2, "corrected")) == 2
    assert number(e.AssistantEnded(4, 1, False)) == 2
    assert number(e.OracleRequested(5, 4, 2, "embedded", "small", "and", False)) == 4, "a new turn"
    made.begin()
    assert number(asked(1)) == 1, "a new conversation"
