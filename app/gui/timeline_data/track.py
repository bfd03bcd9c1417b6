"""Keeps things in the order of their time, and finds those of a window by bisection.

So a window of half a minute costs the same in the first minute of a conversation and in the thirtieth.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

PRUNE_AT_ONCE = 64
"""Old things are dropped in batches of at least so many, since shortening a list moves all that stays."""


class Timed(Protocol):
    """Something with a time: `start` never changes once it is on a track; `end` is None while it lasts."""

    @property
    def start(self) -> float: ...

    @property
    def end(self) -> float | None: ...


T = TypeVar("T", bound=Timed)


class Track(Generic[T]):
    """Things ordered by `start`; those with the same start in the order in which they came."""

    def __init__(self) -> None:
        self._things: list[T] = []
        self._starts: list[float] = []
        self._reach: list[float] = []
        """For each place, the latest end of all things up to it: it only grows, so it can be bisected."""

    def __len__(self) -> int:
        return len(self._things)

    def __iter__(self) -> Iterator[T]:
        return iter(self._things)

    @property
    def last(self) -> T | None:
        """The one that started last."""
        return self._things[-1] if self._things else None

    def add(self, thing: T) -> T:
        """Inserts a thing at its place, and returns it."""
        place = bisect_right(self._starts, thing.start)
        self._things.insert(place, thing)
        self._starts.insert(place, thing.start)
        self._reach.insert(place, -1.0)
        self._measure(place)
        return thing

    def changed(self, thing: T) -> None:
        """Call it when the end of a thing on this track has changed."""
        place = self.place(thing)
        if place >= 0:
            self._measure(place)

    def between(self, earliest: float, latest: float) -> list[T]:
        """What lasts at any moment from `earliest` to `latest`, both included, ordered by start."""
        first = bisect_left(self._reach, earliest)
        last = bisect_right(self._starts, latest)
        return [thing for thing in self._things[first:last] if _end(thing) >= earliest]

    def after(self, start: float) -> T | None:
        """The first thing that starts later than `start`."""
        place = bisect_right(self._starts, start)
        return self._things[place] if place < len(self._things) else None

    def before(self, start: float) -> T | None:
        """The last thing that starts earlier than `start`."""
        place = bisect_left(self._starts, start)
        return self._things[place - 1] if place else None

    def place(self, thing: T) -> int:
        """The index of a thing, or -1 if it is not on the track."""
        for place in range(bisect_left(self._starts, thing.start), len(self._things)):
            if self._things[place] is thing:
                return place
            if self._starts[place] != thing.start:
                break
        return -1

    def at(self, place: int) -> T | None:
        """The thing at an index, or None beyond the ends."""
        return self._things[place] if 0 <= place < len(self._things) else None

    def drop_before(self, time: float) -> list[T]:
        """Drops what ended before `time`, up to the first thing that did not; returns what went."""
        count = bisect_left(self._reach, time)
        if count < PRUNE_AT_ONCE:
            return []
        dropped = self._things[:count]
        del self._things[:count], self._starts[:count], self._reach[:count]
        return dropped

    def _measure(self, place: int) -> None:
        reach = self._reach[place - 1] if place else -1.0
        for at in range(place, len(self._things)):
            reach = max(reach, _end(self._things[at]))
            if self._reach[at] == reach:
                break  # what follows depends on this alone
            self._reach[at] = reach


def _end(thing: Timed) -> float:
    return float("inf") if thing.end is None else thing.end
