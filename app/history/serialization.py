"""Converts setups and events to JSON and back. Input from outside is checked field by field against declared types."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import types
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from app.conversation import events as e
from app.conversation.event_json import EventReader, to_json
from app.history.base import LONGEST_TITLE, Setup

LARGEST = 2**53
"""Larger numbers lose digits in JSON."""
LONGEST_SECONDS = 1e7
"""The latest time of an event, some four months."""

EVENT_TYPES: dict[str, type[Any]] = {cls.__name__: cls for cls in get_args(e.Event)}
METERS = (e.LevelMeasured, e.SoundMeasured, e.OracleTaken, e.ContextMeasured)
"""Events for meters: several a second, and not stored."""

Record = TypeVar("Record")


def event_line(event: e.Event) -> str:
    """Returns an event as a line of JSON that UTF-8 can encode."""
    line = to_json(event)
    try:
        line.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can escape
        return json.dumps(json.loads(line), separators=(",", ":"))
    return line


def sound_text(text: str) -> str:
    """Returns a text that UTF-8 can encode: half a surrogate pair becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def kept_title(title: str) -> str:
    """Returns a title on one line, no longer than `LONGEST_TITLE`."""
    return sound_text(" ".join(title.split()))[:LONGEST_TITLE]


def known_event(line: str, reader: EventReader) -> e.Event | None:
    """The event of a talk's next stored line; None where another version of the app wrote it in another way."""
    try:
        return reader.read(line)
    except ValueError:
        return None


def checked_event(fields: Any) -> e.Event | None:
    """Returns the event of a JSON object from outside; None for a type that this version doesn't know.

    Raises ValueError if it is not an event, or a field is missing, unknown or of a wrong type.
    """
    if not isinstance(fields, dict) or not isinstance(fields.get("type"), str):
        raise ValueError("an event without a type")
    kind = EVENT_TYPES.get(fields["type"])
    if kind is None:
        return None
    event: e.Event = build(kind, {name: value for name, value in fields.items() if name != "type"})
    if not 0 <= event.at <= LONGEST_SECONDS:
        raise ValueError(f"{fields['type']} at {event.at} s")
    return event


def build(kind: type[Record], fields: Any) -> Record:
    """Returns a record with these fields, and records in it. Raises ValueError if one is unknown, missing or wrong."""
    if not isinstance(fields, dict):
        raise ValueError(f"no {kind.__name__}")
    hints = get_hints(kind)  # type: ignore[arg-type]  # mypy takes a class's `__hash__` for that of its instances
    values: dict[str, Any] = {}
    for name, value in fields.items():
        hint = hints.get(name)
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
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
def get_hints(kind: type) -> dict[str, Any]:
    """Returns the declared types of a record's fields."""
    return get_type_hints(kind)


def fits(value: Any, hint: Any) -> bool:
    """Returns whether a JSON value has the declared type of a field."""
    if hint is float:
        return type(value) in (int, float) and math.isfinite(value) and abs(value) <= LARGEST
    if hint is int:
        return type(value) is int and abs(value) <= LARGEST
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


def setup_line(setup: Setup) -> str:
    """Returns a setup as a line of JSON."""
    return json.dumps(dataclasses.asdict(setup), separators=(",", ":"))


@functools.lru_cache(maxsize=1024)
def setup_of(line: str) -> Setup:
    """Returns the setup of a line; the default one if another version wrote it in another form."""
    try:
        return build(Setup, json.loads(line))
    except (ValueError, RecursionError):
        return Setup()
