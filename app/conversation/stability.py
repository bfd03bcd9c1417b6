"""Decides whether a revision of the answer is stable enough to be spoken before the turn's last word is known.

A revision that has seen only the beginning of a question often answers another question.
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
class KnownRevision:
    """One answer of a back-end as it grows, requested for `asked`, the words of `turn` that were known then.

    `complete`: these were all of them. `wanted`: the user has chosen this back-end in mid-answer. `done`: `text` is
    whole. `paused`: the user was silent at the request. `due`: the session time at which its first clause is expected,
    `expected` seconds after the request. `language`: of the words, by its two letters. `order`: a later request has a
    greater one, whatever the numbers are.
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
        """Its closed clauses, in their spoken form."""
        return split_clauses(spoken(self.text, self.language), complete=self.done, code=self.language)

    @property
    def may_stay(self) -> bool:
        """Whether the words that it answers may be the whole turn: the user paused after them, or they are English and
        don't break off in mid-sentence.
        """
        closed = self.language == "en" and completeness(self.asked) != "open"
        return self.complete or self.paused or closed

    @property
    def beginning(self) -> tuple[str, ...]:
        """The words of its first clause; empty while that may still grow."""
        return fold(next(iter(self.clauses), ""))


def is_stable(revision: KnownRevision, revisions: Iterable[KnownRevision], ended: TakeFloor) -> bool:
    """Whether `revision`, one of `revisions`, may be spoken now that the turn has `ended`.

    It may if it answers the complete turn. Before that is known it may if the turn's end was guessed from the voice,
    there is no newer request, and either its words are a whole question or the revision before it starts alike.
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
