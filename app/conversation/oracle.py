"""When a back-end is asked: how fast it answers, what its server allows, and what is worth asking.

`OraclePolicy` decides, from the growing transcript and from time as an argument, whether the newest request is kept,
promoted or followed by another. `Pace` and `RequestBudget` measure the back-end.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

from app.conversation.turns.completeness import completeness
from app.conversation.words import fold

WINDOW_SECONDS = 60.0
"""Providers limit the requests per minute."""
ASSUMED_LIMIT = 10
"""The limit that is assumed until a server states its own: the lowest of the free tiers (Gemini: 10, OpenRouter: 20,
Groq: 30)."""
GROWTH, GROWTH_SECONDS = 5, 180.0
"""After `GROWTH_SECONDS` without a refusal, the limit rises by `GROWTH` requests per minute."""
DECREASE = 0.8
"""The factor for the number of requests that led to a refusal."""
RESERVED = {"final": 0, "paused": 2, "partial": 6}
"""How many requests of the minute are kept free when one of this kind is sent. At one question every 15 s, each
question's request at its pause fits into `ASSUMED_LIMIT`."""

Kind = Literal["final", "paused", "partial"]
"""What a request is about: a complete turn, the words before a pause, or those of a user who is still speaking."""


class RequestBudget:
    """The requests that a server accepts per minute. `limit`: None if there is no limit, as on one's own server.

    A refusal decreases the limit by a factor; time without one increases it by a constant, up to the limit that the
    server has stated, if any. Times are in seconds, by one steady clock for all sessions of the process.
    """

    def __init__(self, limit: float | None = ASSUMED_LIMIT) -> None:
        self.limit = limit
        self.known = False
        """Whether `limit` was learned from the server rather than assumed."""
        self.rests_until = float("-inf")
        """The server asked for no requests until then."""
        self._sent: deque[float] = deque()
        self._sent_last = float("-inf")
        self._grew_at: float | None = None
        self._stated: float | None = None
        self._refused = False

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
            self.limit = min(self.limit + GROWTH, max(self.limit, self._stated or float("inf")))
        return self._spent(at) + RESERVED[kind] < self.limit

    def sent(self, at: float) -> float:
        """Records that a request was sent. Returns the seconds since the one before it."""
        before, self._sent_last = self._sent_last, at
        self._sent.append(at)
        if self._grew_at is None:
            self._grew_at = at
        return at - before

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
        self.known = self._refused = True

    def stated(self, limit: float) -> None:
        """Records the limit that the server has stated, in requests per minute.

        After a refusal it only caps the growth, since the limit that was reached may be another one (of tokens).
        """
        self._stated = limit = max(1.0, limit)
        self.limit = min(limit, self.limit or limit) if self._refused else limit
        self.known = True

    def _spent(self, at: float) -> int:
        if self._sent and at < self._sent[-1]:  # another session's simulated time
            self._sent.clear()
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


COLD_SECONDS = 300.0
"""After such a time without a request, a model may have been unloaded, so that its next answer starts later."""
KEPT_SAMPLES = 9
ENOUGH_SAMPLES = 3
"""How many answers count more than an earlier measurement."""
Start = Literal["warm", "cold", "superseded"]
"""The model's state when a request arrived: as usual, or unused for a while; or the request was superseded before it
had an answer. The time of such a request is a lower bound."""


