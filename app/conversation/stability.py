"""Whether a revision of the answer may be spoken already, or another one is likely to say something else.

A revision that has seen only the beginning of a question often answers another question. Pure: no sound, no back-end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.conversation.clauses import split_clauses
from app.conversation.completeness import completeness
from app.conversation.spoken_form import spoken
from app.conversation.turn import TakeFloor
from app.conversation.words import fold, same_words


@dataclass(slots=True)
class Revision:
    """One answer of a back-end as it grows: `asked` for the words of `turn` that were known then.

    `complete`: these were all of them. `wanted`: the user has chosen this brain in mid-answer. `done`: `text` is whole.
    `paused`: the user was silent when it was asked for. `due`: the second at which its first clause is expected, and
    `expected` how long after the request that is.
    `language`: of the words, by its two letters. `order`: a later request has a greater one, whatever the numbers are.
    """

    number: int
    turn: int
    complete: bool = False
    wanted: bool = False
    asked: str = ""
    text: str = ""
    done: bool = False
    paused: bool = True
    due: float = 0.0
    expected: float = 0.0
    language: str = "en"
    order: int = 0

    @property
    def clauses(self) -> list[str]:
        """Its closed clauses, as a voice says them."""
        return split_clauses(spoken(self.text, self.language), complete=self.done, code=self.language)

    @property
    def may_stay(self) -> bool:
        """Whether the words that it answers may be all of the turn: the user paused behind them, or they are English
        and don't break off in mid-sentence.
        """
        told = self.language == "en" and completeness(self.asked) != "open"
        return self.complete or self.paused or told

    @property
    def beginning(self) -> tuple[str, ...]:
        """The words of its first clause; none while that may still grow."""
        return fold(next(iter(self.clauses), ""))


def is_stable(revision: Revision, revisions: Iterable[Revision], ended: TakeFloor) -> bool:
    """Whether `revision`, one of `revisions`, may be spoken now that the turn has `ended`.

    It may once it has seen the turn's last word. Before that it may where the end is a guess by the voice, nothing that
    was heard since was asked about anew, and its words ask a whole question, or the revision before it begins alike.
    """
    if revision.complete or revision.wanted:
        return True
    others = [other for other in revisions if other.turn == revision.turn and other is not revision]
    if ended.told or any(other.order > revision.order for other in others):
        return False
    if ended.heard:
        if not same_words(ended.heard, revision.asked):
            return False
        if completeness(revision.asked, revision.language) in ("short", "request", "question"):
            return True
    before = max((other for other in others if fold(other.text)), key=lambda other: other.order, default=None)
    return before is not None and revision.beginning != () and revision.beginning == before.beginning
