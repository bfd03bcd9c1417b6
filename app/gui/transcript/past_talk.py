"""Prepares stored sessions for display. Run this on a worker thread: eight hours of events take seconds to process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.conversation import events as e
from app.conversation.record.transcript import Turn
from app.gui.cards.card import LONGEST_BODY
from app.gui.transcript.entries import Entry, Note, TranscriptEntries
from app.history.base import KeptTalk

MOST_LETTERS = 2_000_000
"""Maximum number of characters shown of a conversation, equivalent to about fifteen hours of speech. Laying out more
would block the window.
"""
LETTERS_PER_TURN = 400
"""Fixed layout cost of a turn's frame and header, expressed as a number of characters."""
MOST_REQUESTS = 512
"""Maximum number of a conversation's requests that are shown, with their answers. Older ones are omitted."""
MOST_EVENTS = 30_000
"""Maximum number of a session's events that are processed for those requests."""

_MODELS = (e.SessionStarted, e.BackendChanged, e.SecondaryChanged)


@dataclass(frozen=True, slots=True)
class PastTalk:
    """The visible part of a stored session.

    - `turns`: all turns, as context for models
    - `entries`: the turns and notes that are shown
    - `requests`: all events from the oldest visible request on, and earlier ones that identify the active models
    """

    began: float
    folder: Path | None
    turns: list[Turn]
    entries: list[Entry]
    requests: list[e.Event]


def past_talks(talks: Sequence[KeptTalk]) -> list[PastTalk]:
    """Returns the visible parts of a conversation's sessions. In a very long one, only the newest turns are visible."""
    found: list[PastTalk] = []
    letters, requests = MOST_LETTERS, MOST_REQUESTS
    for talk in reversed(talks):
        past = past_talk(talk, letters, requests)
        letters -= sum(map(_letters, past.entries))
        requests -= sum(isinstance(event, e.OracleRequested) for event in past.requests)
        found.append(past)
    return found[::-1]


def past_talk(talk: KeptTalk, letters: int = MOST_LETTERS, requests: int = MOST_REQUESTS) -> PastTalk:
    """Returns the visible part of a session: its newest turns (up to `letters` characters) and newest `requests`."""
    entries = TranscriptEntries()
    for event in talk.events:
        entries.apply(event)
    entries.end()
    shown = _newest_entries(entries.in_order(), letters)
    return PastTalk(talk.began, talk.folder, entries.turns, shown, _newest_requests(talk.events, requests))


def _newest_requests(events: Sequence[e.Event], most: int) -> list[e.Event]:
    asked = [place for place, event in enumerate(events) if isinstance(event, e.OracleRequested)]
    first = 0 if len(asked) <= most else asked[-most] if most > 0 else len(events)
    first = max(first, len(events) - MOST_EVENTS)
    return [*(event for event in events[:first] if isinstance(event, _MODELS)), *events[first:]]


def _newest_entries(entries: list[Entry], letters: int) -> list[Entry]:
    for place in range(len(entries) - 1, -1, -1):
        letters -= _letters(entries[place])
        if letters < 0:
            return [Note(entries[place].started_at, "left_out"), *entries[place + 1 :]]
    return entries


def _letters(entry: Entry) -> int:
    return LETTERS_PER_TURN + (min(len(entry.stable), LONGEST_BODY) if isinstance(entry, Turn) else 0)
