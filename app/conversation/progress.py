"""Follows the progress of a revision's text: which words the front-end has, and which have been heard.

A voice may respell words, and a corrected answer starts in the middle, so what was heard is matched loosely with the
text, and only forward.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from app.conversation.words import fold

NEAR = 4
"""So many words of the text may be skipped to match one that was heard."""
FAR = 400
"""Within so many words a match of two in a row is searched for, if one was not near."""
SAME = 0.5
"""Share of the earlier words that a text must contain to count as their continuation."""

_WRITTEN = re.compile(r"\S+")


@dataclass(slots=True)
class Progress:
    """The progress of one revision. `told`: events report what reaches the front-end; else all counts as sent."""

    told: bool = False
    fed: int = 0
    """Words that have reached the front-end."""
    taken: int = 0
    waiting: int = 0
    """Of the tokens of those words: how many the front-end has consumed, and how many wait for their frame."""
    _ends: list[int] = field(default_factory=list)
    """Where each written word ends, in letters."""
    _words: list[str] = field(default_factory=list)
    _at: list[int] = field(default_factory=list)
    """Each word in its folded form, and where the written word that contains it ends."""
    _read: int = 0
    _place: int = 0
    """How many of `_words` have been heard or skipped."""
    _before: str = ""

    def feed(self, words: int) -> None:
        """Counts words that have reached the front-end."""
        self.told = True
        self.fed += max(0, words)

    def take(self, taken: int, waiting: int) -> None:
        """Sets how many tokens the front-end has consumed, and how many wait for their frame."""
        self.told, self.taken, self.waiting = True, max(0, taken), max(0, waiting)

    def sent(self, text: str) -> int:
        """How many letters of `text`, the revision's so far, the front-end has; at least what was heard."""
        if not self.told:
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
        if self._place and self._place == len(self._words):
            return self._ends[-1]
        return self._at[self._place - 1] if self._place else 0

    def hear(self, text: str, said: str) -> bool:
        """Takes words that were heard; returns whether there was progress."""
        self._index(text)
        place = self._place
        for word in fold(said):
            self._step(word)
        return self._place > place

    def go_on(self, text: str, said: str) -> bool:
        """Continues where an older revision was after `said`; returns whether there was progress."""
        self._index(text)
        words, place, found = fold(said), self._place, 0
        for word in words:
            found += self._step(word)
        if found < SAME * len(words):
            self._place = place
        self._before = words[-1] if words else ""
        return self._place > place

    def finish(self) -> bool:
        """Marks a short rest as heard, as it was only respelt; returns whether there was any."""
        left = len(self._words) - self._place
        if self._place and 0 < left <= NEAR:
            self._place = len(self._words)
            return True
        return False

    def _step(self, word: str) -> bool:
        before, self._before = self._before, word
        words = self._words
        for place in range(self._place, min(self._place + NEAR, len(words))):
            if words[place] == word:
                self._place = place + 1
                return True
        for place in range(max(1, self._place), min(self._place + FAR, len(words))):
            if words[place] == word and words[place - 1] == before:
                self._place = place + 1
                return True
        return False

    def _index(self, text: str) -> None:
        if self._read == len(text):
            return
        for match in _WRITTEN.finditer(text, self._read):
            self._ends.append(match.end())
            for word in fold(match.group()):
                self._words.append(word)
                self._at.append(match.end())
        self._read = len(text)
