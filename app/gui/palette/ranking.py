"""Ranks the commands that match the typed text, favouring recently used ones.

The letters of each typed word must occur in the title in the same order, preferably at the beginnings of words.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.gui.palette.command import Command

BEGINNING, WORD, INSIDE, LETTERS, PLACE = 100.0, 80.0, 50.0, 30.0, 10.0
"""Scores for a match at the beginning of the title, at the beginning of a word, inside a word, as scattered letters,
and at the beginning of a word in the place only.
"""

GAP = 2.0
"""The penalty for each gap between scattered letters."""


@dataclass(frozen=True, slots=True)
class Match:
    """A successful match. Higher scores are better. `places`: the indices of the matched letters in the title."""

    score: float
    places: frozenset[int]


def match(typed: str, title: str, place: str = "") -> Match | None:
    """Matches the typed text against a command's title and place. Returns None if any typed word matches neither. Empty
    text matches everything.
    """
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
    """Matches scattered letters in order, preferring beginnings of words as long as the rest still matches."""
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
    """Returns the indices at which words begin."""
    return [at for at in range(len(text)) if text[at].isalnum() and (at == 0 or not text[at - 1].isalnum())]


def _folded(text: str) -> str:
    """Converts text to lower case and strips accents, one letter at a time so that indices stay the same."""
    return "".join(unicodedata.normalize("NFD", letter)[0].lower()[0] for letter in text)


MOST = 60
"""The maximum number of commands listed."""

MOST_RECENT = 12

RECENT_POINTS = 15.0
"""Bonus for the most recently used command. It decreases linearly for less recent ones."""


def ranked(typed: str, commands: Iterable[Command], recent: Sequence[str]) -> list[tuple[Command, Match]]:
    """Returns the commands to show, best first. For empty text, these are the recently used ones, followed by all
    others except settings, conversations and models.

    `recent` contains command IDs, most recent first.
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
    found.sort(key=lambda one: -one[0])  # stable, so commands with equal scores stay in the providers' order
    return [(command, fits) for _, command, fits in found[:MOST]]


def with_newest(recent: Sequence[str], id: str) -> list[str]:
    """Returns the newest `MOST_RECENT` of `recent`, with the command `id` moved or added to the front."""
    return [id, *(one for one in recent if one != id)][:MOST_RECENT]
