"""Learns from a back-end's answers and refusals how fast it is and how often it may be asked.

`Pace` derives the interval between requests from the speed of the answers. `RequestBudget` keeps requests that only
guess at what the user is going to say from using up the rate limit that complete questions need.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

WINDOW_SECONDS = 60.0
"""Providers limit the requests per minute."""
ASSUMED_LIMIT = 10
"""The limit that is assumed until a server states its own: the lowest of the free tiers (Gemini: 10, OpenRouter: 20,
Groq: 30)."""
GROWTH, GROWTH_SECONDS = 5, 180.0
"""How many more requests per minute are tried after how long without a refusal."""
DECREASE = 0.8
"""The factor for the number of requests that led to a refusal."""
RESERVED = {"final": 0, "paused": 2, "partial": 6}
"""How many requests of the minute are kept free when one of this kind is sent. At one question every 15 s, each
question's request at its pause fits into `ASSUMED_LIMIT`."""

Kind = Literal["final", "paused", "partial"]
"""What a request is about: a complete turn, the words before a pause, or those of a user who is still speaking."""


class RequestBudget:
    """The requests that a server accepts per minute. `limit`: None if there is no limit, as on one's own server.

    A refusal decreases the limit by a factor; time without one increases it by a constant. Times are in seconds, by any
    steady clock.
    """

    def __init__(self, limit: float | None = ASSUMED_LIMIT) -> None:
        self.limit = limit
        self.rests_until = float("-inf")
        """Until when the server asked to be left alone."""
        self._sent: deque[float] = deque()
        self._grew_at: float | None = None

    def allows(self, kind: Kind, at: float) -> bool:
        """Returns whether a request of this kind may be sent now. Always true for complete turns."""
        if kind == "final":
            return True
        if at < self.rests_until:
            return False
        if self.limit is None:
            return True
        if self._grew_at is not None and at - self._grew_at >= GROWTH_SECONDS:
            self._grew_at = at
            self.limit += GROWTH
        return self._spent(at) + RESERVED[kind] < self.limit

    def sent(self, at: float) -> None:
        """Records that a request was sent."""
        self._sent.append(at)
        if self._grew_at is None:
            self._grew_at = at

    def refused(self, at: float, retry_after: float) -> None:
        """Records that the latest request was refused because of the limit.

        `retry_after`: the seconds to wait that the server stated; 0 if it didn't.
        """
        if self._sent:
            self._sent.pop()
        self.rests_until = max(self.rests_until, at + retry_after)
        spent = self._spent(at)
        self.limit = max(1.0, DECREASE * min(spent, spent if self.limit is None else self.limit))
        self._grew_at = at

    def stated(self, limit: float) -> None:
        """Records the limit that the server has stated, in requests per minute."""
        self.limit = max(1.0, limit)

    def _spent(self, at: float) -> int:
        while self._sent and at - self._sent[0] >= WINDOW_SECONDS:
            self._sent.popleft()
        return len(self._sent)


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
    `budget`: unlimited by default.
    """

    def __init__(
        self,
        floor: float = LEAST_SECONDS,
        first_seconds: float | None = None,
        words_per_second: float | None = None,
        budget: RequestBudget | None = None,
    ) -> None:
        self.floor = floor
        self.first_seconds = first_seconds
        self.words_per_second = words_per_second
        self.budget = budget or RequestBudget(None)

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
