"""A spoken dialogue for training: who said which word when, and what the oracle held when."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

Speaker = Literal["model", "user"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its start and end, in seconds."""

    text: str
    start: float
    end: float
    speaker: Speaker


@dataclass(frozen=True, slots=True)
class OracleEvent:
    """One oracle revision. `at`: seconds, when it was requested; `share`: of the question heard by then, 0 to 1.

    `first` and `rate`: seconds until its first word, and words a second from then on. 0 and 0: not known; they are
    drawn when the dialogue is turned into tokens. `true`: `text` is the true answer.
    """

    at: float
    text: str
    share: float
    true: bool = False
    first: float = 0.0
    rate: float = 0.0


@dataclass(slots=True)
class Dialogue:
    """A dialogue, its words in time's order. `sound`: its stereo file, relative to its corpus; empty: none yet."""

    name: str
    words: list[Word]
    events: list[OracleEvent] = field(default_factory=list)
    sound: str = ""
    seconds: float = 0.0

    def of(self, speaker: Speaker) -> list[Word]:
        """The words of one speaker."""
        return [word for word in self.words if word.speaker == speaker]


@dataclass(frozen=True, slots=True)
class Utterance:
    """Successive words of one speaker, up to the other's next word."""

    speaker: Speaker
    words: tuple[Word, ...]

    @property
    def start(self) -> float:
        return self.words[0].start

    @property
    def end(self) -> float:
        return max(word.end for word in self.words)

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


def in_order(words: Iterable[Word]) -> list[Word]:
    """The words sorted by their start, then by their end, as all that reads a dialogue expects them."""
    return sorted(words, key=lambda word: (word.start, word.end))


def utterances(words: Sequence[Word]) -> Iterator[Utterance]:
    """Yields the utterances of sorted words. A pause ends none: only the other speaker does."""
    at = 0
    for place in range(1, len(words) + 1):
        if place == len(words) or words[place].speaker != words[at].speaker:
            yield Utterance(words[at].speaker, tuple(words[at:place]))
            at = place


def exchanges(words: Sequence[Word]) -> Iterator[tuple[Utterance, Utterance]]:
    """Yields each utterance of the user with the model's answer to it."""
    found = list(utterances(words))
    for question, answer in itertools.pairwise(found):
        if question.speaker == "user" and answer.speaker == "model":
            yield question, answer
