"""The oracle: which revision speaks, and when a new one is worth asking for.

`OraclePolicy` decides, from the growing transcript and from time as an argument, whether the newest
request is kept, promoted or followed by another. `OracleTrack` is the gate in front of the front-end:
the newest revision that has words wins, and nothing older passes behind its first word. Pure.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from app.conversation.completeness import completeness
from app.conversation.words import fold

Decision = Literal["keep", "promote", "start"]


@dataclass(slots=True)
class _Request:
    turn: int
    words: tuple[str, ...]
    at: float
    has_words: bool = False
    ended: bool = False


class OraclePolicy:
    """Decides when the back-end is asked again.

    `interval` is the least time between two requests on partial transcripts, in seconds (the paper: 0.1
    to 0.5); `new_words` the least growth of the transcript (KAME's server: 2), of which a pause needs
    only one. Words that ask a whole question may be the last ones: they need one, and half the interval. A request that
    has not spoken yet is never overtaken by a partial transcript: a back-end slower than the interval still gets its
    say. `partials` off waits for complete turns only; `sparing` asks at pauses and ends alone. `language` is that of
    the words.
    """

    def __init__(self, *, interval: float = 0.4, new_words: int = 2, partials: bool = True) -> None:
        self.interval = interval
        self.new_words = new_words
        self.partials = partials
        self.sparing = False
        self.language = "en"
        self._newest: _Request | None = None

    def decide(self, turn: int, text: str, at: float, *, final: bool, paused: bool = False) -> Decision:
        """What to do now that the user's turn `turn` reads `text` at time `at`.

        `paused` tells that the user has fallen silent, so that the words may be complete.
        """
        words = fold(text)
        newest = self._newest
        if not words:
            return "keep"
        if newest is not None and newest.turn == turn and newest.words == words:
            return "promote" if final else "keep"
        if final:
            return "start"
        if not self.partials or (self.sparing and not paused):
            return "keep"
        if newest is None or newest.turn != turn:
            return "start" if len(words) >= self.new_words or paused else "keep"
        if not (newest.has_words or newest.ended):
            return "keep"
        if paused:
            return "start"
        whole = completeness(text, self.language) in ("request", "question")
        interval, growth = (self.interval / 2, 1) if whole else (self.interval, self.new_words)
        return "keep" if at - newest.at < interval or _growth(newest.words, words) < growth else "start"

    def started(self, turn: int, text: str, at: float) -> None:
        """A request went out."""
        self._newest = _Request(turn, fold(text), at)

    def spoke(self) -> None:
        """The newest request has given its first words."""
        if self._newest is not None:
            self._newest.has_words = True

    def forget(self) -> None:
        """The newest request is not one of ours any more."""
        self._newest = None

    def ended(self) -> None:
        """The newest request's stream is over."""
        if self._newest is not None:
            self._newest.ended = True


def _growth(old: tuple[str, ...], new: tuple[str, ...]) -> int:
    """How many words of `new` lie behind what it shares with `old` from the start, or were added."""
    shared = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return max(len(new) - len(old), len(new) - shared if shared < len(old) else 0)


class OracleTrack:
    """Lets through what the front-end may hear: the words of the newest revision that has any.

    Revisions are numbered for life, upwards from 1, with gaps where several tracks share their `numbers`. Which one is
    newer is a matter of order, not of number: a revision of another track that is adopted becomes the newest. A
    revision silences older ones only with its first words; from then on `accept` refuses theirs.
    """

    def __init__(self, numbers: Iterator[int] | None = None) -> None:
        self._numbers = numbers or itertools.count(1)
        self._orders: dict[int, int] = {}
        self._count = 0
        self.speaking = 0
        """The newest revision that has words; 0 before any."""

    def begin(self) -> tuple[int, int]:
        """Open the next revision; return its number and its place in the order."""
        number = next(self._numbers)
        return number, self.adopt(number)

    def adopt(self, revision: int) -> int:
        """Make a revision the newest; return its place in the order."""
        self._count += 1
        self._orders[revision] = self._count
        return self._count

    def accept(self, revision: int, text: str) -> bool:
        """Whether these words of `revision` may go to the front-end. Raises ValueError if it was never begun."""
        if revision not in self._orders:
            raise ValueError(f"revision {revision} was never begun")
        ahead = self._orders[revision] - self._orders.get(self.speaking, 0)
        if ahead < 0 or (ahead > 0 and not fold(text)):
            return False
        self.speaking = revision
        return True
