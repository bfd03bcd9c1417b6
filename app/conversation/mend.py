"""How an answer that is being spoken goes over to a better one, as a person would.

Given the words already said in this turn and the newer revision's clauses, tells which of them are
still to be said, and whether the two contradict each other so that a bridge must be spoken. Pure text.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from app.conversation.words import fold

SAME = 0.6
"""Share of the said words that the newer revision must hold, in order, to count as the same answer."""

FRAGMENT_WORDS = 4
"""So few words are gone on with only where the newer revision begins with the very same."""

_FILLERS = frozenset(
    "a an the and or but so of to in on at is are was were be it that this there i you we he she they well as "
    "for with by from".split()
)
_STARTERS = frozenset(
    "yes no not if when because since while after before although though as your my his her our their its what how why "
    "where who which whose nothing nobody everything everyone something someone anything one two three some many most "
    "much more less few both each every any all another these those then there here now can could would should may "
    "might must do does did has have had only just even also perhaps maybe about over under between during among "
    "unlike like instead however first second next finally let take think imagine".split()
)
"""Words that begin a sentence and are no names: behind a bridge they lose their capital."""
_BRIDGES = ("Or rather,", "No, wait:", "Let me put that right:")


@dataclass(frozen=True, slots=True)
class Mend:
    """What to do at a clause's end.

    `wait`: too little of the newer revision is known. `continue`: say its clauses from number
    `next_clause` on, without that clause's first `skip` words. `correct`: after the words of `bridge`.
    """

    action: Literal["wait", "continue", "correct"]
    next_clause: int = 0
    skip: int = 0
    bridge: str = ""


def mend(said: str, clauses: list[str], *, complete: bool, corrections: int = 0) -> Mend:
    """Joins a newer revision to what was said.

    `clauses` are the revision's closed clauses so far, `complete` tells that no more will come,
    `corrections` counts the bridges already spoken in this turn.
    """
    spoken = fold(said)
    if not spoken:
        return Mend("continue") if clauses else Mend("wait")
    ends: list[int] = []
    words: list[str] = []
    for clause in clauses:
        words.extend(fold(clause))
        ends.append(len(words))
    reached = _reached(spoken, words)
    if reached:
        place = next((i for i, end in enumerate(ends) if end >= reached), len(clauses) - 1)
        skip = _tokens_until(clauses[place], reached - (ends[place - 1] if place else 0))
        rest = fold(" ".join(clauses[place].split()[skip:]))
        if any(word not in _FILLERS for word in rest):
            return Mend("continue", place, skip)
        return Mend("continue", place + 1)
    if not complete and len(words) < len(spoken):
        return Mend("wait")
    first = _first_unsaid(said, clauses)
    if first == len(clauses):
        return Mend("continue", first) if complete else Mend("wait")
    return Mend("correct", first, bridge=_BRIDGES[corrections % len(_BRIDGES)])


def after_bridge(clause: str) -> str:
    """A clause as it goes on behind a bridge: without its capital, unless the word always has one."""
    head, _, rest = clause.partition(" ")
    if head in {"I", "I'm", "I'd", "I'll", "I've"} or head[1:] != head[1:].lower() or fold(head)[:1] == ():
        return clause
    return f"{head.lower()} {rest}".strip() if fold(head)[0] in _FILLERS | _STARTERS else clause


def bridge_behind(said: str, bridge: str) -> str:
    """A bridge as it is written behind `said`: with a dash where that breaks off in mid-sentence."""
    if said.rstrip("\"'”’»)]")[-1:] in ("", *".!?…:"):
        return bridge
    return f"– {bridge[:1].lower()}{bridge[1:]}"


def _reached(spoken: tuple[str, ...], words: list[str]) -> int:
    """How many of the newer revision's `words` account for what was `spoken`; 0: it says something else."""
    if tuple(words[: len(spoken)]) == spoken:
        return len(spoken)
    if len(spoken) < FRAGMENT_WORDS:
        return 0  # too little to tell the same thing from a chance
    near = words[: 2 * len(spoken) + 4]
    blocks = [b for b in SequenceMatcher(None, spoken, near, autojunk=False).get_matching_blocks() if b.size]
    matched = [spoken[block.a + i] for block in blocks for i in range(block.size)]
    if _weight(matched) < SAME * _weight(spoken):
        return 0
    return max(block.b + block.size for block in blocks)


def _tokens_until(clause: str, words: int) -> int:
    """How many of a clause's tokens hold its first `words` folded words."""
    for count, token in enumerate(clause.split()):
        if words <= 0:
            return count
        words -= len(fold(token))
    return len(clause.split())


def _weight(words: list[str] | tuple[str, ...]) -> float:
    """Content words count whole, fillers a quarter: two answers share "the" without agreeing."""
    return sum(0.25 if word in _FILLERS else 1.0 for word in words)


def _first_unsaid(said: str, clauses: list[str]) -> int:
    """The number of the first clause whose words have not been said, one after the other, already."""
    spoken = f" {' '.join(fold(said))} "
    for place, clause in enumerate(clauses):
        if f" {' '.join(fold(clause))} " not in spoken:
            return place
    return len(clauses)
