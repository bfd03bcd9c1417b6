"""Full-text search in conversations, with snippets around the matches.

Every search word must occur in a turn or in the title; the last one also matches as a prefix, since the user may still
be typing. Case and accents are ignored. The input is never interpreted as query syntax.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata

from app.history.schema import TURN_BITS

BEFORE, AROUND = 36, 110
"""The maximum number of characters in a snippet: before the first match, and in total."""
MOST_WORDS = 24
"""The maximum number of words per query, since the user may paste a whole page."""

_WORD = re.compile(r"[^\W_]+")
_LETTER = r"[^\W_]"


class Query:
    """A parsed search query; falsy if it contains no words. `indexed`: whether the database has a search index."""

    def __init__(self, typed: str, indexed: bool = True) -> None:
        typed = unicodedata.normalize("NFC", typed.replace("\0", " "))
        self._words = [parts[:MOST_WORDS] for word in typed.split() if (parts := _WORD.findall(word))][:MOST_WORDS]
        self._indexed = indexed
        patterns = [self._pattern(place) for place in range(len(self._words))]
        self._patterns = [re.compile(pattern) for pattern in patterns]
        self._any = re.compile("|".join(patterns))

    def __bool__(self) -> bool:
        return bool(self._words)

    def find(self, database: sqlite3.Connection) -> list[set[int]]:
        """Returns, for each word, the IDs of the conversations whose turns contain it."""
        return [
            {row for (row,) in database.execute(f"SELECT DISTINCT row >> {TURN_BITS} FROM ({query})", arguments)}
            for query, arguments in map(self._query, range(len(self._words)))
        ]

    def newest(self, database: sqlite3.Connection, every: bool) -> dict[int, int]:
        """Maps each matching conversation to its newest turn that contains all words (if `every`) or any of them."""
        parts = [self._query(place) for place in range(len(self._words))]
        if len({query for query, _ in parts}) == 1 and self._indexed:  # a single index query is much faster
            query, arguments = parts[0][0], [(" AND " if every else " OR ").join(word for _, (word,) in parts)]
        else:
            query = (" INTERSECT " if every else " UNION ").join(query for query, _ in parts)
            arguments = [argument for _, arguments in parts for argument in arguments]
        grouped = f"SELECT row >> {TURN_BITS}, MAX(row) FROM ({query}) GROUP BY 1"
        return dict(database.execute(grouped, arguments).fetchall())

    def in_title(self, title: str) -> list[bool]:
        """Returns, for each word, whether it occurs in `title`."""
        folded, _ = _fold(title)
        return [pattern.search(folded) is not None for pattern in self._patterns]

    def snippet(self, text: str) -> str:
        """Returns an excerpt of `text` around the first match, with each match between "\x02" and "\x03"."""
        text = text.replace("\x02", " ").replace("\x03", " ")
        folded, places = _fold(text)
        first = self._any.search(folded)
        found, after = (0, 0) if first is None else _where(first, places)
        start = 0 if found <= BEFORE else text.find(" ", found - BEFORE, found) + 1 or found
        end = len(text)
        if end - start > AROUND:
            end = max(text.rfind(" ", start, start + AROUND), after)
            end = end if end > start else start + AROUND
        shown, place = [], start
        while first is not None and (match := _where(first, places))[1] <= end:
            shown += [text[place : match[0]], "\x02", text[match[0] : match[1]], "\x03"]
            place = match[1]
            first = self._any.search(folded, first.end())
        shown.append(text[place:end])
        return f"{'…' if start else ''}{''.join(shown)}{'…' if end < len(text) else ''}"

    def _query(self, place: int) -> tuple[str, list[str]]:
        """Returns an SQL query for the turns that contain the word at index `place`, with its parameters."""
        words = self._words[place]
        if self._indexed and not self._matches_inside(place):
            phrase = f'"{" ".join(words)}"{"*" if place == len(self._words) - 1 else ""}'
            return "SELECT rowid AS row FROM words WHERE words MATCH ?", [phrase]
        holds = " AND ".join("text LIKE ?" for _ in words)
        return f"SELECT id AS row FROM turns WHERE {holds}", [f"%{word}%" for word in words]

    def _matches_inside(self, place: int) -> bool:
        """Returns whether a word may match inside other words, as required in scripts without spaces between words."""
        return any(unicodedata.category(letter) == "Lo" for word in self._words[place] for letter in word)

    def _pattern(self, place: int) -> str:
        words = r"[\W_]+".join(re.escape(_fold(word)[0]) for word in self._words[place])
        if self._matches_inside(place) or not self._indexed:
            return words
        end = f"{_LETTER}*" if place == len(self._words) - 1 else f"(?!{_LETTER})"
        if len(self._words[place]) > 1:
            return f"(?<!{_LETTER}){words}{end}"
        return f"{words}(?<!{_LETTER}{words}){end}"  # much faster with the word first


def _where(match: re.Match[str], places: list[int] | None) -> tuple[int, int]:
    """Converts the span of a match in the folded text to a span in the original text."""
    start, end = match.span()
    return (start, end) if places is None else (places[start], places[end - 1] + 1)


def _fold(text: str) -> tuple[str, list[int] | None]:
    """Returns `text` in lowercase without accents, and each character's original index (None if all are unchanged)."""
    if text.isascii():
        return text.lower(), None
    letters, places = [], []
    for place, letter in enumerate(text):
        for part in unicodedata.normalize("NFD", letter.lower()):
            if not unicodedata.combining(part):
                letters.append(part)
                places.append(place)
    return "".join(letters), places
