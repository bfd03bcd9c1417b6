"""How much of a revision's text has reached the front-end and has been heard.

A voice may respell words, and a corrected answer starts in the middle, so the heard words are matched loosely with the
text, and only forwards. Code and tables count as heard with the sentence that announces them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from app.conversation.languages import ENGLISH
from app.conversation.markdown import Kind, blocks, may_have_blocks
from app.conversation.speaking.clauses import aloud_parts
from app.conversation.words import fold

NEAR = 4
"""How many words of the text may be skipped to match one that was heard."""
FAR = 400
"""How many words ahead to search for two consecutive words, if there is no match nearby."""
SAME = 0.5
"""Share of the earlier words that a text must contain to count as their continuation."""

_WRITTEN = re.compile(r"\S+")


@dataclass(slots=True)
class Progress:
    """The progress of one revision, which is in the language `code`.

    `reported`: events report what reaches the front-end. Otherwise, everything counts as sent.
    """

    reported: bool = False
    code: str = ENGLISH
    fed: int = 0
    """Words that have reached the front-end."""
    taken: int = 0
    waiting: int = 0
    """Of the tokens of those words: how many the front-end has consumed, and how many wait for their frame."""
    begun: int = 0
    """Index of the first character of the text that was heard."""
    begun_before: bool = False
    """Whether the word before the first match belongs to it, because only the two together were found."""
    matched: int = 0
    """How many of the words heard since then match the text."""
    _ends: list[int] = field(default_factory=list)
    """Index of the character after each word of the text."""
    _words: list[str] = field(default_factory=list)
    _spans: list[tuple[int, int]] = field(default_factory=list)
    """Each word in its folded form, and where what it stands for begins and ends in the text."""
    _seen: int = 0
    _read: int = 0
    _parts: list[tuple[Kind, int]] = field(default_factory=list)
    """The parts of the text so far, with their places."""
    _announced: tuple[int, int] = (-1, 0)
    """Where the newest block begins in the text and in `_words`."""
    _place: int = 0
    """How many of `_words` have been heard or skipped."""
    _before: str = ""

    def feed(self, words: int) -> None:
        """Counts words that have reached the front-end."""
        self.reported = True
        self.fed += max(0, words)

    def take(self, taken: int, waiting: int) -> None:
        """Sets how many tokens the front-end has consumed, and how many wait for their frame."""
        self.reported, self.taken, self.waiting = True, max(0, taken), max(0, waiting)

    def sent(self, text: str) -> int:
        """How many letters of `text`, the revision's so far, the front-end has; at least what was heard."""
        if not self.reported:
            return len(text)
        self._index(text)
        words = len(self._ends)
        if self.fed or not self.taken:
            words = min(self.fed, words)
        if self.waiting:
            words = words * self.taken // (self.taken + self.waiting)
        return max(self._ends[words - 1] if words else 0, self.heard)

    @property
    def heard(self) -> int:
        """How many letters of the text have been heard."""
        if self.all_heard:
            return self._ends[-1]
        return self._spans[self._place - 1][1] if self._place else 0

    @property
    def all_heard(self) -> bool:
        """Whether the text, when it was last indexed, had been heard to its end."""
        return bool(self._place) and self._place == len(self._words)

    def follow(self, text: str) -> None:
        """Updates the index with the revision's text so far."""
        self._index(text)

    def hear(self, text: str, said: str, *, seek: bool = False) -> bool:
        """Processes heard words; returns whether there was progress. `seek`: they may begin anywhere in the text."""
        self._index(text)
        place = self._place
        for word in fold(said):
            self.matched += self._step(word, seek and not self.matched)
        return self._place > place

    def go_on(self, text: str, said: str) -> bool:
        """Continues after `said`, which comes from an older revision; returns whether there was progress."""
        self._index(text)
        words, place, found = fold(said), self._place, 0
        for word in words:
            found += self._step(word)
        if found < SAME * len(words):
            self._place = place
        self._before = words[-1] if words else ""
        self.begun, self.matched = 0, 0
        return self._place > place

    def finish(self) -> bool:
        """Marks a short rest as heard, as it was only respelt; returns whether there was any."""
        left = len(self._words) - self._place
        if self._place and 0 < left <= NEAR:
            self._place = len(self._words)
            return True
        return False

    def words_between(self, begin: int, end: int) -> int:
        """How many of the words that the voice gets are of these letters of the text."""
        return sum(begin <= first and last <= end for first, last in self._spans)

    def _step(self, word: str, seek: bool = False) -> bool:
        before, self._before = self._before, word
        words = self._words
        for place in range(self._place, self._place if seek else min(self._place + NEAR, len(words))):
            if words[place] == word:
                return self._go_to(place, place)
        for place in range(max(1, self._place), min(self._place + FAR, len(words))):
            if words[place] == word and words[place - 1] == before:
                return self._go_to(place, place - 1)
        return False

    def _go_to(self, place: int, first: int) -> bool:
        """Counts the word at `place` as heard. `first`: the first word of the match."""
        if not self.matched:
            self.begun, self.begun_before = self._spans[first][0], first < place
        self._place = place + 1
        return True

    def _index(self, text: str) -> None:
        if self._seen == len(text):
            return
        if self._ends and self._ends[-1] == self._seen:  # the last word may have become longer
            self._ends.pop()
        self._ends += [match.end() for match in _WRITTEN.finditer(text, self._ends[-1] if self._ends else 0)]
        self._seen = len(text)
        if len(self._parts) <= 1 and not may_have_blocks(text):
            self._parts = [("prose", 0)]
            self._add_words(text)
            self._read = len(text)
            return
        start, parts, ends = 0, list(aloud_parts(blocks(text), self.code)), []
        places: list[tuple[Kind, int]] = []
        for part, _ in parts:
            places.append((part.kind, start))
            start += len(part.text)
            ends.append(start)
        if places[: len(self._parts)] != self._parts:  # what looked like words is a table
            self._words, self._spans, self._parts = [], [], []
            self._read, self._announced = 0, (-1, 0)
        known = max(0, len(self._parts) - 1)
        self._parts = places
        for (part, said), (_, begin), end in list(zip(parts, places, ends, strict=True))[known:]:
            if part.kind == "prose":
                self._add_words(text[:end])
            else:
                self._add_block(begin, end, said)
            self._read = end
        self._place = min(self._place, len(self._words))

    def _add_words(self, text: str) -> None:
        for match in _WRITTEN.finditer(text, self._read):
            for word in fold(match.group()):
                self._words.append(word)
                self._spans.append(match.span())

    def _add_block(self, begin: int, end: int, said: str) -> None:
        """Adds what a voice says in place of a block, or makes the newest one longer."""
        if said and self._announced[0] != begin:
            self._announced = (begin, len(self._words))
            self._words += fold(said)
        begin, first_word = self._announced
        self._spans[first_word:] = [(begin, end)] * (len(self._words) - first_word)
