"""Revisions as the events tell of them."""

from app.conversation import events as e
from app.conversation.revisions import Revision, RevisionLog

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


def log(events: list[e.Event], limit: int = 9) -> RevisionLog[Revision]:
    made = RevisionLog(Revision, limit)
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


def test_a_routers_kind_belongs_to_its_turn_and_side() -> None:
    made = log(
        [
            e.BackendRouted(1, 1, "stem", 0.9, *GPT, "why"),
            e.OracleRequested(1, 1, 1, *GPT, "a", False),
            e.OracleRequested(1, 2, 1, *CLAUDE, "a", False, True),
            e.BackendChanged(2, *CLAUDE),
            e.OracleRequested(2, 3, 1, *CLAUDE, "a", True),
        ]
    )
    assert [revision.kind for revision in made.revisions] == ["stem", "", ""]


def test_only_the_newest_are_kept() -> None:
    made = log([e.OracleRequested(n, n, 1, *GPT, "a", False) for n in range(1, 6)], limit=2)
    assert [r.number for r in made.revisions] == [4, 5]
    assert made.apply(e.OracleDelta(9, 1, "late")) is None
