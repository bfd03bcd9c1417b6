"""How far a revision has come: which of its words the front-end has, and which have been heard.

A voice respells what it reads, and an answer that is mended starts in the middle: so what was heard is looked for in
the text, forgivingly, and only ever further on. Pure text; knows no event.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from app.conversation.words import fold

NEAR = 4
"""So many words of the text may be passed over for one that was heard."""
FAR = 400
"""Within so many words two in a row are looked for, when one was not near."""
SAME = 0.5
"""Share of what was said before that a text must hold, near by near, to count as going on with it."""

_WRITTEN = re.compile(r"\S+")


@dataclass(slots=True)
class Progress:
    """Of one revision. `told`: whether it is told at all what reaches the front-end; if not, all is taken as sent."""

    told: bool = False
    fed: int = 0
    """Words that have reached the front-end."""
    taken: int = 0
    waiting: int = 0
    """Of the tokens that those words are: those that had their frame, and those that wait for it."""
    _ends: list[int] = field(default_factory=list)
    """Where each written word ends, in letters."""
    _words: list[str] = field(default_factory=list)
    _at: list[int] = field(default_factory=list)
    """Each word as it is compared, and where the written word that holds it ends."""
    _read: int = 0
    _place: int = 0
    """How many of `_words` have been heard, or were passed over."""
    _before: str = ""

    def feed(self, words: int) -> None:
        """So many more words have reached the front-end."""
        self.told = True
        self.fed += max(0, words)

    def take(self, taken: int, waiting: int) -> None:
        """Of the tokens at the front-end, so many are taken, and so many wait for their frame."""
        self.told, self.taken, self.waiting = True, max(0, taken), max(0, waiting)

    def sent(self, text: str) -> int:
        """How many letters of `text`, the revision's so far, are with the front-end; at least what was heard."""
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
        """Words were heard; whether that brought it further."""
        self._index(text)
        place = self._place
        for word in fold(said):
            self._step(word)
        return self._place > place

    def go_on(self, text: str, said: str) -> bool:
        """It goes on where an older one was when `said` had been said; whether that brought it further."""
        self._index(text)
        words, place, found = fold(said), self._place, 0
        for word in words:
            found += self._step(word)
        if found < SAME * len(words):
            self._place = place
        self._before = words[-1] if words else ""
        return self._place > place

    def finish(self) -> bool:
        """The answer was heard to its end: a rest that was only respelt was heard, too. Whether that changed it."""
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
