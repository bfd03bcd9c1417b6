"""Decides what the model says, frame by frame, given when the words of the oracle arrive: the behaviour to be learnt.

The model begins to speak just after the question. If no trustworthy answer is there yet it says so (“Let me see.”),
waits, and then reads the newest revision. When a newer one arrives in the middle of the answer, it goes over to that at
the end of a word. If none comes for some seconds, it says that it does not know.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app.frontend.kame.inner_text import Pieces
from app.research.corpus.streams import OracleRow, TimedRevision, TimedWord, Vocabulary, text_row
from app.research.training.nano.speech import Bank, Spoken

FILLERS = ("Well.", "So.", "Okay.", "Right.", "Let me see.", "Let me think.", "One moment.", "I see.")
WAITING = ("One moment please.", "I am still looking.", "Just a moment.")
UNKNOWN = ("Sorry, I don't know.", "I am sorry, I don't know that.", "I can't tell you that.")
CORRECTIONS = ("Sorry.", "No.", "No, sorry.", "Correction.")

GIVE_UP = 45
"""Frames (3.6 s) after the question without an answer, after which the model says that it does not know."""
AGAIN = 16
"""Frames of silence after which it says that it is still waiting."""
TOO_LATE = 20
"""Frames after the answer within which another revision is still spoken."""
LATE = 0.2
"""Share of the answers that begin later, as when a session holds the model's sound back."""
TRUST = 1
"""Frames after the end of the question before which no revision can have heard all of it."""


@dataclass(slots=True)
class Answer:
    """What is spoken: words by frame, and codes by frame. `word_ends`: the frame after each; `end`: that after all."""

    words: list[TimedWord] = field(default_factory=list)
    word_ends: list[int] = field(default_factory=list)
    sounds: list[tuple[int, Spoken, int]] = field(default_factory=list)  # frame, what, its frames that are spoken
    end: int = 0

    def say(self, spoken: Spoken, at: int, cut: tuple[int, int] | None = None) -> None:
        """Speaks from frame `at` on; with `cut` up to that frame, which is that many words."""
        until, count = cut or (at + len(spoken.codes), len(spoken.words))
        length = until - at
        # A word's text comes a frame before its sound, except for the first.
        self.words += [TimedWord(max(at, at + word.frame - 1), word.word) for word in spoken.words[:count]]
        self.word_ends += [at + end - 1 for end in spoken.ends[:count]]
        self.sounds.append((at, spoken, length))
        self.end = at + length

    def text(self, pieces: Pieces, vocabulary: Vocabulary, frames: int) -> np.ndarray:
        """The tokens of its text, each about when its letters are spoken: what sounds next is always at hand."""
        return text_row(self.words, pieces, vocabulary, frames, self.word_ends)


class AnswerPlan:
    """Plans one answer. `question_end`: the first frame after the question; `late`: the chance that it begins later."""

    def __init__(
        self,
        bank: Bank,
        draw: random.Random,
        question_end: int,
        revisions: Sequence[TimedRevision],
        oracle: OracleRow,
        late: float = LATE,
    ) -> None:
        self._bank, self._draw, self._late = bank, draw, late
        self._question_end = question_end
        self._revisions, self._oracle = revisions, oracle
        self.answer = Answer(end=question_end)

    def plan(self) -> Answer:
        """Returns the answer."""
        start = self._question_end + self._draw.choice((0, 0, 1))
        if self._draw.random() < self._late:
            start += self._draw.randint(2, 14)
        now = self._newest(start)
        if now is None:
            self.answer.say(self._one_of(FILLERS), start)
            now = self._wait()
        if now is None:
            self.answer.say(self._one_of(UNKNOWN), self.answer.end + 2)
            return self.answer
        self._read(now, max(start, self.answer.end if self.answer.sounds else start))
        return self.answer

    def _wait(self) -> int | None:
        """Waits for a revision, and says so; None when none comes."""
        while True:
            if (now := self._newest(self.answer.end)) is not None:
                return now
            arrival = self._next_arrival(self.answer.end)
            if self.answer.end >= self._question_end + GIVE_UP and (arrival is None or arrival > self.answer.end):
                return None
            if arrival is not None and arrival <= self.answer.end + AGAIN:
                self.answer.end = max(self.answer.end, arrival + 1)
                return self._newest(self.answer.end)
            self.answer.say(self._one_of(WAITING), self.answer.end + AGAIN)

    def _read(self, number: int, at: int) -> None:
        """Reads a revision aloud, and goes over to newer ones."""
        said: list[str] = []  # of the revision's text
        rest = self._revisions[number].text.split()
        for _ in range(6):
            spoken = self._bank.speak(" ".join(rest))
            at = self._when_fed(number, len(said), spoken, at)
            change = self._next_change(number, at, at + len(spoken.codes) + TOO_LATE)
            if change is None:
                self.answer.say(spoken, at)
                return
            newer, arrival = change
            cut = _cut(spoken, at, arrival + 2)
            self.answer.say(spoken, at, cut)
            said += rest[: cut[1]]
            number, target = newer, self._revisions[newer].text.split()
            at = max(self.answer.end, arrival + 2)
            if target == said:
                return
            if target[: len(said)] == said and len(target) > len(said):
                rest = target[len(said) :]
                continue
            self.answer.say(self._one_of(CORRECTIONS), at)
            said, rest, at = [], target, self.answer.end

    def _when_fed(self, number: int, skipped: int, spoken: Spoken, at: int) -> int:
        """The first frame, from `at` on, from which each word has been fed before it is spoken."""
        fed = self._oracle.fed[number][skipped:]
        late = [
            frame + 1 - max(0, word.frame - 1) for word, frame in zip(spoken.words, fed, strict=False) if frame >= 0
        ]
        return max([at, *late])

    def _arrivals(self) -> list[tuple[int, int]]:
        """Number of each revision that may have heard the whole question, and the frame in which it begins to count."""
        found = []
        for number, fed in enumerate(self._oracle.fed):
            # Its start token came before its first word.
            if fed and fed[0] >= self._question_end + TRUST:
                found.append((number, fed[0]))
        return found

    def _newest(self, frame: int) -> int | None:
        return max((number for number, arrival in self._arrivals() if arrival < frame), default=None)

    def _next_arrival(self, frame: int) -> int | None:
        return min((arrival for _, arrival in self._arrivals() if arrival >= frame), default=None)

    def _next_change(self, number: int, start: int, end: int) -> tuple[int, int] | None:
        """The first newer revision with other words that arrives before `end`, and when it does."""
        text = self._revisions[number].text
        changes = [
            (newer, arrival)
            for newer, arrival in self._arrivals()
            if newer > number and arrival < end and self._revisions[newer].text != text
        ]
        return min(changes, default=None)

    def _one_of(self, texts: Sequence[str]) -> Spoken:
        return self._bank.speak(self._draw.choice(texts))


def _cut(spoken: Spoken, at: int, earliest: int) -> tuple[int, int]:
    """Where speech that began in frame `at` is left, at the end of a word, and how many words were said."""
    if earliest >= at + len(spoken.codes):
        return at + len(spoken.codes), len(spoken.words)
    for count, end in enumerate(spoken.ends):
        if at + end >= earliest:
            return at + end, count + 1
    return at + len(spoken.codes), len(spoken.words)
