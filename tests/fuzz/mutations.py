"""Strategies for hostile input: valid examples that are changed a little, in their structure and in their bytes."""

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

ODD_TEXTS = (
    "", " ", "\x00", "\ud83d", "\ude00", "\x1b[31m", "\x1b]0;t\x07", "\x1b]52;c;", "\u202e", "\r",
    "<img src=http://127.0.0.1:9/x>",
    "../../x", "..\\..\\x", "C:\\x", "/etc/passwd", "CON", "a" * 300, "é😀", "-1", "NaN", "1e999", "%s%n",
    "{0.__class__}",
    "hf://a/b/../../c", "http://127.0.0.1:9/", "file:///etc/passwd", "null", "\ufeff", "\u2028",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**18, -(10**18), 0.5, -0.0, 1e308, [], {}, [[]], [None], {"": None},
    *ODD_TEXTS,
)  # fmt: skip
_RAW = (
    b"1e999",
    b"NaN",
    b"-Infinity",
    b"9" * 5_000,
    b'"\\ud83d"',
    b'"\\u0000"',
    b"[" * 70_000,
    b'{"a":' * 20_000,
    b"\xff\xfe",
)
HOSTILE_TEXT: SearchStrategy[str] = st.lists(st.sampled_from(ODD_TEXTS) | st.text(max_size=12), max_size=8).map("".join)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Returns every (container, key) in a value of JSON."""
    found: list[tuple[Any, Any]] = []
    boxes = [value]
    while boxes:
        box = boxes.pop()
        keys = list(box) if isinstance(box, dict) else range(len(box)) if isinstance(box, list) else ()
        for key in keys:
            found.append((box, key))
            boxes.append(box[key])
    return found


@st.composite
def changed_json(draw: DrawFn, seeds: Sequence[Any], most: int = 4) -> Any:
    """A value of JSON near one of `seeds`: values exchanged, removed, repeated, moved, wrapped."""
    root = [copy.deepcopy(draw(st.sampled_from(seeds)))]
    for _ in range(min(draw(st.integers(0, most)), draw(st.integers(0, most)))):
        places = _places(root)
        box, key = places[draw(st.integers(0, len(places) - 1))]
        match draw(st.integers(0, 7)):
            case 0 | 1 | 2:
                box[key] = copy.deepcopy(draw(st.sampled_from(ODD_VALUES)))
            case 3 if box is not root:
                del box[key]
            case 4:
                source, name = places[draw(st.integers(0, len(places) - 1))]
                if name in (source if isinstance(source, dict) else range(len(source))):
                    box[key] = copy.deepcopy(source[name])
            case 5:
                box[key] = [box[key]] * draw(st.sampled_from([1, 2, 300]))
            case 6 if isinstance(box, dict):
                box[draw(st.sampled_from(ODD_TEXTS))] = box[key]
            case _:
                for _ in range(draw(st.sampled_from([1, 40]))):
                    box[key] = {"a": box[key]}
    return root[0]


@st.composite
def json_bytes(draw: DrawFn, seeds: Sequence[Any]) -> bytes:
    """The bytes of a changed value of JSON, at times changed themselves."""
    value = draw(changed_json(seeds))
    text = json.dumps(value, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    match draw(st.integers(0, 9)):
        case 0:
            return draw(changed_bytes([text]))
        case 1:  # a token of JSON in the place of a value
            parts = text.split(b": ")
            place = draw(st.integers(0, len(parts)))
            return b": ".join([*parts[:place], draw(st.sampled_from(_RAW)), *parts[place:]])
        case _:
            return text


@st.composite
def changed_bytes(draw: DrawFn, seeds: Sequence[bytes], most: int = 6) -> bytes:
    """Bytes near one of `seeds`: flipped, overwritten, cut off, repeated, moved."""
    data = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(0, most))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        size = draw(st.sampled_from([1, 2, 4, 16, 100, 1_000]))
        match draw(st.integers(0, 6)):
            case 0 if data:
                data[place] ^= 1 << draw(st.integers(0, 7))
            case 1:
                data[place : place + size] = draw(st.binary(min_size=1, max_size=8))
            case 2:
                del data[place : place + size]
            case 3:
                data[place:place] = data[place : place + size]
            case 4:
                data[place : place + size] = bytes(size)
            case 5:
                data[place : place + size] = b"\xff" * size
            case _:
                if draw(st.integers(0, 3)) == 0:
                    del data[place:]
    return bytes(data)


def framed(head: SearchStrategy[dict[str, Any]], body: SearchStrategy[bytes]) -> SearchStrategy[bytes]:
    """Inputs of two parts: a line of JSON, which says how the body behind it is delivered."""

    def join(parts: tuple[dict[str, Any], bytes]) -> bytes:
        return json.dumps(parts[0]).encode() + b"\n" + parts[1]

    return st.tuples(head, body).map(join)


def unframed(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Returns the two parts of an input of `framed`."""
    head, _, body = data.partition(b"\n")
    value: dict[str, Any] = json.loads(head)
    return value, body


def lines_of(seeds: Sequence[Any], most: int, frame: Callable[[bytes], bytes]) -> SearchStrategy[bytes]:
    """Several values of JSON, some of them changed, each in its frame: the events of a stream."""
    valid = st.sampled_from([json.dumps(seed).encode() for seed in seeds])
    return st.lists(valid | json_bytes(seeds), max_size=most).map(lambda lines: b"".join(map(frame, lines)))
