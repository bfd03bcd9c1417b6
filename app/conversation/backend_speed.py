"""How fast a brain is, as its answers teach, and how often it is worth asking. Pure."""

from __future__ import annotations

LEAST_SECONDS, MOST_SECONDS = 0.1, 0.5
"""Between two requests on partial transcripts; the paper's range."""
UNKNOWN_SECONDS = 0.4
"""The interval before anything is known."""
CLAUSE_WORDS = 5
NEW_WORDS = 2
_WEIGHT = 0.3
"""Of the newest answer in the running mean."""


class Pace:
    """What one brain's answers have taught. `first_seconds`: to the first words; None before any.

    `floor`: the least interval that the brain itself wants, in seconds. `first_seconds` and `words_per_second`: what is
    known of it before its first answer.
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
        """A stream gave its first words after so long."""
        self.first_seconds = _mean(self.first_seconds, max(0.0, seconds))

    def ended(self, words: int, seconds: float) -> None:
        """A stream gave so many words in so long, counted from its first ones."""
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
        """Seconds between two requests: as long as a brain needs to begin and to say a clause.

        Asked more often, each answer would be overtaken before anything of it could be spoken.
        """
        if self.first_seconds is None:
            wanted = UNKNOWN_SECONDS
        else:
            wanted = self.first_seconds + (CLAUSE_WORDS / self.words_per_second if self.words_per_second else 0.0)
        return min(max(wanted, LEAST_SECONDS, self.floor), max(MOST_SECONDS, self.floor))

    @property
    def new_words(self) -> int:
        """How many new words a restart must be worth: more for a brain that is slow to begin.

        People say two to three words a second, so a slow brain's next chance comes with more of them anyway.
        """
        return NEW_WORDS + min(3, int((self.first_seconds or 0.0) / 0.6))


def _mean(old: float | None, new: float) -> float:
    return new if old is None else old + _WEIGHT * (new - old)
