"""Orders the commands that fit what was typed; the recently used ones first.

The typed letters must occur in the title in order, best at the beginnings of words.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.gui.palette.command import Command

BEGINNING, WORD, INSIDE, LETTERS, PLACE = 100.0, 80.0, 50.0, 30.0, 10.0
"""Points for typed letters at the title's beginning, at a word's beginning, inside of a word, apart, and at the
beginning of a word of the place alone.
"""

GAP = 2.0
"""Taken off for each run of letters that the typed ones leave out."""


@dataclass(frozen=True, slots=True)
class Match:
    """`score`: more is better; `places`: of the title's letters that were typed."""

    score: float
    places: frozenset[int]


def match(typed: str, title: str, place: str = "") -> Match | None:
    """How a title fits, in this place; None if a typed word is in neither. Nothing typed fits everything."""
    letters, around = _folded(title), _folded(place)
    score, places = 0.0, set[int]()
    for word in _folded(typed).split():
        found = _word(word, letters)
        if found is None and any(around.startswith(word, at) for at in _beginnings(around)):
            found = Match(PLACE, frozenset())
        if found is None:
            return None
        score += found.score
        places |= found.places
    return Match(score - len(title) / 50, frozenset(places))


def _word(word: str, title: str) -> Match | None:
    starts = _beginnings(title)
    if title.startswith(word):
        return Match(BEGINNING, frozenset(range(len(word))))
    for points, candidates in ((WORD, starts), (INSIDE, range(len(title)))):
        for place in candidates:
            if title.startswith(word, place):
                return Match(points, frozenset(range(place, place + len(word))))
    return _apart(word, title, starts)


def _apart(word: str, title: str, starts: list[int]) -> Match | None:
    """Finds letters in order, each at the next beginning of a word if one has it and the rest still follows."""
    places: list[int] = []
    at = 0
    for number, letter in enumerate(word):
        begin = next((place for place in starts if place >= at and title[place] == letter), -1)
        if begin < 0 or not _follows(word[number + 1 :], title, begin + 1):
            begin = title.find(letter, at)
        if begin < 0:
            return None
        places.append(begin)
        at = begin + 1
    gaps = sum(after - before > 1 for before, after in itertools.pairwise(places))
    return Match(LETTERS - GAP * gaps, frozenset(places))


def _follows(letters: str, title: str, at: int) -> bool:
    for letter in letters:
        at = title.find(letter, at) + 1
        if not at:
            return False
    return True


def _beginnings(text: str) -> list[int]:
    """Where words begin."""
    return [at for at in range(len(text)) if text[at].isalnum() and (at == 0 or not text[at - 1].isalnum())]


def _folded(text: str) -> str:
    """The text in lower case and without accents, letter by letter, so that places stay what they are."""
    return "".join(unicodedata.normalize("NFD", letter)[0].lower()[0] for letter in text)


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
