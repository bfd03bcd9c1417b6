"""Revisions as the events tell of them, and recordings of older versions, which numbered a hand-over again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.conversation import events as e
from app.conversation.event_json import EventReader, to_json
from app.conversation.event_upgrade import EventUpgrade
from app.conversation.revisions import Revision, RevisionLog
from app.history.importing import read
from app.session.replay import Replay

GPT, CLAUDE = ("OpenAI", "gpt"), ("Anthropic", "claude")


def line(kind: str, at: float, **fields: object) -> str:
    return json.dumps({"type": kind, "at": at, **fields})


ASKED = {"turn": 1, "words": "how high", "final": True}
OLD = [
    line("OracleRequested", 1.0, revision=1, backend="Anthropic", model="claude", aside=False, **ASKED),
    line("OracleRequested", 1.0, revision=2, backend="OpenAI", model="gpt", aside=True, **ASKED),
    line("OracleDelta", 1.4, revision=1, text="Mine."),
    line("OracleDelta", 1.5, revision=2, text="It is"),
    line("OracleDelta", 1.6, revision=2, text=" high"),
    line("AssistantStarted", 1.9, turn=1, revision=1),
    line("BackendChanged", 2.0, backend="OpenAI", model="gpt", reason="handed"),
    line("OracleHandedOver", 2.0, revision=3, of=2),
    line("OracleEnded", 2.0, revision=2, reason="superseded", words=3),
    line("OracleRequested", 2.0, revision=3, backend="OpenAI", model="gpt", **ASKED),
    line("OracleSuperseded", 2.0, revision=1, by=3),
    line("OracleEnded", 2.0, revision=1, reason="superseded", words=1),
    line("OracleDelta", 2.0, revision=3, text="It is high"),
    line("AsideChanged", 2.0, backend="Anthropic", model="claude"),
    line("OracleFed", 2.1, revision=3, words=3, waited_ms=80.0),
    line("OracleDelta", 2.2, revision=3, text=" indeed."),
    line("AssistantMended", 2.3, turn=1, revision=3, how="continued"),
    line("AssistantSaid", 2.4, turn=1, text="is high indeed.", revision=3),
    line("OracleEnded", 2.5, revision=3, reason="complete", words=4),
    line("OracleRequested", 9.0, revision=4, turn=2, backend="OpenAI", model="gpt", words="and now", final=True),
]

NEW: list[e.Event] = [
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


def upgraded(*lines: dict[str, object]) -> list[object]:
    upgrade = EventUpgrade()
    return [upgrade.apply(dict(line)) for line in lines]


def test_a_revision_keeps_its_number_when_it_is_handed_over_and_becomes_the_newest() -> None:
    made = log(NEW[:-1])
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


def test_an_old_recording_is_read_as_a_new_one_is_written() -> None:
    reader = EventReader()
    assert [event for text in OLD if (event := reader.read(text)) is not None] == NEW
    reader = EventReader()
    assert [reader.read(to_json(event)) for event in NEW] == NEW, "what is new stays as it is"


def test_an_old_recording_is_replayed_and_imported(tmp_path: Path) -> None:
    heard = '{"type":"TranscriptFinal","at":1.0,"turn":1,"text":"how high","heard_until":1.0}\n'
    (tmp_path / "events.jsonl").write_text(heard + "\n".join(OLD), "utf-8")
    assert list(Replay(tmp_path).events())[1:] == NEW
    assert list(read(tmp_path).talks[0].events)[1:] == NEW


def test_what_was_over_when_it_was_handed_over_ends_once() -> None:
    ended = {"type": "OracleEnded", "at": 1, "reason": "complete", "words": 1}
    found = upgraded(
        {"type": "OracleDelta", "at": 1, "revision": 2, "text": "Yes."},
        ended | {"revision": 2},
        {"type": "OracleHandedOver", "at": 2, "revision": 5, "of": 2},
        {"type": "OracleRequested", "at": 2, "revision": 5},
        {"type": "OracleDelta", "at": 2, "revision": 5, "text": "Yes."},
        ended | {"at": 2, "revision": 5},
    )
    assert [line["type"] for line in found if isinstance(line, dict)] == [
        "OracleDelta",
        "OracleEnded",
        "OracleHandedOver",
    ]


def test_what_was_silent_when_it_was_handed_over_keeps_all_its_words() -> None:
    first = {"type": "OracleDelta", "at": 3, "revision": 5, "text": "Yes."}
    found = upgraded(
        {"type": "OracleHandedOver", "at": 2, "revision": 5, "of": 2},
        {"type": "OracleEnded", "at": 2, "revision": 2, "reason": "superseded", "words": 0},
        {"type": "OracleRequested", "at": 2, "revision": 5},
        first,
    )
    assert found == [{"type": "OracleHandedOver", "at": 2, "revision": 2}, None, None, first | {"revision": 2}]


@pytest.mark.parametrize("revision", ["3", 1.5, None, [1]])
def test_a_number_that_is_none_is_left_to_those_who_check_it(revision: object) -> None:
    event = {"type": "OracleDelta", "at": 1, "revision": revision, "text": "a"}
    assert upgraded(event) == [event] and json.dumps(event)
