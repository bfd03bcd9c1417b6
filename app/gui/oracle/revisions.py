"""Finds the revisions that the oracle shows among those of the conversation, which are given oldest first."""

from __future__ import annotations

from collections.abc import Sequence

from app.conversation.record.revisions import Revision

MOST_SHOWN = 80
"""About ten turns. The more cards there are, the longer each update of the newest one takes to lay out."""


def current(revisions: Sequence[Revision]) -> Revision | None:
    """Returns the revision that counts, among the active model's ones for the newest turn.

    That is the one being spoken, or else the newest one with text that wasn't discarded, or else the newest one.
    """
    turn: list[Revision] = []
    for revision in reversed(revisions):
        if revision.secondary:
            continue
        if turn and (revision.turn, revision.talk) != (turn[0].turn, turn[0].talk):
            break
        turn.append(revision)
    speaker = next((revision for revision in turn if revision.speaking), None)
    alive = (r for r in turn if r.text and r.status not in ("superseded", "failed"))
    return speaker or next(alive, turn[0] if turn else None)


def newest_words(revisions: Sequence[Revision], turn: int) -> Revision | None:
    """Returns the active model's newest revision for a turn that has words, discarded or not."""
    mine = (one for one in reversed(revisions) if one.turn == turn and not one.secondary and one.status != "failed")
    return next((one for one in mine if one.text.strip()), None)


def first_of(revisions: Sequence[Revision], talk: int, turn: int) -> Revision | None:
    """Returns the first revision for a turn, preferably the active model's. None if there is none any more."""
    found = (r for r in revisions if (r.talk, r.turn) == (talk, turn))
    return next(iter(sorted(found, key=lambda revision: revision.secondary)), None)
