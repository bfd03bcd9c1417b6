"""The events that a voice server keeps for a client that comes back."""

from __future__ import annotations

from app.conversation import events as e
from app.server.served_talk import MOST_CHARS, MOST_EVENTS, EventLog


def filled(count: int, text: str = "word") -> EventLog:
    log = EventLog()
    for number in range(1, count + 1):
        log.add(e.OracleDelta(1.0, number, text))
    return log


def given(log: EventLog, after: int | None) -> list[int]:
    return [event.revision for event in log.since(log.before(after)) if isinstance(event, e.OracleDelta)]


def test_a_client_gets_what_it_has_not_got_yet() -> None:
    log = filled(5)
    assert given(log, 0) == [1, 2, 3, 4, 5] and given(log, 3) == [4, 5]
    assert given(log, 5) == given(log, 99) == given(log, None) == []
    assert (log.before(3), log.before(99), log.before(None)) == (3, 5, 5)
    assert given(EventLog(), 0) == [] and EventLog().before(7) == 0


def test_the_newest_events_are_kept() -> None:
    log = filled(MOST_EVENTS + 100)
    assert given(log, 0) == list(range(101, MOST_EVENTS + 101)) and log.before(0) == 100
    long = filled(100, "w" * (MOST_CHARS // 10))
    assert given(long, 0) == list(range(101 - len(given(long, 0)), 101)) and 5 <= len(given(long, 0)) < 10
