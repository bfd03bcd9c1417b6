"""Writes events as lines of JSON, and reads them back: each field is checked, and control characters are
removed from each text.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, get_args

from app.conversation.events import Event
from app.untrusted.json_text import read_json
from app.untrusted.limits import EVENT_LINE
from app.untrusted.records import build
from app.untrusted.text import harmless

EVENT_TYPES: dict[str, type[Any]] = {cls.__name__: cls for cls in get_args(Event)}
LONGEST_SECONDS = 1e7
"""The latest time of an event, some four months."""


class UnknownEvent(ValueError):
    """An event of a type that this version doesn't have."""


def to_json(event: Event) -> str:
    """Returns one line of JSON that UTF-8 can encode, with the event's type first; equal events give equal bytes."""
    fields = {"type": type(event).__name__, **{f.name: getattr(event, f.name) for f in dataclasses.fields(event)}}
    line = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    if not line.isascii():
        try:
            line.encode()
        except UnicodeEncodeError:  # half a surrogate pair, which JSON can escape
            return json.dumps(fields, separators=(",", ":"))
    return line


def harmless_event(event: Event) -> Event:
    """Returns the event as it is read from its line: with harmless texts."""
    changed: dict[str, Any] = {}
    for field in dataclasses.fields(event):
        value = getattr(event, field.name)
        if isinstance(value, str):
            if (text := harmless(value)) is not value:
                changed[field.name] = text
        elif isinstance(value, tuple) and any(isinstance(one, str) for one in value):
            changed[field.name] = tuple(harmless(one) if isinstance(one, str) else one for one in value)
    return dataclasses.replace(event, **changed) if changed else event


def read_event(line: str | bytes) -> Event:
    """Returns the event of a line written by `to_json`. Raises ValueError for anything else; its `str` is a clause.

    Raises UnknownEvent, a ValueError, for an event of another version.
    """
    try:
        return checked_event(read_json(line, EVENT_LINE))
    except UnknownEvent:
        raise
    except ValueError as error:
        raise ValueError(f"not an event ({error})") from error


def checked_event(fields: Any) -> Event:
    """Returns the event of a JSON object. Raises ValueError if a field is missing, unknown or of a wrong type.

    Raises UnknownEvent, a ValueError, for an event of another version.
    """
    name = fields.get("type") if isinstance(fields, dict) else None
    if not isinstance(name, str):
        raise ValueError("an event without a type")
    kind = EVENT_TYPES.get(name)
    if kind is None:
        raise UnknownEvent(f"not an event that is known (“{name[:40]}”)")
    event: Event = build(kind, {name: value for name, value in fields.items() if name != "type"})
    if not 0 <= event.at <= LONGEST_SECONDS:
        raise ValueError(f"{name} at {event.at} s")
    return event
