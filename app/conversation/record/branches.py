"""The branches of a conversation: an edited question takes the place of its older version and of all that followed.

Every turn stays in the record. Which of them are shown and given to the model depends on the branch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from app.conversation.record.transcript import Turn


class Place(NamedTuple):
    """A user's turn of a conversation and its answer: turn `number` of session `talk`; 0, 0: before the first one."""

    talk: int = 0
    number: int = 0


BEGINNING = Place()


class Branches:
    """The tree of the turns in `turns`, which are those of both sides, in order, over all sessions.

    The conversation continues after `head`; None: after the newest turn. Turns without words and backchannels are part
    of no branch: they are on a path if the turn before them is.
    """

    def __init__(self, turns: Iterable[Turn], head: Place | None = None) -> None:
        self._standing: dict[Place, Place] = {BEGINNING: BEGINNING}  # each place, and the last branch point up to it
        self._before: dict[Place, Place] = {}
        self._followers: dict[Place, list[Place]] = {BEGINNING: []}
        self.branched = head is not None
        newest = BEGINNING
        for turn in turns:
            if turn.speaker != "user":
                continue
            place, before = Place(turn.talk, turn.number), newest
            if turn.after is not None:
                self.branched = True
                back, number = turn.after
                before = self._known(Place(turn.talk - back, number) if number else BEGINNING, newest)
            before = self._standing[before]
            counts = bool(turn.text) and not turn.backchannel
            self._standing[place] = place if counts else before
            if counts and place not in self._before:
                self._before[place] = before
                self._followers[before].append(place)
                self._followers[place] = []
            newest = place
        self.head = self._standing[newest if head is None else self._known(head, newest)]
        self._path = {BEGINNING, *self._up(self.head)}

    def _known(self, place: Place, otherwise: Place) -> Place:
        return place if place in self._standing else otherwise

    def _up(self, place: Place) -> Iterable[Place]:
        while place != BEGINNING:
            yield place
            place = self._before[place]

    def shows(self, turn: Turn) -> bool:
        """Returns whether a turn of either side is on the path to the head."""
        place = Place(turn.talk, turn.number)
        return self._standing.get(place, BEGINNING) in self._path

    def is_behind(self, turn: Turn) -> bool:
        """Returns whether `turn`, which has changed, makes another tree."""
        known = Place(turn.talk, turn.number) in self._before
        return turn.speaker == "user" and known != (bool(turn.text) and not turn.backchannel)

    def before(self, turn: Turn) -> Place | None:
        """Returns the place that the user's `turn` follows; None if it belongs to another conversation."""
        return self._before.get(Place(turn.talk, turn.number))

    def versions(self, turn: Turn) -> list[Place]:
        """Returns the versions of the user's `turn` in the order in which they were said, itself among them."""
        place = Place(turn.talk, turn.number)
        return self._followers[self._before[place]] if place in self._before else []

    def newest(self, place: Place) -> Place:
        """Returns the newest place of the branch that begins at `place`."""
        while self._followers.get(place):
            place = self._followers[place][-1]
        return place
