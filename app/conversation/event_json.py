"""Writes events as lines of JSON, and reads them back."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, get_args

from app.conversation.event_upgrade import EventUpgrade
from app.conversation.events import Event

_TYPES = {cls.__name__: cls for cls in get_args(Event)}


def to_json(event: Event) -> str:
    """Returns one line of JSON, with the event's type first; equal events give equal bytes."""
    fields = {f.name: getattr(event, f.name) for f in dataclasses.fields(event)}
    return json.dumps({"type": type(event).__name__, **fields}, ensure_ascii=False, separators=(",", ":"))


class EventReader:
    """Reads the events of one session, line by line and in order, whichever version of the app wrote them."""

    def __init__(self) -> None:
        self._upgrade = EventUpgrade()

    def read(self, line: str) -> Event | None:
        """Returns the event of a line written by `to_json`, or None if an older version said something twice.

        Raises ValueError for anything else.
        """
        try:
            fields: dict[str, Any] | None = self._upgrade.apply(json.loads(line))
            if fields is None:
                return None
            # JSON has no tuples.
            fields = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
            return _TYPES[fields.pop("type")](**fields)
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise ValueError(f"not an event of a session: {line[:80]!r}") from error
