"""Orders the commands that fit what was typed; the recently used ones first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.gui.palette.command import Command
from app.gui.palette.matching import Match, match

MOST = 60
"""Commands in the list."""

MOST_RECENT = 12

RECENT_POINTS = 15.0
"""What the most recently used command has ahead of others that fit as well; older ones have less."""


def ranked(typed: str, commands: Iterable[Command], recent: Sequence[str]) -> list[tuple[Command, Match]]:
    """The commands to show, best first. With nothing typed: the recent ones, then all but conversations and models.

    `recent`: ids, the newest first.
    """
    bonus = {id: RECENT_POINTS * (1 - place / MOST_RECENT) for place, id in enumerate(recent[:MOST_RECENT])}
    found: list[tuple[float, Command, Match]] = []
    for command in commands:
        if not typed.strip():
            if command.id in bonus or command.kind == "command":
                found.append((bonus.get(command.id, 0.0), command, Match(0.0, frozenset())))
            continue
        fits = match(typed, command.title, command.place)
        if fits is not None:
            found.append((fits.score + bonus.get(command.id, 0.0), command, fits))
    found.sort(key=lambda one: -one[0])  # stable: equal ones keep the order of their providers
    return [(command, fits) for _, command, fits in found[:MOST]]


def with_newest(recent: Sequence[str], id: str) -> list[str]:
    """`recent` after a command was used."""
    return [id, *(one for one in recent if one != id)][:MOST_RECENT]
