"""Megabytes of JSON are read value by value: other threads go on meanwhile, and the bounds hold."""

import json
import threading
import time
import tracemalloc

import pytest

from app.untrusted.json_text import read_json
from app.untrusted.limits import Limits, Refused

EVENTS = [{"type": "AssistantSaid", "at": 0.08 * number, "text": f"word {number}"} for number in range(40_000)]


@pytest.mark.slow
def test_other_threads_get_their_turns() -> None:
    turns, done = 0, threading.Event()

    def take_turns() -> None:
        nonlocal turns
        while not done.is_set():
            time.sleep(0.001)
            turns += 1

    text = json.dumps(EVENTS)
    other = threading.Thread(target=take_turns)
    other.start()
    try:
        assert read_json(text, Limits(16 * 2**20, items=500_000, kind=list)) == EVENTS
    finally:
        done.set()
        other.join()
    assert turns > 30, "the interpreter was held"


def test_no_more_values_are_made_than_are_accepted() -> None:
    text = "[" + "1.5," * 2_000_000 + "1.5]"
    tracemalloc.start()
    with pytest.raises(Refused, match="more than 10,000 values"):
        read_json(text, Limits(16 * 2**20, kind=list))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * 2**20


@pytest.mark.slow
def test_what_is_wrong_is_told_with_its_line() -> None:
    text = json.dumps(EVENTS, indent=1)
    with pytest.raises(Refused, match=r"no valid JSON \(line 200002:"):
        read_json(text[:-2] + "\n}", Limits(32 * 2**20, items=500_000, kind=list))
