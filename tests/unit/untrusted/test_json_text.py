"""JSON from outside is read within its bounds, or refused with a clause that says why."""

import json
import threading
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.untrusted import json_text
from app.untrusted.json_text import read_json
from app.untrusted.limits import Limits, Refused
from app.untrusted.text import harmless
from tests.support.tables import cases

ANY = Limits(10_000, depth=6, items=50, kind=object)


@pytest.fixture(scope="module", autouse=True, params=["short", "large"])
def length(request: pytest.FixtureRequest) -> Iterator[None]:
    """Has every text parsed as a short one, then as one of megabytes."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "large":
            patch.setattr(json_text, "_LARGE_CHARS", -1)
        yield


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**19), 10**19)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.sampled_from('ab"\\[]{},:\n\x00\ud83d\ude00\u202eé😀'), max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


def _harmless(value: Any) -> Any:
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, list):
        return [_harmless(one) for one in value]
    if isinstance(value, dict):
        return {harmless(key): _harmless(one) for key, one in value.items()}
    return value


def _depth(value: Any) -> int:
    if isinstance(value, list | dict):
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max(map(_depth, inner), default=0)
    return 0


def _count(value: Any) -> int:
    if isinstance(value, list | dict):
        return 1 + sum(map(_count, value.values() if isinstance(value, dict) else value))
    return 1


@given(VALUES, st.booleans())
def test_reads_what_is_within_its_bounds(value: Any, plain: bool) -> None:
    text = json.dumps(value, ensure_ascii=plain)
    try:
        read = read_json(text, ANY)
    except Refused:
        most = max(_count(value), text.count(",") + text.count("[") + text.count("{"))
        assert _depth(value) > ANY.depth or most > ANY.items
    else:
        assert read == _harmless(value)
        assert _depth(value) <= ANY.depth


@given(st.text(st.sampled_from('[]{}",:\\ 019eE.-+tfn\u202e\ud83d'), max_size=60) | st.binary(max_size=60))
def test_anything_else_is_read_or_refused(text: str | bytes) -> None:
    try:
        read_json(text, ANY)
    except Refused as error:
        assert str(error).startswith("it ")


@cases(
    "text, why",
    ("[" * 100_000, "longer"),
    ("[" * 5_000 + "]" * 5_000, "nested deeper"),
    ("[" + "[]," * 49 + "[]]", "more than 50 values"),
    ('{"a":' * 7 + "1" + "}" * 7, "nested deeper"),
    ("[NaN]", "NaN"),
    ("[1e999]", "too large"),
    ("[" + "9" * 5000 + "]", "too long"),
    ("{'a': 1}", "no valid JSON (line 1"),
    ('[\n"a",\n{"b": 1}\n}', "no valid JSON (line 4:"),
    ("", "no valid JSON"),
    (b"\xff\xfe\x00", "no text in UTF-8"),
)
def test_says_why_it_refuses(text: str | bytes, why: str) -> None:
    with pytest.raises(Refused, match="it ") as refused:
        read_json(text, ANY)
    assert why in str(refused.value)


def test_refuses_another_type_and_reads_a_file_of_another_editor() -> None:
    with pytest.raises(Refused, match="not of the form"):
        read_json("[]", Limits(100))
    assert read_json(b"\xef\xbb\xbf{}", Limits(100)) == {}


def test_a_nested_text_of_megabytes_takes_neither_memory_nor_time() -> None:
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(Refused, match="nested deeper"):
        read_json("[" * 2_000_000, Limits(4 * 2**20, items=4_000_000, kind=object))
    spent, (_, peak) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40 * 2**20
    assert spent < 5


@pytest.mark.slow
def test_other_threads_get_their_turns() -> None:
    turns, done = 0, threading.Event()

    def take_turns() -> None:
        nonlocal turns
        while not done.is_set():
            time.sleep(0.001)
            turns += 1

    events = [{"type": "AssistantSaid", "at": 0.08 * number, "text": f"word {number}"} for number in range(40_000)]
    text = json.dumps(events)
    other = threading.Thread(target=take_turns)
    other.start()
    try:
        assert read_json(text, Limits(16 * 2**20, items=500_000, kind=list)) == events
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
