"""Ranks the commands that match the typed text, favouring recently used ones.

Each typed word must occur in the title, as a part or as the beginnings of its words ("mtm" is "Mute the microphone"),
or begin one of the command's other words, or a word of its place.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.gui.palette.command import Command

BEGINNING, WORD, INSIDE, INITIALS, OTHER, PLACE = 100.0, 80.0, 50.0, 40.0, 20.0, 5.0
"""Scores for a match at the beginning of the title, at the beginning of a word, inside a word, as beginnings of several
words, and, if the title has none of these, in the other words or in the place.
"""

STEP = 1.0
"""What each of the other words that come before the matching one costs."""


@dataclass(frozen=True, slots=True)
class Match:
    """A successful match. Higher scores are better. `places`: the indices of the matched letters in the title."""

    score: float
    places: frozenset[int]


def match(typed: str, title: str, place: str = "", other_words: str = "") -> Match | None:
    """Matches the typed text against a command's title, other words and place. Returns None if any typed word matches
    none of them. Empty text matches everything.
    """
    letters, others, around = _folded(title), _folded(other_words).split(","), _folded(place)
    score, places = 0.0, set[int]()
    for word in _folded(typed).split():
        found = _word(word, letters) or _around(word, others, around)
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
    return _initials(word, title, starts)


def _initials(word: str, title: str, starts: list[int]) -> Match | None:
    """Matches beginnings of successive words."""
    for number in range(len(starts)):
        rest, places = iter(starts[number:]), list[int]()
        for letter in word:
            at = places[-1] + 1 if places else 0
            if not places or title[at : at + 1] != letter:
                at = next((start for start in rest if start >= at), len(title))
            if title[at : at + 1] != letter:
                break
            places.append(at)
        else:
            return Match(INITIALS, frozenset(places))
    return None


def _around(word: str, others: Sequence[str], place: str) -> Match | None:
    """Matches the beginning of a word in the other words or, failing that, in the place."""
    for number, other in enumerate(others):
        if any(other.startswith(word, at) for at in _beginnings(other)):
            return Match(max(OTHER - STEP * number, PLACE + STEP), frozenset())
    return Match(PLACE, frozenset()) if any(place.startswith(word, at) for at in _beginnings(place)) else None


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
    others except settings, their values, conversations and models.

    `recent` contains command IDs, most recent first.
    """
    bonus = {id: RECENT_POINTS * (1 - place / MOST_RECENT) for place, id in enumerate(recent[:MOST_RECENT])}
    found: list[tuple[float, Command, Match]] = []
    for command in commands:
        if not typed.strip():
            if command.id in bonus or command.kind == "command":
                found.append((bonus.get(command.id, 0.0), command, Match(0.0, frozenset())))
            continue
        fits = match(typed, command.title, command.place, command.other_words)
        if fits is not None:
            found.append((fits.score + bonus.get(command.id, 0.0), command, fits))
    found.sort(key=lambda one: -one[0])  # stable, so commands with equal scores stay in the providers' order
    return [(command, fits) for _, command, fits in found[:MOST]]


def with_newest(recent: Sequence[str], id: str) -> list[str]:
    """Returns the newest `MOST_RECENT` of `recent`, with the command `id` moved or added to the front."""
    return [id, *(one for one in recent if one != id)][:MOST_RECENT]
