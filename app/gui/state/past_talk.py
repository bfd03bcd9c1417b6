"""Prepares stored sessions for display. Run this on a worker thread: eight hours of events take seconds to process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.conversation.record.record import Entry, Note, Record
from app.conversation.record.revisions import Revision
from app.conversation.record.transcript import Turn
from app.gui.cards.card import LONGEST_BODY
from app.history.base import KeptTalk

MOST_LETTERS = 2_000_000
"""Maximum number of characters shown of a conversation, equivalent to about fifteen hours of speech. Laying out more
would block the window.
"""
LETTERS_PER_TURN = 400
"""Fixed layout cost of a turn's frame and header, expressed as a number of characters."""
MOST_REVISIONS = 512
"""How many of a conversation's newest revisions are shown."""


@dataclass(slots=True)
class PastTalk:
    """The visible part of a stored session.

    - `turns`: all turns, as context for models
    - `entries`: the turns and notes that are shown
    - `revisions`: the newest ones
    - `branch`: what the next turn follows, as in `Turn.after`, if another branch was chosen after the last one
    - `number`: counts the sessions in view from 1; set by `SessionModel`
    """

    began: float
    folder: Path | None
    turns: list[Turn]
    entries: list[Entry]
    revisions: list[Revision]
    branch: tuple[int, int] | None = None
    number: int = 0


def past_talks(talks: Sequence[KeptTalk]) -> list[PastTalk]:
    """Returns the visible parts of a conversation's sessions. In a very long one, only the newest turns are visible."""
    found: list[PastTalk] = []
    letters, revisions = MOST_LETTERS, MOST_REVISIONS
    for talk in reversed(talks):
        past = past_talk(talk, letters, revisions)
        letters -= sum(map(_letters, past.entries))
        revisions -= len(past.revisions)
        found.append(past)
    return found[::-1]


def past_talk(talk: KeptTalk, letters: int = MOST_LETTERS, revisions: int = MOST_REVISIONS) -> PastTalk:
    """Returns the visible part of a session: its newest turns (up to `letters` characters) and newest `revisions`."""
    record = Record()
    for event in talk.events:
        record.apply(event)
    record.end()
    kept = record.revisions.revisions
    shown = kept[-revisions:] if revisions > 0 else []
    entries = _newest_entries(record.entries(), letters)
    return PastTalk(talk.began, talk.folder, record.turns, entries, shown, record.transcript.branch)


def _newest_entries(entries: list[Entry], letters: int) -> list[Entry]:
    for place in range(len(entries) - 1, -1, -1):
        letters -= _letters(entries[place])
        if letters < 0:
            return [Note(entries[place].started_at, "left_out"), *entries[place + 1 :]]
    return entries


def _letters(entry: Entry) -> int:
    return LETTERS_PER_TURN + (min(len(entry.stable), LONGEST_BODY) if isinstance(entry, Turn) else 0)
