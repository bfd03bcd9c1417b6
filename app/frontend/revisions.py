"""Stores a front-end's newest oracle revisions in the order in which they were requested."""

from __future__ import annotations

from collections.abc import Iterator

from app.conversation.stability import KnownRevision
from app.conversation.words import fold
from app.frontend.base import OracleAsked, OracleCompleted, OracleInput, OracleWords

KEPT = 9
"""How many revisions to keep besides the one in use. Older ones are no longer spoken or compared."""


class Revisions:
    """Revisions keyed by number, oldest first. Only `KnownRevision.order` determines which of two is newer."""

    def __init__(self) -> None:
        self._known: dict[int, KnownRevision] = {}
        self._order = 0

    def __iter__(self) -> Iterator[KnownRevision]:
        return iter(self._known.values())

    def get(self, number: int) -> KnownRevision | None:
        """Returns the revision `number`, or None if it is unknown or has been dropped."""
        return self._known.get(number)

    @property
    def newest(self) -> KnownRevision | None:
        """The revision requested last."""
        return next(reversed(self._known.values()), None)

    def of_turn(self, turn: int) -> list[KnownRevision]:
        """Returns the revisions of a turn, oldest first."""
        return [revision for revision in self if revision.turn == turn]

    def update(self, item: OracleInput, at: float = 0.0, *, in_use: int = 0) -> KnownRevision | None:
        """Processes one input and returns its revision, or None if it is rejected. `at`, `in_use`: see `ask`."""
        if isinstance(item, OracleAsked):
            return self.ask(item, at, in_use=in_use)
        if isinstance(item, OracleWords):
            return self.add(item)
        revision = self._known.get(item.revision)
        if revision is not None and isinstance(item, OracleCompleted):
            revision.complete = True
        elif revision is not None:
            revision.done = True
        return revision

    def ask(self, asked: OracleAsked, at: float = 0.0, *, in_use: int = 0) -> KnownRevision:
        """Makes a revision, requested at session time `at`, the newest one. A known revision keeps its text.

        `in_use`: a revision to keep even if it is old.
        """
        before = self._known.pop(asked.revision, None)
        self._order += 1
        revision = KnownRevision(
            asked.revision,
            asked.turn,
            asked.complete,
            asked.wanted,
            asked.words,
            text=before.text if before is not None else "",
            done=before is not None and before.done,
            paused=asked.paused,
            due=at + asked.expected,
            expected=asked.expected,
            language=asked.language,
            order=self._order,
        )
        self._known[asked.revision] = revision
        for number in list(self._known)[:-KEPT]:
            if number != in_use:
                del self._known[number]
        return revision

    def add(self, words: OracleWords) -> KnownRevision | None:
        """Adds words to their revision and returns it, or None if they are rejected.

        Words are rejected if the revision isn't known, or if a newer one of the same turn already has words.
        """
        revision = self._known.get(words.revision)
        if revision is None:
            return None
        if any(other.order > revision.order and fold(other.text) for other in self.of_turn(revision.turn)):
            return None
        revision.text += words.text
        return revision
