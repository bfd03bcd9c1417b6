"""What was heard of one revision in a turn: as it was said, as it was meant, and as it was written."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from app.conversation.languages import ENGLISH
from app.conversation.markdown import blocks, cut, escaped, has_markdown, is_line_mark, well_formed
from app.conversation.record.progress import Progress
from app.conversation.record.revisions import Revision
from app.conversation.speaking.clauses import CLOSING, spoken_form
from app.conversation.speaking.correction import after_bridge
from app.conversation.words import fold

ENOUGH_WORDS = 4
"""This many words in a row identify a place in a text of a few sentences."""
ALIKE = 0.5
"""The share of the words heard that must be the text's; otherwise the front-end has rephrased the answer."""
LONGER, SLACK = 1.5, 6
"""The text may have at most `LONGER` × the words heard + `SLACK` words; otherwise the wrong place was found."""

SENTENCE_END = re.compile(
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
    - `broken_off`: the voice stopped in it since the user went on speaking, and began again later.
    - `took`: if its model took over in the middle of the answer, the seconds from the change to its first word.
    - `heard`: its words, with a space before each; `said`: without the spaces where it was said as one.
    """

    number: int
    revision: Revision | None = field(compare=False)
    before: str = ""
    corrects: bool = False
    broken_off: bool = False
    took: float | None = None
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
    found = SENTENCE_END.search(text, max(0, end - 1))
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
    for token in re.finditer(r"\S+", text):
        for word in fold(token.group()):
            folded.append(word)
            ends.append(reached[token.end() - 1])
    for place in range(len(folded) - len(words), -1, -1):
        if words and tuple(folded[place : place + len(words)]) == words:
            return ends[place + len(words) - 1]
    return None
