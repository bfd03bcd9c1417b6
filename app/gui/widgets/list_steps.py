"""Finds the steps from one list of names to another, so that a view can keep its selection and position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_STEPS = 48
"""Changes of more steps, such as from all to the found ones, are better shown as a new list."""


@dataclass(frozen=True, slots=True)
class Steps:
    """First remove the runs in `gone` (first, last), which are places in the old list; then apply each of `moves`
    (from, to), which moves a name up; then insert the runs in `new` (first, last), which are places in the new list.
    """

    gone: tuple[tuple[int, int], ...]
    moves: tuple[tuple[int, int], ...]
    new: tuple[tuple[int, int], ...]


def steps_between(old: Sequence[str], new: Sequence[str]) -> Steps | None:
    """Returns the steps between two lists of unique names, or None if there are too many, or nothing stays."""
    had, wanted = set(old), set(new)
    gone = _runs(place for place, name in enumerate(old) if name not in wanted)
    come = _runs(place for place, name in enumerate(new) if name not in had)
    left = [name for name in old if name in wanted]
    if not left or len(gone) + len(come) > MOST_STEPS:
        return None
    moves: list[tuple[int, int]] = []
    for place, name in enumerate(name for name in new if name in had):
        if left[place] != name:
            at = left.index(name, place)
            left.insert(place, left.pop(at))
            moves.append((at, place))
            if len(moves) > MOST_STEPS:
                return None
    return Steps(gone, tuple(moves), come)


def _runs(places: Iterable[int]) -> tuple[tuple[int, int], ...]:
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and runs[-1][1] == place - 1:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    return tuple(runs)
