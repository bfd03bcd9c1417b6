"""Converts setups and stored events to JSON and back."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
from collections.abc import Iterable, Iterator

from app.conversation import events as e
from app.conversation.event_json import read_event
from app.history.base import LONGEST_TITLE, Setup
from app.untrusted.json_text import read_json
from app.untrusted.limits import HISTORY_FIELD
from app.untrusted.records import build
from app.untrusted.text import one_line

METERS = (e.LevelMeasured, e.SoundMeasured, e.OracleTaken, e.ContextMeasured)
"""Events for meters: several a second, and not stored."""


def kept_title(title: str) -> str:
    """Returns a title on one line, no longer than `LONGEST_TITLE`."""
    return one_line(title, LONGEST_TITLE)


def known_events(lines: Iterable[str]) -> Iterator[e.Event]:
    """Yields the events of a talk's stored lines, without those that are damaged."""
    for line in lines:
        with contextlib.suppress(ValueError):
            yield read_event(line)


def setup_line(setup: Setup) -> str:
    """Returns a setup as a line of JSON."""
    return json.dumps(dataclasses.asdict(setup), separators=(",", ":"))


@functools.lru_cache(maxsize=1024)
def setup_of(line: str) -> Setup:
    """Returns the setup of a line; the default one if it is damaged."""
    try:
        return build(Setup, read_json(line, HISTORY_FIELD))
    except ValueError:
        return Setup()


@functools.lru_cache(maxsize=1024)
def names_of(line: str) -> tuple[str, ...]:
    """Returns the names in a line of JSON; none if it is damaged."""
    try:
        return tuple(name for name in read_json(line, HISTORY_FIELD) if isinstance(name, str))
    except ValueError:
        return ()
