"""The routing policy, which determines a turn's kind of question as its transcript grows.

To avoid frequent changes, it keeps a kind until another one leads by a clear margin, or by some margin twice in a row.
Short follow-up turns keep the kind of the previous turn. The policy is deterministic: the same sequence of calls always
returns the same routes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

FIRST = "everyday"
"""The default kind, used until there is enough evidence."""
CLEAR = 0.25
"""The lead in probability over the current kind that causes an immediate change.

In cross-validation on questions revealed two words at a time, this value and SOME led to the right final kind in 90.3 %
of cases, with 0.30 changes per question. Always taking the most likely kind led to 90.8 % and 0.41 changes.
"""
SOME = 0.05
"""The lead that causes a change if the same kind also led in the previous decision, or that allows a first choice."""
SURE = 0.60
"""The lead required to change from the previous turn's kind in a short turn."""
SHORT = 4
"""The maximum number of words in a short turn."""
EVIDENCE = 3
"""The minimum number of words required for a first choice."""

# Words that carry no information about the kind. A turn that contains only these is a follow-up.
_FOLLOW_UP = frozenset(
    """a about actually again ah all alright also an and another any anything are aren't be because before bit but
    can carry clear clearer close come continue could detail details did didn't do does doesn't don't elaborate else
    er even example examples exactly explain expand for from further get give go got had has hang have he her here him
    his hmm how how's i i'm if in instead interesting is isn't it it's its just keep know let's like little longer make
    me mean means more my never no not now of off oh ok okay on once one only or other our over please quite really
    repeat right same say says second see she shorter should simpler so some something sorry still sure tell than thank
    thanks that that's the their them then there these they they're thing things think this those to too true uh um
    understand us very wait was wasn't way we well were what what's when where which who whose why why's will with won't
    would wouldn't yeah yes you your""".split()
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Route:
    """A routing decision: the kind, its probability (`share`, 0 to 1) and a user-facing reason."""

    kind: str
    share: float
    reason: str


class RoutePolicy:
    """A routing policy with hysteresis. `classify` returns the probability (0 to 1) of each kind for a text.

    The kind changes only if another one leads by CLEAR, or by SOME in two consecutive decisions. Repeated calls with
    the same words count as one decision. Every turn starts with the previous turn's kind, and keeps it as long as it
    contains only follow-up words, or has at most SHORT words and no other kind leads by SURE.
    """

    def __init__(self, classify: Callable[[str], Mapping[str, float]]) -> None:
        self._classify = classify
        self._turn: int | None = None
        self._words: tuple[str, ...] = ()
        self._kind: str | None = None
        self._former: str | None = None
        self._rival: str | None = None
        self._route = Route(FIRST, 0.0, f"nothing heard yet: {FIRST}")

    def decide(self, turn: int, words: str) -> Route:
        """Returns the route for the user's turn number `turn`, given its transcript so far (`words`)."""
        spoken = tuple(_WORD.findall(words.lower().replace("’", "'")))
        if turn == self._turn and spoken == self._words:
            return self._route
        if turn != self._turn:
            self._turn, self._former, self._rival = turn, self._kind, None
        self._words = spoken
        self._route = self._decide(spoken, words)
        return self._route

    def _decide(self, spoken: tuple[str, ...], words: str) -> Route:
        if not spoken:
            self._rival = None
            if self._kind is None:
                return Route(FIRST, 0.0, f"nothing heard yet: {FIRST}")
            return Route(self._kind, 0.0, f"nothing heard yet: stays with {self._kind}")
        scores = self._classify(words)
        leader = max(scores, key=lambda kind: scores[kind], default=FIRST)
        if self._kind is None:
            return self._first(spoken, scores, leader)
        share = scores.get(self._kind, 0.0)
        if self._kind == self._former:
            follow_up = Route(self._kind, share, f"a follow-up: stays with {self._kind}")
            lead = scores.get(leader, 0.0) - share
            empty = all(word in _FOLLOW_UP for word in spoken)
            if empty or (len(spoken) <= SHORT and leader != self._kind and lead < SURE):
                self._rival = None
                return follow_up
        return self._hold(scores, leader, share)

    def _first(self, spoken: tuple[str, ...], scores: Mapping[str, float], leader: str) -> Route:
        share = scores.get(leader, 0.0)
        second = max((other for kind, other in scores.items() if kind != leader), default=0.0)
        if len(spoken) < EVIDENCE or share - second < SOME:
            why = f"undecided, {leader} leads with {_percent(share)} %"
            if len(spoken) < EVIDENCE:
                why = "too few words yet"
            return Route(FIRST, scores.get(FIRST, 0.0), f"{why}: {FIRST}")
        self._kind = leader
        return Route(leader, share, f"sounds like {leader} ({_percent(share)} %)")

    def _hold(self, scores: Mapping[str, float], leader: str, share: float) -> Route:
        present = self._kind or FIRST
        top = scores.get(leader, 0.0)
        if leader == present or top <= share:
            self._rival = None
            return Route(present, share, f"sounds like {present} ({_percent(share)} %)")
        lead = top - share
        again = self._rival == leader
        self._rival = leader if lead >= SOME else None
        if lead >= CLEAR or (lead >= SOME and again):
            self._kind, self._rival = leader, None
            how = "" if lead >= CLEAR else ", twice running"
            return Route(leader, top, f"sounds like {leader} ({_percent(top)} %{how}), no longer {present}")
        return Route(
            present,
            share,
            f"stays with {present}: {leader} leads by too little ({_percent(top)} to {_percent(share)} %)",
        )


def _percent(share: float) -> int:
    return round(100 * share)
