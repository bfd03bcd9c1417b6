"""Chooses the clause to speak next from the oracle's revisions, and whether to interrupt the current clause for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.conversation.correction import after_bridge, bridge_behind, ends_sentence, plan_correction
from app.conversation.events import AnswerMode
from app.conversation.stability import KnownRevision, is_stable
from app.conversation.turn import TakeFloor
from app.conversation.words import fold, same_words
from app.frontend.base import Said
from app.frontend.revisions import Revisions


@dataclass(frozen=True, slots=True)
class ClauseChoice:
    """Clause number `index` of a revision, spoken as `text`. An opening has revision 0.

    `bridge`: the correction phrase at its start, if any; `cuts`: the current clause is cut off to make way for it.
    """

    revision: int
    index: int
    text: str
    bridge: str = ""
    cuts: bool = False


@dataclass(slots=True)
class SpokenAnswer:
    """The answer to a turn, as far as it has been spoken.

    - `ended`: the command that ended the user's turn.
    - `given`: the words output so far.
    - `corrections`: the number of bridges spoken so far.
    - `source`: the revision in use, 0 if none.
    - `next_clause`: the index of its next clause.
    - `audible`: part of the answer itself (not just an opening) has been played.
    """

    ended: TakeFloor
    given: list[Said] = field(default_factory=list)
    corrections: int = 0
    source: int = 0
    next_clause: int = 0
    audible: bool = False

    @property
    def turn(self) -> int:
        """The user's turn being answered."""
        return self.ended.turn

    @property
    def words(self) -> list[str]:
        """The words output in this turn, excluding those of an opening."""
        return [word.text for word in self.given if word.revision]


class ClauseChooser:
    """Chooses clauses from `revisions`. `answer_mode` may be changed at any time."""

    def __init__(self, revisions: Revisions, answer_mode: AnswerMode) -> None:
        self.answer_mode: AnswerMode = answer_mode
        self._revisions = revisions

    def may_speak(self, revision: KnownRevision | None, answer: SpokenAnswer) -> bool:
        """Returns whether a revision may be spoken now."""
        if revision is None or revision.turn != answer.turn:
            return False
        if self.answer_mode == "after":
            return revision.complete
        return revision.number == answer.source or is_stable(revision, self._revisions, answer.ended)

    def will_hold(self, revision: KnownRevision, heard: str) -> bool:
        """Returns whether a revision could be spoken if the turn ended with the words `heard` (empty: unknown)."""
        if heard:
            return same_words(revision.asked, heard)
        return is_stable(revision, self._revisions, TakeFloor(revision.turn))

    def next_clause(self, answer: SpokenAnswer) -> ClauseChoice | None:
        """Returns the next clause to speak, if any."""
        return self._choose(answer, answer.words, self._candidates(answer))

    def clause_ahead(self, answer: SpokenAnswer, unsaid: Sequence[str]) -> ClauseChoice | None:
        """Returns the clause to synthesise in advance, after the words `unsaid` that remain in the current clause."""
        return self._choose(answer, [*answer.words, *unsaid], self._candidates(answer, early=True))

    def first_clause(self, before: SpokenAnswer) -> ClauseChoice | None:
        """Returns the clause with which an answer may start, to be synthesised while the user is still speaking."""
        newest = self._revisions.newest
        if newest is None:
            return None
        # The user may be continuing a turn that was answered too early. The words already spoken then still count.
        given = before.given if newest.turn == before.turn else []
        answer = SpokenAnswer(before.ended, given, audible=before.audible)
        return self._choose(answer, answer.words, self._candidates(answer, early=True, turn=newest.turn))

    def cutting_clause(self, answer: SpokenAnswer, current: ClauseChoice) -> ClauseChoice | None:
        """Returns a clause that should cut `current` off, if the user has since chosen a back-end that disagrees."""
        candidates = self._candidates(answer)
        if not candidates or not candidates[0].wanted:
            return None
        spoken = self._revisions.get(current.revision)
        if spoken is not None and candidates[0].order <= spoken.order:
            return None
        words = answer.words
        choice = self._choose(answer, words, candidates, cuts=True) if words else None
        return choice if choice is not None and choice.bridge else None

    def exhausted(self, answer: SpokenAnswer) -> bool:
        """Returns whether the turn's newest revision is finished and answers the complete turn, so nothing follows."""
        asked = self._revisions.of_turn(answer.turn)
        return bool(asked) and asked[-1].done and asked[-1].complete

    def _candidates(self, answer: SpokenAnswer, *, early: bool = False, turn: int | None = None) -> list[KnownRevision]:
        """Returns the revisions to choose from, best first: the newest with words, then the one in use.

        `early`: include revisions with which an answer may start later; `turn`: a turn other than the one answered.
        """
        early = early and not answer.audible and self.answer_mode == "thinking"
        fitting = [
            revision
            for revision in self._revisions.of_turn(answer.turn if turn is None else turn)
            if fold(revision.text) and ((early and revision.may_stay) or self.may_speak(revision, answer))
        ]
        if not fitting:
            return []
        newest, current = fitting[-1], self._revisions.get(answer.source)
        if current is None or current is newest or self._all_said(newest, answer):
            return [newest]
        return [newest, current]

    def _choose(
        self, answer: SpokenAnswer, said: Sequence[str], candidates: Sequence[KnownRevision], *, cuts: bool = False
    ) -> ClauseChoice | None:
        """Returns the clause that follows `said`, from the first candidate that can be joined to it.

        `cuts`: the current clause may be cut off mid-sentence.
        """
        for revision in candidates:
            clauses = revision.clauses
            if revision.number == answer.source:
                if answer.next_clause < len(clauses):
                    return ClauseChoice(revision.number, answer.next_clause, clauses[answer.next_clause])
                continue
            join = plan_correction(
                " ".join(said),
                clauses,
                complete=revision.done,
                corrections=answer.corrections,
                resumed=not answer.source,
                code=revision.language,
            )
            if join.action == "wait" or join.next_clause >= len(clauses):
                continue
            if join.action == "correct" and self._in_sentence(answer, said) and not revision.wanted:
                continue  # finish the current sentence before starting another answer
            clause = " ".join(clauses[join.next_clause].split()[join.skip :])
            if join.bridge:
                last = "x" if cuts else said[-1] if said else ""
                clause = f"{bridge_behind(last, join.bridge)} {after_bridge(clause, revision.language)}"
            return ClauseChoice(revision.number, join.next_clause, clause, join.bridge, cuts)
        return None

    def _in_sentence(self, answer: SpokenAnswer, said: Sequence[str]) -> bool:
        """Returns whether the spoken words end mid-sentence and the revision in use can continue them."""
        current = self._revisions.get(answer.source)
        if current is None or not said or ends_sentence(said[-1]):
            return False
        return answer.next_clause < len(current.clauses)

    @staticmethod
    def _all_said(newest: KnownRevision, answer: SpokenAnswer) -> bool:
        """Returns whether the newest revision is finished and fully spoken, which makes the one in use obsolete."""
        if not newest.done:
            return False
        clauses = newest.clauses
        join = plan_correction(" ".join(answer.words), clauses, complete=True, code=newest.language)
        return join.next_clause >= len(clauses)
