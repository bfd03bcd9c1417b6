"""Builds dataclasses from parsed JSON, checking each value against the declared type of its field."""

from __future__ import annotations

import dataclasses
import functools
import types
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

LARGEST = 2**53
"""Integers beyond this lose precision when JSON numbers are read as doubles."""

_PLAIN = frozenset((float, int, str, bool))
Record = TypeVar("Record")


def build(kind: type[Record], fields: Any) -> Record:
    """Builds a record, including nested ones. Raises ValueError if a field is unknown, missing or of the wrong type."""
    if not isinstance(fields, dict):
        raise ValueError(f"no {kind.__name__}")
    hints = _hints(kind)  # type: ignore[arg-type]  # mypy takes a class's `__hash__` for that of its instances
    values: dict[str, Any] = {}
    for name, value in fields.items():
        hint = hints.get(name)
        if hint in _PLAIN and fits(value, hint):
            values[name] = value
        elif isinstance(hint, type) and dataclasses.is_dataclass(hint):
            values[name] = build(hint, value)
        elif isinstance(value, list) and get_origin(hint) is tuple and dataclasses.is_dataclass(get_args(hint)[0]):
            values[name] = tuple(build(get_args(hint)[0], part) for part in value)
        elif hint is None or not fits(value, hint):
            raise ValueError(f"{kind.__name__} with a wrong “{str(name)[:40]}”")
        else:
            values[name] = tuple(value) if isinstance(value, list) else value
    try:
        return kind(**values)
    except TypeError:
        raise ValueError(f"{kind.__name__} with a field missing") from None


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def fits(value: Any, hint: Any) -> bool:
    """Returns whether a JSON value matches a field's declared type. Numbers must be finite."""
    if hint is float:
        return type(value) in (int, float) and -LARGEST <= value <= LARGEST
    if hint is int:
        return type(value) is int and -LARGEST <= value <= LARGEST
    if hint in (str, bool, type(None)):
        return type(value) is hint
    parts = get_args(hint)
    match get_origin(hint):
        case origin if origin is Literal:
            return isinstance(value, str) and value in parts
        case origin if origin in (Union, types.UnionType):
            return any(fits(value, part) for part in parts)
        case origin if origin is tuple:
            return isinstance(value, list) and all(fits(part, parts[0]) for part in value)
    return False
