"""Gives a server's revisions numbers that are neither this machine's nor those of an earlier conversation there."""

from __future__ import annotations

import dataclasses

from app.conversation import events as e

FIRST_REVISION = 1_000_000
"""Added to a server's numbers of revisions in its first conversation, twice in its second, and so on."""


def renumbered(event: e.Event, conversation: int) -> e.Event:
    """Returns an event of a server's n-th `conversation`, 1 or more, with its revisions renumbered.

    Words without a revision keep their 0. Raises ValueError for a number that is none.
    """
    match event:
        case e.OracleSuperseded(revision=old, by=new):
            return dataclasses.replace(event, revision=_number(old, conversation), by=_number(new, conversation))
        case e.AssistantSaid(revision=0):
            return event
        case (
            e.OracleRequested(revision=revision)
            | e.OraclePromoted(revision=revision)
            | e.OracleDelta(revision=revision)
            | e.OracleEnded(revision=revision)
            | e.OracleCounted(revision=revision)
            | e.AssistantSaid(revision=revision)
        ):
            return dataclasses.replace(event, revision=_number(revision, conversation))
    return event


def _number(revision: int, conversation: int) -> int:
    if not 1 <= revision < FIRST_REVISION:
        raise ValueError(f"no revision has the number {revision}")
    return conversation * FIRST_REVISION + revision
