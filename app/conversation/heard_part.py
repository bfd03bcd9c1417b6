"""What was heard of one revision in a turn: as it was said, as it was meant, and as it was written."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.conversation.intended import intended_answer
from app.conversation.languages import ENGLISH
from app.conversation.markdown import cut, escaped, has_markdown, is_line_mark, well_formed
from app.conversation.progress import Progress
from app.conversation.revisions import Revision
from app.conversation.words import fold

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
