"""When a back-end is asked anew, and which revision speaks."""

import pytest

from app.conversation.oracle import OraclePolicy, OracleTrack


def _asked(policy: OraclePolicy, turn: int, text: str, at: float, **kind: bool) -> str:
    kind = {"final": False, **kind}
    decision = policy.decide(turn, text, at, **kind)
    if decision == "start":
        policy.started(turn, text, at)
    return decision


def test_it_asks_when_two_words_came_and_the_interval_is_over() -> None:
    policy = OraclePolicy(interval=0.4, new_words=2)
    assert _asked(policy, 1, "What", 0.3) == "keep"
    assert _asked(policy, 1, "What is", 0.5) == "start"
    policy.spoke()
    assert _asked(policy, 1, "What is the capital", 0.8) == "keep"  # too soon
    assert _asked(policy, 1, "What is the", 1.0) == "keep"  # too little
    assert _asked(policy, 1, "What is the capital", 1.0) == "start"


def test_a_slow_back_end_still_gets_its_say() -> None:
    policy = OraclePolicy(interval=0.4)
    assert _asked(policy, 1, "one two", 0.5) == "start"
    for step in range(6):
        assert _asked(policy, 1, "one two " + "three " * (3 * step + 3), 1.0 + step) == "keep"
    policy.spoke()
    assert _asked(policy, 1, "one two " + "three " * 30, 8.0) == "start"


def test_the_complete_turn_is_asked_at_once_unless_it_was_asked_already() -> None:
    policy = OraclePolicy()
    assert _asked(policy, 1, "Where is the White", 1.0) == "start"
    assert _asked(policy, 1, "Where is the White House?", 1.1, final=True) == "start"
    policy = OraclePolicy()
    assert _asked(policy, 1, "where is the white house", 1.0, paused=True) == "start"
    assert _asked(policy, 1, "Where is the White House?", 1.1, final=True) == "promote"


def test_changed_words_count_as_new_ones() -> None:
    policy = OraclePolicy(interval=0.0)
    assert _asked(policy, 1, "I like two cats", 1.0) == "start"
    policy.spoke()
    assert _asked(policy, 1, "I like to sing", 1.5) == "start"


def test_the_cascade_asks_for_complete_turns_alone() -> None:
    policy = OraclePolicy(partials=False)
    assert _asked(policy, 1, "Where is the White House", 1.0, paused=True) == "keep"
    assert _asked(policy, 1, "Where is the White House?", 2.0, final=True) == "start"


def test_no_words_ask_nothing() -> None:
    assert _asked(OraclePolicy(), 1, " … ", 1.0, final=True) == "keep"


def test_an_elder_passes_until_the_newer_one_speaks_and_never_after() -> None:
    track = OracleTrack()
    (one, _), (two, _) = track.begin(), track.begin()
    assert track.accept(one, "Well,")
    assert not track.accept(two, "  ")  # no word yet
    assert track.accept(one, " you")
    assert track.accept(two, "No,")
    assert not track.accept(one, " are")
    with pytest.raises(ValueError):
        track.accept(7, "words")
