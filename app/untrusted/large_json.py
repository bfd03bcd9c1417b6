"""Parses long JSON texts value by value, so that other threads get their turns between two values.

The interpreter's own parser, and a search of the whole text, hold it until they have ended: on the 2 cores where it was
measured, 62 MB stopped the window and the voice for 1.9 s. This takes ten times as long and stops them for 20 ms.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json.decoder import JSONArray, JSONObject  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any

from app.untrusted.limits import Limits
from app.untrusted.refused import Refused

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
