"""Decides what a voice says next, from the oracle's revisions and what was said so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from app.conversation.events import AnswerMode
from app.conversation.oracle import OracleAsked, OracleCompleted, OracleInput, OracleWords
from app.conversation.speaking.clauses import split_clauses, spoken
from app.conversation.speaking.correction import after_bridge, bridge_behind, ends_sentence, plan_correction
from app.conversation.turns.completeness import completeness
from app.conversation.turns.floor import TakeFloor
from app.conversation.words import fold, same_words


@dataclass(frozen=True, slots=True)
class Said:
    """Words whose audio ends at sample `end` of this step's frame (1 to 1920).

    `revision`: the revision they come from, or 0 for none; `glued`: no space precedes them.
    """

    text: str
    end: int
    turn: int
    revision: int
    glued: bool = False


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


KEPT = 9
"""How many revisions to keep besides the one in use. Older ones are no longer spoken or compared."""


class Revisions:
    """Revisions keyed by number, oldest first. Only `KnownRevision.order` determines which of two is newer."""

    def __init__(self) -> None:
        self._known: dict[int, KnownRevision] = {}
        self._order = 0

    def __iter__(self) -> Iterator[KnownRevision]:
        return iter(self._known.values())

    def get(self, number: int) -> KnownRevision | None:
        """Returns the revision `number`, or None if it is unknown or has been dropped."""
        return self._known.get(number)

    @property
    def newest(self) -> KnownRevision | None:
        """The revision requested last."""
        return next(reversed(self._known.values()), None)

    def of_turn(self, turn: int) -> list[KnownRevision]:
        """Returns the revisions of a turn, oldest first."""
        return [revision for revision in self if revision.turn == turn]

    def update(self, item: OracleInput, at: float = 0.0, *, in_use: int = 0) -> KnownRevision | None:
        """Processes one input and returns its revision, or None if it is rejected. `at`, `in_use`: see `ask`."""
        if isinstance(item, OracleAsked):
            return self.ask(item, at, in_use=in_use)
        if isinstance(item, OracleWords):
            return self.add(item)
        revision = self._known.get(item.revision)
        if revision is not None and isinstance(item, OracleCompleted):
            revision.complete = True
        elif revision is not None:
            revision.done = True
        return revision

    def ask(self, asked: OracleAsked, at: float = 0.0, *, in_use: int = 0) -> KnownRevision:
        """Makes a revision, requested at session time `at`, the newest one. A known revision keeps its text.

        `in_use`: a revision to keep even if it is old.
        """
        before = self._known.pop(asked.revision, None)
        self._order += 1
        revision = KnownRevision(
            asked.revision,
            asked.turn,
            asked.complete,
            asked.wanted,
            asked.words,
            text=before.text if before is not None else "",
            done=before is not None and before.done,
            paused=asked.paused,
            due=at + asked.expected,
            expected=asked.expected,
            language=asked.language,
            order=self._order,
        )
        self._known[asked.revision] = revision
        for number in list(self._known)[:-KEPT]:
            if number != in_use:
                del self._known[number]
        return revision

    def add(self, words: OracleWords) -> KnownRevision | None:
        """Adds words to their revision and returns it, or None if they are rejected.

        Words are rejected if the revision isn't known, or if a newer one of the same turn already has words.
        """
        revision = self._known.get(words.revision)
        if revision is None:
            return None
        if any(other.order > revision.order and fold(other.text) for other in self.of_turn(revision.turn)):
            return None
        revision.text += words.text
        return revision


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
