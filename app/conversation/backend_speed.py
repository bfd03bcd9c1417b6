"""Learns how fast a back-end is from its answers, and derives how often to ask it."""

from __future__ import annotations

LEAST_SECONDS, MOST_SECONDS = 0.1, 0.5
"""Between two requests on partial transcripts: the KAME paper's range."""
UNKNOWN_SECONDS = 0.4
"""The interval before anything is known."""
CLAUSE_WORDS = 5
NEW_WORDS = 2
_WEIGHT = 0.3
"""Weight of the newest answer in the running mean."""


class Pace:
    """Speed of one back-end. `floor`: the shortest interval in seconds that suits it; `first_seconds`: from a request
    to the first words, None if unknown. The latter and `words_per_second` may come from an earlier measurement.
    """

    def __init__(
        self,
        floor: float = LEAST_SECONDS,
        first_seconds: float | None = None,
        words_per_second: float | None = None,
    ) -> None:
        self.floor = floor
        self.first_seconds = first_seconds
        self.words_per_second = words_per_second

    def began(self, seconds: float) -> None:
        """Records that a stream gave its first words after `seconds`."""
        self.first_seconds = _mean(self.first_seconds, max(0.0, seconds))

    def ended(self, words: int, seconds: float) -> None:
        """Records that a stream gave `words` words in `seconds` from the first one on."""
        if words > CLAUSE_WORDS and seconds > 0:
            self.words_per_second = _mean(self.words_per_second, words / seconds)

    @property
    def first_clause(self) -> float:
        """Seconds from a request to the end of the answer's first clause; 0 before that is known."""
        if self.first_seconds is None or not self.words_per_second:
            return 0.0
        return self.first_seconds + CLAUSE_WORDS / self.words_per_second

    @property
    def interval(self) -> float:
        """Seconds between two requests: as long as the back-end needs to start and to say a clause.

        At a shorter interval each answer would be overtaken before any of it could be spoken.
        """
        needed = UNKNOWN_SECONDS if self.first_seconds is None else self.first_clause or self.first_seconds
        return min(max(needed, LEAST_SECONDS, self.floor), max(MOST_SECONDS, self.floor))

    @property
    def new_words(self) -> int:
        """How many new words are worth a new request: more for a back-end that is slow to start.

        People say two to three words a second, so a slow back-end's next request comes with more of them anyway.
        """
        return NEW_WORDS + min(3, int((self.first_seconds or 0.0) / 0.6))


def _mean(old: float | None, new: float) -> float:
    return new if old is None else old + _WEIGHT * (new - old)
