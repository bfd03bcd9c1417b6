"""JSON serialization of setups and stored events."""

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
"""Meter events, which arrive several times a second and are not stored."""


def kept_title(title: str) -> str:
    """Returns a title reduced to a single line of at most `LONGEST_TITLE` characters."""
    return one_line(title, LONGEST_TITLE)


def known_events(lines: Iterable[str]) -> Iterator[e.Event]:
    """Parses a talk's stored lines into events, skipping damaged lines and events of another version."""
    for line in lines:
        with contextlib.suppress(ValueError):
            yield read_event(line)


def setup_line(setup: Setup) -> str:
    """Serializes a setup to a JSON line."""
    return json.dumps(dataclasses.asdict(setup), separators=(",", ":"))


@functools.lru_cache(maxsize=1024)
def setup_of(line: str) -> Setup:
    """Parses a setup from a JSON line; returns the default setup if the line is damaged."""
    try:
        return build(Setup, read_json(line, HISTORY_FIELD))
    except ValueError:
        return Setup()


@functools.lru_cache(maxsize=1024)
def names_of(line: str) -> tuple[str, ...]:
    """Parses a JSON list of names; returns an empty tuple if the line is damaged."""
    try:
        return tuple(name for name in read_json(line, HISTORY_FIELD) if isinstance(name, str))
    except ValueError:
        return ()
