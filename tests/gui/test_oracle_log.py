"""The revisions as the back-end's events tell of them."""

from __future__ import annotations

import pytest

from app.conversation import events as e
from app.gui.oracle_log import OracleLog


def asked(
    revision: int, at: float = 1.0, words: str = "what is the", final: bool = False
) -> e.OracleRequested:
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


def test_deltas_without_spaces_do_not_run_together() -> None:
    assert (
        log(asked(1), e.OracleDelta(1, 1, "one"), e.OracleDelta(1, 1, "two")).revisions[0].text == "one two"
    )


def test_a_superseded_revision_stays_superseded() -> None:
    made = log(asked(1), asked(2), e.OracleSuperseded(2, 1, 2), e.OracleEnded(3, 1, "complete", 4))
    assert (made.revisions[1].status, made.revisions[1].by) == ("superseded", 2)


def test_one_speaks_at_a_time() -> None:
    made = log(asked(1), asked(2), e.AssistantStarted(2, 1, 1))
    assert [r.speaking for r in made.revisions] == [False, True]
    changed = made.apply(e.AssistantMended(3, 1, 2, "continued"))
    assert {r.number for r in changed} == {1, 2}
    assert [(r.speaking, r.spoken) for r in made.revisions] == [(True, True), (False, True)]
    assert made.apply(e.AssistantSaid(3, 1, "more", 2)) == []
    made.apply(e.AssistantEnded(4, 1, False))
    assert not any(r.speaking for r in made.revisions)


def test_promotion_makes_it_the_complete_turn() -> None:
    assert log(asked(1), e.OraclePromoted(2, 1)).revisions[0].final


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