class Pace:
    """Speed of one back-end. `floor`: the shortest interval in seconds that suits it. `first_seconds` and
    `words_per_second` may come from an earlier measurement. `budget`: unlimited by default.
    """

    def __init__(
        self,
        floor: float = LEAST_SECONDS,
        first_seconds: float | None = None,
        words_per_second: float | None = None,
        budget: RequestBudget | None = None,
    ) -> None:
        self.floor = floor
        self.words_per_second = words_per_second
        self.budget = budget or RequestBudget(None)
        self.first_words: dict[Start, deque[float]] = {
            "warm": deque(maxlen=KEPT_SAMPLES),
            "cold": deque(maxlen=KEPT_SAMPLES),
            "superseded": deque(maxlen=KEPT_SAMPLES),
        }
        """Seconds from requests to the first words of their answers."""
        self._expected = first_seconds

    def expect(self, first_seconds: float | None, words_per_second: float | None) -> None:
        """Records the speed that was measured earlier, for as long as nothing else is known."""
        self._expected = first_seconds
        self.words_per_second = self.words_per_second or words_per_second

    def began(self, seconds: float, start: Start = "warm") -> None:
        """Records that a stream gave its first words, or was superseded, after `seconds`."""
        self.first_words[start].append(max(0.0, seconds))

    def ended(self, words: int, seconds: float) -> None:
        """Records that a stream gave `words` words in `seconds` from the first one on."""
        if words > CLAUSE_WORDS and seconds > 0:
            self.words_per_second = _mean(self.words_per_second, words / seconds)

    @property
    def first_seconds(self) -> float | None:
        """Seconds from a request to the first words: the median of the latest answers; None if unknown.

        Those of a model that had to be loaded count only if there are no others.
        """
        warm, cold = sorted(self.first_words["warm"]), sorted(self.first_words["cold"])
        if self._expected is not None and len(warm) < ENOUGH_SAMPLES:
            return self._expected
        known = warm or cold
        return known[len(known) // 2] if known else None

    @property
    def first_clause(self) -> float:
        """Seconds from a request to the end of the answer's first clause; 0 before that is known."""
        if self.first_seconds is None or not self.words_per_second:
            return 0.0
        return self.first_seconds + CLAUSE_WORDS / self.words_per_second

    @property
    def interval(self) -> float:
        """Seconds between two requests: as long as the back-end needs to start and, if requests are limited, to say a
        clause.

        At a shorter interval each answer would be overtaken before any of it could be used.
        """
        needed = UNKNOWN_SECONDS if self.first_seconds is None else self.first_seconds
        if self.budget.limit is not None:
            needed = max(needed, self.first_clause)
        return min(max(needed, LEAST_SECONDS, self.floor), max(MOST_SECONDS, self.floor))

    @property
    def new_words(self) -> int:
        """How many new words are worth a new request: more for a back-end that is slow to start, and one if requests
        are unlimited.

        People say two to three words a second, so a slow back-end's next request comes with more of them anyway.
        """
        least = 1 if self.budget.limit is None else NEW_WORDS
        return least + min(3, int((self.first_seconds or 0.0) / 0.6))


def _mean(old: float | None, new: float) -> float:
    return new if old is None else old + _WEIGHT * (new - old)


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

    - `interval`: the minimum seconds between two requests on partial transcripts (the paper: 0.1 to 0.5).
    - `new_words`: the minimum growth of the transcript (KAME's server: 2); at a pause, one word is enough. A complete
      question may be the user's last words, so one new word and half the interval suffice.
    - `partials`: if False, only complete turns are asked about; `sparing`: only pauses and ends.
    - `language`: that of the words.

    The words of a user who is still speaking never replace a request that has no words yet, so that slow back-ends can
    answer, too.
    """

    def __init__(
        self, *, interval: float = 0.4, new_words: int = 2, partials: bool = True, sparing: bool = False
    ) -> None:
        self.interval = interval
        self.new_words = new_words
        self.partials = partials
        self.sparing = sparing
        self.language = "en"
        self._newest: _Request | None = None

    def decide(self, turn: int, text: str, at: float, *, final: bool, paused: bool = False) -> Decision:
        """Returns what to do now that the words of the user's turn `turn` are `text` at time `at`.

        `paused`: the user has fallen silent, so the words may be complete.
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
        if paused:
            return "start"
        if not (newest.has_words or newest.ended):
            return "keep"
        whole = completeness(text, self.language) in ("request", "question")
        interval, growth = (self.interval / 2, 1) if whole else (self.interval, self.new_words)
        return "keep" if at - newest.at < interval or _growth(newest.words, words) < growth else "start"

    def started(self, turn: int, text: str, at: float) -> None:
        """Records that a request was sent."""
        self._newest = _Request(turn, fold(text), at)

    def spoke(self) -> None:
        """Records that the newest request has delivered its first words."""
        if self._newest is not None:
            self._newest.has_words = True

    def forget(self) -> None:
        """Forgets the newest request, which has been handed over."""
        self._newest = None

    def ended(self) -> None:
        """Records that the stream of the newest request has ended."""
        if self._newest is not None:
            self._newest.ended = True


def _growth(old: tuple[str, ...], new: tuple[str, ...]) -> int:
    """Returns how many words of `new` follow its common beginning with `old`, or were added."""
    shared = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return max(len(new) - len(old), len(new) - shared if shared < len(old) else 0)
