"""What was heard of one revision in a turn: as it was said, as it was meant, and as it was written.

A voice may respell words, and a corrected answer starts in the middle, so the heard words are matched loosely with the
text, and only forwards. Code and tables count as heard with the sentence that announces them.
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
from app.conversation.speaking.clauses import CLOSING, aloud_parts, spoken_form
from app.conversation.speaking.correction import after_bridge
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


ENOUGH_WORDS = 4
"""This many words in a row identify a place in a text of a few sentences."""
ALIKE = 0.5
"""The share of the words heard that must be the text's; otherwise the front-end has rephrased the answer."""
LONGER, SLACK = 1.5, 6
"""The text may have at most `LONGER` × the words heard + `SLACK` words; otherwise the wrong place was found."""

_SENTENCE_END = re.compile(
    rf"[.!?…][{re.escape(CLOSING)}*_`~]*(?=\s+[^a-z]|\s*$)|(?=\n[ \t]*(?:\n|(?:[-*+•]|\d{{1,2}}[.)])[ \t]))"
)


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A stretch of a turn in Markdown. `fresh`: it begins with a line."""

    text: str
    fresh: bool = False


@dataclass(slots=True)
class HeardPart:
    """Consecutive words of a turn that come from one revision.

    A front-end that reads the oracle aloud reports which characters of the revision each word stands for. For another
    one they are found by comparing the words.

    - `number`: the revision's; 0 for words of none, such as an opening.
    - `revision`: None if its request is unknown.
    - `before`: what was heard of the answer until then.
    - `corrects`: the part corrects that, and does not continue it.
    - `heard`: its words, with a space before each; `said`: without the spaces where it was said as one.
    """

    number: int
    revision: Revision | None = field(compare=False)
    before: str = ""
    corrects: bool = False
    heard: str = ""
    said: str = ""
    _span: tuple[int, int] | None = field(default=None, repr=False, compare=False)
    """The characters that were heard, as the front-end reports them."""
    _unknown: bool = field(default=False, repr=False, compare=False)  # some words come without their characters
    _progress: Progress | None = field(default=None, repr=False, compare=False)
    _seeks: bool = field(default=False, repr=False, compare=False)  # it may begin anywhere in the text
    _followed: int = field(default=0, repr=False, compare=False)
    _lead: list[str] = field(default_factory=list, repr=False, compare=False)  # heard before the text's own words
    _words: int = field(default=0, repr=False, compare=False)  # heard of the text, or respelt

    def hear(self, text: str, *, glued: bool, begin: int = -1, end: int = -1) -> None:
        """Adds words that were heard; the other parameters are those of `AssistantSaid`."""
        self.heard = f"{self.heard} {text}" if self.heard else text
        self.said = f"{self.said}{'' if glued else ' '}{text}".strip()
        if begin < 0 or end < begin or self._unknown:
            self._unknown = True
        elif self._span is not None:
            self._span = self._span[0], max(self._span[1], end)
        elif begin < end:
            self._span = begin, end
        else:
            self._lead.append(text)

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
        """Returns the answer, as the model wrote it, up to the end of the sentence in which the heard words end.

        `whole`: it was heard to its end. Empty if the words aren't those of the answer.
        """
        if self._unknown:
            end = None if not self.answer else _end_of(fold(self.heard)[-ENOUGH_WORDS:], self.answer, self.language)
            end = len(self.answer) if end and whole and self._complete else end
        else:
            reached = self._reached(whole)
            end = None if reached is None else reached[1]
        return "" if end is None else _through_sentence(self.answer, end)

    def written(self, whole: bool, *, marked: bool) -> tuple[WrittenPart, WrittenPart]:
        """Returns the words before those of the answer (a bridge), and what was heard of the answer as it was written.

        Only the former if the front-end rephrases answers. `marked`: as Markdown; otherwise as plain text.
        """
        # A front-end that doesn't report what its words stand for may rephrase the answer.
        reached = None if self._unknown and not marked else self._reached(whole)
        if reached is None:
            return WrittenPart(escaped(self.said) if marked else self.said), WrittenPart("")
        text, (begin, end), lead = self.answer, reached, " ".join(self._lead)
        if not marked:
            said = text[begin:end].strip()
            return WrittenPart(lead), WrittenPart(after_bridge(said, self.language) if lead else said)
        begin += len(text[begin:end]) - len(text[begin:end].lstrip())
        line = text.rfind("\n", 0, begin) + 1
        marks = text[line:begin]
        fresh = is_line_mark(marks) and bool(marks or (line and not lead))
        return WrittenPart(escaped(lead)), WrittenPart(well_formed(cut(text, end)[line if fresh else begin :]), fresh)

    def _reached(self, whole: bool) -> tuple[int, int] | None:
        """Returns which characters of the answer were heard; None if the words aren't those of the answer."""
        text, complete = self.answer, whole and self._complete
        if not text:
            return None
        if not self._unknown:
            if self._span is None:
                return None
            begin, end = self._span
            return begin, len(text) if complete else max(min(end, len(text)), _end_of_block(text, end))
        progress = self._follow(text)
        if complete:
            progress.finish()
        begin, end = progress.begun, progress.heard
        if not progress.matched or progress.matched < ALIKE * self._words:
            return None
        if progress.words_between(begin, end) > LONGER * self._words + SLACK:
            return None
        return begin, len(text) if whole and progress.all_heard else end

    @property
    def _complete(self) -> bool:
        return self.revision is not None and self.revision.end_reason == "complete"

    def _follow(self, text: str) -> Progress:
        """Finds what was heard since the last time in the answer."""
        progress = self._progress
        if progress is None:
            progress = self._progress = Progress(code=self.language)
            continues = not self.corrects and progress.go_on(text, self.before)
            self._seeks = bool(self.before) and not continues
            self._lead.clear()
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


def _through_sentence(text: str, end: int) -> str:
    """Returns `text` up to the end of the sentence, or of the code or table, in which character `end` is the last."""
    if place := _end_of_block(text, end):
        return text[:place].strip()
    found = _SENTENCE_END.search(text, max(0, end - 1))
    return (text if found is None else text[: max(end, found.end())]).strip()


def _end_of_block(text: str, end: int) -> int:
    """Returns where the code or table ends that character `end` belongs to, as it may have grown; 0 in prose."""
    place = 0
    for block in blocks(text):
        place += len(block.text)
        if place - len(block.text) < end <= place:
            return 0 if block.kind == "prose" else place
    return 0


def _end_of(words: tuple[str, ...], answer: str, code: str) -> int | None:
    """Returns how many characters of `answer` have been said after the last occurrence of `words` in it."""
    text, reached = spoken_form(answer, code, whole=True)
    ends: list[int] = []
    folded: list[str] = []
    for token in _WRITTEN.finditer(text):
        for word in fold(token.group()):
            folded.append(word)
            ends.append(reached[token.end() - 1])
    for place in range(len(folded) - len(words), -1, -1):
        if words and tuple(folded[place : place + len(words)]) == words:
            return ends[place + len(words) - 1]
    return None
