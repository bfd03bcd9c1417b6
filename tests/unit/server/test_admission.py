"""Who may talk with a voice server, and the events that it keeps for a client that comes back."""

from collections.abc import Mapping

import pytest
from websockets.datastructures import Headers

from app.conversation import events as e
from app.server.served_talk import MOST_CHARS, MOST_EVENTS, EventLog
from app.server.server import read_request, refusal

LOCAL = {"Host": "127.0.0.1:8998"}


def refused(target: str, headers: Mapping[str, str], key: str = "") -> int:
    found = refusal(read_request(target, headers), headers, key)
    return found.status if found is not None else 0


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (LOCAL, 0),
        ({"Host": "localhost:8998"}, 0),
        ({"Host": "[::1]:8998"}, 0),
        ({**LOCAL, "Origin": "http://localhost:3000"}, 0),
        ({**LOCAL, "Origin": "https://example.org"}, 403),  # a page that a browser of this machine shows
        ({**LOCAL, "Origin": "null"}, 403),
        ({"Host": "rebound.example.org:8998"}, 403),  # a name that was made to lead to loopback
        ({}, 403),
        ({"Host": "[::"}, 403),
    ],
)
def test_without_a_key_only_this_machine_may_talk(headers: dict[str, str], status: int) -> None:
    assert refused("/api/chat", headers) == status


@pytest.mark.parametrize(
    ("target", "authorization", "status"),
    [
        ("/api/chat", "Bearer the-key", 0),
        ("/api/chat?key=the-key", "", 0),
        ("/api/chat", "bearer the-key", 0),
        ("/api/chat", "Bearer another", 401),
        ("/api/chat", "Basic the-key", 401),
        ("/api/chat?key=", "", 401),
        ("/api/chat", "", 401),
        ("/api/chat?key=\udcff", "", 401),
        ("/other?key=the-key", "", 404),
        ("//[/api/chat", "", 404),
    ],
)
def test_with_a_key_who_gives_it_may_talk_from_anywhere(target: str, authorization: str, status: int) -> None:
    headers = {"Host": "den.example.org", "Origin": "https://example.org", "Authorization": authorization}
    assert refused(target, headers, "the-key") == status


def test_the_session_to_come_back_to_is_in_the_address() -> None:
    assert read_request("/api/chat?session=abc", {}).session == "abc"
    assert read_request("/api/chat?session=abc", {}).after is None
    assert read_request("/api/chat?session=abc&after=12", {}).after == 12
    for wrong in ("-1", "x", "\u0663", "1" * 40):
        assert read_request(f"/api/chat?session=abc&after={wrong}", {}).after is None


def test_a_long_key_is_compared_whole() -> None:
    key = "k" * 300
    assert refused(f"/api/chat?key={key}", LOCAL, key) == 0
    assert refused(f"/api/chat?key={key[:200]}", LOCAL, key) == 401
    assert refused(f"/api/chat?key={key}x", LOCAL, key) == 401


@pytest.mark.parametrize("name", ["Authorization", "Host", "Origin"])
def test_a_header_that_is_there_twice_is_refused(name: str) -> None:
    headers = Headers([("Host", "localhost"), ("Origin", "http://localhost"), ("Authorization", "Bearer the-key")])
    for key in ("", "the-key"):
        assert refused("/api/chat", headers, key) == 0
    headers[name] = headers[name]
    for key in ("", "the-key"):
        assert refused("/api/chat", headers, key) == 400


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
