"""Reads JSON from outside within bounds, and makes the texts in it harmless.

Size, depth and number of values are checked before the values are made, so that no input can take more memory or a
deeper stack than the bounds allow. Long texts are parsed value by value, so that other threads get their turns: the
interpreter's own parser, and a search of the whole text, hold it until they have ended. On the 2 cores where it was
measured, 62 MB stopped the window and the voice for 1.9 s; value by value it takes ten times as long and stops them for
20 ms.
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
    """A decoder for one text, which checks depth and number of values as it goes. It raises Refused beyond them.

    Numbers are read as by the decoder `like`.
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


# Possessive, since a string that is not closed would be tried again from each of its characters.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NO_BRACKET = re.compile(r"[^\[\]{}]+")
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_LARGE = re.compile(r"[eE][+-]?\d{3}|\d{300}")
"""What a number must hold to be beyond the range of a float."""
_LONG = re.compile(r"(?<![\d.])\d{21}")
"""An integer beyond 64 bits."""
_SMALL = 4096
"""Characters of a text whose numbers are checked one by one, which takes less than searching it beforehand."""
_LARGE_CHARS = 2**20
"""Characters of a text that is parsed value by value."""
_ESCAPED = re.compile(r"\\[ubfr]")


def read_json(data: bytes | str, limits: Limits, *, any_number: bool = False) -> Any:
    """Returns the value of a JSON text; its texts are harmless. Raises Refused.

    Numbers are finite, and integers have 20 digits at most; with `any_number` the caller checks them. Takes some 30 ms
    for each MB: on the event loop only for small texts. Beyond 1 MB it takes ten times as long, and other threads get
    their turns.
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
    """Returns whether a text's brackets and commas, those in its strings included, go beyond the bounds."""
    brackets = text.count("{") + text.count("[")
    return brackets > limits.depth or text.count(",") + brackets > limits.items


def _may_harm(text: str) -> bool:
    """Returns whether strings of a JSON text need cleaning; a control character is in none of them unescaped."""
    if "\\" in text and _ESCAPED.search(text):
        return True
    return not (text.isascii() and "\x7f" not in text) and not is_harmless(text)


def decoded(data: bytes | str, limits: Limits) -> str:
    """Returns the text of UTF-8, with or without a byte order mark. Raises Refused, also when it is too long."""
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

    `items`: how many values it has at most. `depth`: how deeply it is nested. `open`: by how much it leaves the nesting
    deeper than it found it.
    """

    items: int
    depth: int
    open: int


def without_strings(text: str) -> str:
    """Returns a JSON text with a quote in place of each string."""
    return _STRING.sub('"', text)


def shape_of(bare: str) -> Shape:
    """Returns the shape of a JSON text without its strings."""
    brackets = _NO_BRACKET.sub("", bare)
    depth = max(itertools.accumulate(map(_STEPS.__getitem__, brackets)), default=0)
    opened = brackets.count("[") + brackets.count("{")
    return Shape(bare.count(",") + len(brackets) // 2, max(0, depth), 2 * opened - len(brackets))


def check_shape(shape: Shape, limits: Limits) -> None:
    """Raises Refused where a JSON text has too many values or is nested too deeply."""
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
    """Returns a parsed value with harmless texts, keys included. Its depth is bounded."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, list):
        return [_cleaned(one) for one in value]
    if isinstance(value, dict):
        return {harmless(key): _cleaned(one) for key, one in value.items()}
    return value
