"""Parses untrusted JSON within limits, and sanitizes the strings in it.

Size, depth and number of values are checked before values are created, so that no input can use more memory or
stack than the limits allow. Texts over 1 MB are parsed value by value, so that other threads can run: the built-in
parser, and a regular expression over the whole text, hold the GIL until they finish. Measured on 2 cores with 62 MB,
the built-in parser stalled the window and the audio for 1.9 s; value by value, parsing takes ten times as long but
stalls them for only 20 ms.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from json.decoder import JSONArray, JSONObject  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any

from app.untrusted.limits import Limits, Refused, in_words
from app.untrusted.text import harmless, is_harmless

Scan = Callable[[str, int], tuple[Any, int]]


class LargeJsonDecoder(json.JSONDecoder):
    """A single-use decoder that raises Refused once the depth or number of values exceeds the limits.

    Numbers are parsed as the decoder `like` parses them.
    """

    def __init__(self, limits: Limits, like: json.JSONDecoder) -> None:
        super().__init__(parse_float=like.parse_float, parse_int=like.parse_int, parse_constant=like.parse_constant)
        self._limits, self._items, self._depth = limits, 0, 0
        self._keys: dict[str, str] = {}
        self.parse_array, self.parse_object = self._array, self._object
        self._scan: Scan = py_make_scanner(self)
        self.scan_once = self._counted

    def _counted(self, text: str, at: int) -> tuple[Any, int]:
        self._items += 1
        if self._items > self._limits.items:
            raise Refused(f"it holds more than {self._limits.items:,} values")
        return self._scan(text, at)

    def _array(self, text_and_end: tuple[str, int], _scan: Scan) -> tuple[list[Any], int]:
        return self._deeper(lambda: JSONArray(text_and_end, self._counted))

    def _object(
        self, text_and_end: tuple[str, int], strict: bool, _scan: Scan, *_hooks_and_keys: Any
    ) -> tuple[dict[str, Any], int]:
        return self._deeper(lambda: JSONObject(text_and_end, strict, self._counted, None, None, self._keys))

    def _deeper(self, parse: Callable[[], tuple[Any, int]]) -> tuple[Any, int]:
        self._depth += 1
        if self._depth > self._limits.depth:
            raise Refused(f"it is nested deeper than {self._limits.depth} levels")
        found = parse()
        self._depth -= 1
        return found


# Possessive, since an unterminated string would otherwise cause backtracking at every character.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NO_BRACKET = re.compile(r"[^\[\]{}]+")
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_LARGE = re.compile(r"[eE][+-]?\d{3}|\d{300}")
"""Matches at least every number beyond the range of a float."""
_LONG = re.compile(r"(?<![\d.])\d{21}")
"""Matches integers of more than 20 digits, which exceed 64 bits."""
_SMALL = 4096
"""For texts of up to this many characters, checking each number is faster than searching the text first."""
_LARGE_CHARS = 2**20
"""Texts with more characters than this are parsed value by value."""
_ESCAPED = re.compile(r"\\[ubfr]")


def read_json(data: bytes | str, limits: Limits, *, any_number: bool = False) -> Any:
    """Parses a JSON text and sanitizes its strings. Raises Refused.

    Numbers must be finite, and integers may have at most 20 digits; `any_number` leaves these checks to the caller.
    Takes about 30 ms per MB, so call it on the event loop only for small texts. Texts over 1 MB take ten times as long
    per MB, but other threads can run meanwhile.
    """
    text = decoded(data, limits)
    decoder = _ANY_NUMBER if any_number else _EACH_NUMBER
    if large := len(text) > _LARGE_CHARS:
        decoder = LargeJsonDecoder(limits, decoder)
    elif len(text) > _SMALL or _may_be_too_much(text, limits):
        bare = without_strings(text)
        check_shape(shape_of(bare), limits)
        if _LONG.search(bare) and not any_number:
            raise Refused("it holds a number that is too long")
        if not any_number:
            decoder = _LARGE_NUMBERS if _LARGE.search(bare) else _NUMBERS
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise Refused(f"it is no valid JSON (line {error.lineno}: {error.msg})") from None
    except Refused:
        raise
    except ValueError:  # an integer of thousands of digits
        raise Refused("it holds a number that is too long") from None
    if not isinstance(value, limits.kind):
        raise Refused("it is JSON, but not of the form that is expected")
    return _cleaned(value) if large or _may_harm(text) else value


def _may_be_too_much(text: str, limits: Limits) -> bool:
    """Returns whether the number of brackets and commas, including those in strings, exceeds the limits."""
    brackets = text.count("{") + text.count("[")
    return brackets > limits.depth or text.count(",") + brackets > limits.items


def _may_harm(text: str) -> bool:
    """Returns whether any string in a JSON text may need sanitizing. Valid JSON has no unescaped C0 controls."""
    if "\\" in text and _ESCAPED.search(text):
        return True
    return not (text.isascii() and "\x7f" not in text) and not is_harmless(text)


def decoded(data: bytes | str, limits: Limits) -> str:
    """Decodes UTF-8 and removes a byte order mark. Raises Refused if the input is too long or not valid UTF-8."""
    if len(data) > limits.bytes:
        raise Refused(f"it is longer than {in_words(limits.bytes)}")
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused("it is no text in UTF-8") from None


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a JSON text, or of a piece of one.

    `items`: an upper bound on its number of values. `depth`: its maximum nesting depth. `open`: the net change in
    nesting depth from its start to its end.
    """

    items: int
    depth: int
    open: int


def without_strings(text: str) -> str:
    """Replaces each string of a JSON text with a single quotation mark."""
    return _STRING.sub('"', text)


def shape_of(bare: str) -> Shape:
    """Returns the shape of a JSON text whose strings have been removed by `without_strings`."""
    brackets = _NO_BRACKET.sub("", bare)
    depth = max(itertools.accumulate(map(_STEPS.__getitem__, brackets)), default=0)
    opened = brackets.count("[") + brackets.count("{")
    return Shape(bare.count(",") + len(brackets) // 2, max(0, depth), 2 * opened - len(brackets))


def check_shape(shape: Shape, limits: Limits) -> None:
    """Raises Refused if a JSON text has too many values or is nested too deeply."""
    if shape.depth > limits.depth:
        raise Refused(f"it is nested deeper than {limits.depth} levels")
    if shape.items > limits.items:
        raise Refused(f"it holds more than {limits.items:,} values")


def _refuse_constant(name: str) -> Any:
    raise Refused(f"it holds {name}, which is no number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise Refused(f"it holds a number that is too {'large' if 'e' in digits.lower() else 'long'}")
    return value


def _short(digits: str) -> int:
    if len(digits) > 20 and len(digits.lstrip("-")) > 20:
        raise Refused("it holds a number that is too long")
    return int(digits)


_ANY_NUMBER = json.JSONDecoder()
_NUMBERS = json.JSONDecoder(parse_constant=_refuse_constant)
_LARGE_NUMBERS = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
_EACH_NUMBER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, parse_int=_short)


def _cleaned(value: Any) -> Any:
    """Sanitizes all strings in a parsed value, including keys. Recursion is safe because the depth is limited."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, list):
        return [_cleaned(one) for one in value]
    if isinstance(value, dict):
        return {harmless(key): _cleaned(one) for key, one in value.items()}
    return value
