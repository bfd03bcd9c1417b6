"""What was heard of one revision in a turn: as it was said, as it was meant, and as it was written.

A voice may respell words, and a corrected answer starts in the middle, so what was heard is matched loosely with the
text, and only forward. Code and tables are heard with the sentence that says where they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from app.conversation.languages import ENGLISH
from app.conversation.markdown import (
    Kind,
    blocks,
    cut,
    escaped,
    has_markdown,
    is_line_mark,
    may_have_blocks,
    well_formed,
)
from app.conversation.record.revisions import Revision
from app.conversation.speaking.clauses import CLOSING, aloud_parts, spoken
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
    """The progress of one revision, which is in the language `code`. `told`: events report what reaches the front-end;
    else all counts as sent.
    """

    told: bool = False
    code: str = ENGLISH
    fed: int = 0
    """Words that have reached the front-end."""
    taken: int = 0
    waiting: int = 0
    """Of the tokens of those words: how many the front-end has consumed, and how many wait for their frame."""
    begun: int = 0
    """Where in the text what was heard of it begins, in letters."""
    begun_before: bool = False
    """Whether that is with the word before the first one that matched: only the two together were found."""
    matched: int = 0
    """How many of the words that were heard since then are those of the text."""
    _ends: list[int] = field(default_factory=list)
    """Where each word that the voice gets ends in the text, in letters."""
    _words: list[str] = field(default_factory=list)
    _spans: list[tuple[int, int]] = field(default_factory=list)
    """Each word in its folded form, and where what it stands for begins and ends in the text."""
    _seen: int = 0
    _read: int = 0
    _parts: list[tuple[Kind, int]] = field(default_factory=list)
    """The parts of the text so far, with their places."""
    _announced: tuple[int, int, int] = (-1, 0, 0)
    """Where the newest block begins in the text, in `_ends` and in `_words`."""
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
        if self.all_heard:
            return self._ends[-1]
        return self._spans[self._place - 1][1] if self._place else 0

    @property
    def all_heard(self) -> bool:
        """Whether the text, as it was when it was last looked at, has been heard to its end."""
        return bool(self._place) and self._place == len(self._words)

    def follow(self, text: str) -> None:
        """Looks at the revision's text so far."""
        self._index(text)

    def hear(self, text: str, said: str, *, seek: bool = False) -> bool:
        """Takes words that were heard; returns whether there was progress. `seek`: they may begin anywhere in it."""
        self._index(text)
        place = self._place
        for word in fold(said):
            self.matched += self._step(word, seek and not self.matched)
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
        """Takes the word at `place` for the one that was heard; `first` is where that begins if nothing was before."""
        if not self.matched:
            self.begun, self.begun_before = self._spans[first][0], first < place
        self._place = place + 1
        return True

    def _index(self, text: str) -> None:
        if self._seen == len(text):
            return
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
            self._ends, self._words, self._spans, self._parts = [], [], [], []
            self._read, self._announced = 0, (-1, 0, 0)
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
            self._ends.append(match.end())
            for word in fold(match.group()):
                self._words.append(word)
                self._spans.append(match.span())

    def _add_block(self, begin: int, end: int, said: str) -> None:
        """Adds what a voice says in place of a block, or makes the newest one longer."""
        if said and self._announced[0] != begin:
            self._announced = (begin, len(self._ends), len(self._words))
            self._ends += [end] * len(said.split())
            self._words += fold(said)
        begin, first_end, first_word = self._announced
        self._ends[first_end:] = [end] * (len(self._ends) - first_end)
        self._spans[first_word:] = [(begin, end)] * (len(self._words) - first_word)


ENOUGH_WORDS = 4
"""This many words in a row identify a place in a text of a few sentences."""

_SENTENCE_END = re.compile(rf"[.!?…][{re.escape(CLOSING)}]*(?=\s+[^a-z]|$)")


def intended_answer(answer: str, heard: list[str], *, whole: bool, code: str = ENGLISH) -> str:
    """Returns the spoken form of `answer`, which is in the language `code`, up to the end of the sentence in which
    `heard` ends, or all of it if it was played `whole`; code and tables are as they were written. Empty if `heard` is
    not from this answer.
    """
    text, last = spoken(answer, code), fold(" ".join(heard))[-ENOUGH_WORDS:]
    reached = _end_of(last, text)
    if reached is None:
        return ""
    end = None if whole else _SENTENCE_END.search(text, max(0, reached - 1))
    return _with_blocks(text if end is None else text[: end.end()], answer, code)


