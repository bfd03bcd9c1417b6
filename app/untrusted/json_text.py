"""Reads JSON from outside within bounds, and makes the texts in it harmless.

Size, depth and number of values are known before the text is parsed, so that no input can take more memory or a deeper
stack than the bounds allow.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from typing import Any

from app.untrusted.limits import Limits, in_words
from app.untrusted.refused import Refused
from app.untrusted.text import harmless

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
_ESCAPED = re.compile(r"\\[ubfr]")
_SUSPECT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def read_json(data: bytes | str, limits: Limits, *, any_number: bool = False) -> Any:
    """Returns the value of a JSON text; its texts are harmless. Raises Refused.

    Numbers are finite, and integers have 20 digits at most; with `any_number` the caller checks them. Takes some 30 ms
    for each MB: on the event loop only for small texts.
    """
    text = decoded(data, limits)
    decoder = _ANY_NUMBER if any_number else _EACH_NUMBER
    brackets = text.count("{") + text.count("[")
    if len(text) > _SMALL or brackets > limits.depth or text.count(",") + brackets > limits.items:
        bare = _STRING.sub('"', text)
        check_shape(bare, limits)
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
    return _cleaned(value) if _may_harm(text) else value


def _may_harm(text: str) -> bool:
    """Returns whether strings of a JSON text need cleaning; a control character is in none of them unescaped."""
    if "\\" in text and _ESCAPED.search(text):
        return True
    return not (text.isascii() and "\x7f" not in text) and _SUSPECT.search(text) is not None


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


def check_shape(bare: str, limits: Limits) -> None:
    """Raises Refused where a JSON text without its strings is nested too deeply or has too many values."""
    brackets = _NO_BRACKET.sub("", bare)
    if bare.count(",") + len(brackets) // 2 > limits.items:
        raise Refused(f"it holds more than {limits.items:,} values")
    if len(brackets) > limits.depth and depth_of(brackets) > limits.depth:
        raise Refused(f"it is nested deeper than {limits.depth} levels")


def depth_of(brackets: str) -> int:
    """Returns how deep a row of brackets is nested at most."""
    return max(itertools.accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def without_strings(text: str) -> str:
    """Returns a JSON text with a quote in place of each string."""
    return _STRING.sub('"', text)


def brackets_of(bare: str) -> str:
    """Returns the brackets of a JSON text without its strings."""
    return _NO_BRACKET.sub("", bare)


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
