"""Keeps the newest oracle revisions of a front-end, in the order in which they were asked."""

from __future__ import annotations

from collections.abc import Iterator

from app.conversation.stability import KnownRevision
from app.conversation.words import fold
from app.frontend.base import OracleAsked, OracleCompleted, OracleInput, OracleWords

KEPT = 9
"""Revisions that are kept besides the one in use: older ones are neither spoken nor compared with any more."""


class Revisions:
    """Revisions by their number, oldest first. Only `KnownRevision.order` decides which of two is newer."""

    def __init__(self) -> None:
        self._known: dict[int, KnownRevision] = {}
        self._order = 0

    def __iter__(self) -> Iterator[KnownRevision]:
        return iter(self._known.values())

    def get(self, number: int) -> KnownRevision | None:
        """The revision `number`; None if it is not known (any more)."""
        return self._known.get(number)

    @property
    def newest(self) -> KnownRevision | None:
        """The revision that was asked last."""
        return next(reversed(self._known.values()), None)

    def of_turn(self, turn: int) -> list[KnownRevision]:
        """The revisions of a turn, oldest first."""
        return [revision for revision in self if revision.turn == turn]

    def update(self, item: OracleInput, at: float = 0.0, *, in_use: int = 0) -> KnownRevision | None:
        """Takes one input; returns the revision that it concerns, None if it is refused. Arguments as for `ask`."""
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
        """Makes a revision the newest one, asked at session time `at`; one that is known keeps its text.

        `in_use`: a revision to keep, however old it is.
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
        """Adds words to their revision; None if they are refused.

        They are where the revision is not known, and where a newer one of the same turn has words already.
        """
        revision = self._known.get(words.revision)
        if revision is None:
            return None
        if any(other.order > revision.order and fold(other.text) for other in self.of_turn(revision.turn)):
            return None
        revision.text += words.text
        return revision