def _with_blocks(said: str, answer: str, code: str) -> str:
    """Returns what was said with the code and the tables of `answer` in place of the sentences that stand for them."""
    parts, place = [], 0
    for block, stands in aloud_parts(blocks(answer), code):
        if block.kind == "prose":
            continue
        if stands:
            begin = said.find(stands.strip(), place)
            if begin < 0:
                break
            parts.append(said[place:begin].strip())
            place = begin + len(stands.strip())
        parts.append(block.text.strip())
    return "\n\n".join(filter(None, [*parts, said[place:].strip()]))


def _end_of(words: tuple[str, ...], text: str) -> int | None:
    """The index after the last occurrence of `words` in `text`."""
    if not words:
        return None
    ends: list[int] = []
    folded: list[str] = []
    for token in re.finditer(r"\S+", text):
        for word in fold(token.group()):
            folded.append(word)
            ends.append(token.end())
    for place in range(len(folded) - len(words), -1, -1):
        if tuple(folded[place : place + len(words)]) == words:
            return ends[place + len(words) - 1]
    return None


ALIKE = 0.5
"""Share of the words heard that must be the text's; else a front-end has spoken in words of its own."""
LONGER, SLACK = 1.5, 6
"""The text may have so many times the words that were heard, and so many more; else the wrong place was found."""


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A stretch of a turn in Markdown. `fresh`: it begins with a line."""

    text: str
    fresh: bool = False


@dataclass(slots=True)
class HeardPart:
    """Consecutive words of a turn that are of one revision, which is None if its request is not known.

    `number`: the revision's; 0 for words of none, such as an opening. `before`: what was heard of the answer until
    then. `corrects`: the part puts that right, and does not continue it. `heard`: its words, with a space before each;
    `said`: without the spaces where it was said as one. `start`: it begins at this letter of the turn.
    """

    number: int
    revision: Revision | None = field(compare=False)
    before: str = ""
    corrects: bool = False
    heard: str = ""
    said: str = ""
    start: int = 0
    _progress: Progress | None = field(default=None, repr=False, compare=False)
    _seeks: bool = field(default=False, repr=False, compare=False)  # it may begin anywhere in the text
    _followed: int = field(default=0, repr=False, compare=False)
    _lead: list[str] = field(default_factory=list, repr=False, compare=False)  # heard before the text's own words
    _words: int = field(default=0, repr=False, compare=False)  # heard of the text, or respelt

    def hear(self, text: str, *, glued: bool) -> None:
        """Adds words that were heard; `glued`: without a space before them."""
        self.heard = f"{self.heard} {text}" if self.heard else text
        self.said = f"{self.said}{'' if glued else ' '}{text}".strip()

    @property
    def answer(self) -> str:
        """The revision's own words so far."""
        return "" if self.revision is None else self.revision.text

    @property
    def language(self) -> str:
        """The answer's language as two letters."""
        return ENGLISH if self.revision is None else self.revision.language

    @property
    def marked(self) -> bool:
        """Whether the answer has Markdown in it."""
        return has_markdown(self.answer)

    def meant(self, whole: bool) -> str:
        """What the heard words stand for in the answer; `whole`: it was heard to its end."""
        return intended_answer(self.answer, self.heard.split(), whole=whole, code=self.language)

    def written(self, whole: bool) -> tuple[WrittenPart, WrittenPart]:
        """The words before those of the answer (a bridge), and the part of the answer that was heard, as it was
        written; only the former where a front-end speaks in words of its own.
        """
        own = WrittenPart(escaped(self.said)), WrittenPart("")
        text = self.answer
        if not text:
            return own
        progress = self._follow(text)
        if whole and self.revision is not None and self.revision.end_reason == "complete":
            progress.finish()
        begin, end = progress.begun, progress.heard
        if not progress.matched or progress.matched < ALIKE * self._words:
            return own
        if progress.words_between(begin, end) > LONGER * self._words + SLACK:
            return own
        line, lead = text.rfind("\n", 0, begin) + 1, " ".join(self._lead)
        marks = text[line:begin]
        fresh = is_line_mark(marks) and bool(marks or (line and not lead))
        end = len(text) if whole and progress.all_heard else end
        return WrittenPart(escaped(lead)), WrittenPart(well_formed(cut(text, end)[line if fresh else begin :]), fresh)

    def _follow(self, text: str) -> Progress:
        """Finds what was heard since the last time in the answer."""
        progress = self._progress
        if progress is None:
            progress = self._progress = Progress(code=self.language)
            continues = not self.corrects and progress.go_on(text, self.before)
            self._seeks = bool(self.before) and not continues
        for word in self.heard[self._followed :].split():
            progress.hear(text, word, seek=self._seeks)
            if not progress.matched:
                self._lead.append(word)
                continue
            if progress.begun_before and not self._words:
                self._words += len(fold(self._lead.pop())) if self._lead else 0
            self._words += len(fold(word))
        self._followed = len(self.heard)
        progress.follow(text)
        return progress
