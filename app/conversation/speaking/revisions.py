"""The oracle's revisions: the messages about them, what is known of each, and the gate in front of the voice.

The newest revision wins, but only from its first words on; after that, no word of an older one passes. The session
applies this rule to the streams of its back-ends, and front-ends apply it to the messages of the session.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from app.conversation.events import AnswerMode, SpeechRule
from app.conversation.speaking.clauses import Clause, GrowingClauses, aloud
from app.conversation.turns.completeness import completeness
from app.conversation.turns.floor import TakeFloor
from app.conversation.words import fold, same_words


@dataclass(frozen=True, slots=True)
class OracleAsked:
    """A revision has been requested for the user's `words` in `turn`.

    The newest revision is the one for which this input was sent last. Front-ends must not compare revision numbers: a
    revision keeps its number when it is handed over mid-answer, so a smaller number may be newer. If it is sent
    again for a known number, that revision becomes the newest and keeps its text.

    - `complete`: the words are those of the complete turn
    - `wanted`: the user chose this back-end while another one's answer was being spoken, and is waiting for it
    - `paused`: the user was silent at the time, so the words may be complete
    - `expected`: seconds until the first clause, based on the back-end's earlier answers; 0 if unknown
    - `language`: the language of the words as a two-letter code
    """

    revision: int
    turn: int
    complete: bool
    wanted: bool = False
    words: str = ""
    paused: bool = True
    expected: float = 0.0
    language: str = "en"


@dataclass(frozen=True, slots=True)
class OracleWords:
    """The next whole words of a revision, including spacing. The first ones replace the previous oracle.

    `posted_at`: the session time at which the session sent them.
    """

    revision: int
    turn: int
    text: str
    posted_at: float


@dataclass(frozen=True, slots=True)
class OracleCompleted:
    """A revision requested for a partial transcript has turned out to answer the complete turn."""

    revision: int


@dataclass(frozen=True, slots=True)
class OracleDone:
    """A revision is finished, so no more words follow. `failed`: its stream was interrupted."""

    revision: int
    failed: bool = False


@dataclass(frozen=True, slots=True)
class OracleThinks:
    """The model has been thinking about a revision for so long that the user is told."""

    revision: int


OracleInput = OracleAsked | OracleWords | OracleCompleted | OracleThinks | OracleDone


KEPT = 9
"""How many revisions to keep besides the one in use. Older ones are no longer spoken or compared."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a revision may be spoken, and the rule that decided it."""

    passes: bool
    rule: SpeechRule
    revision: int = 0


@dataclass(slots=True)
class KnownRevision:
    """One answer of a back-end as it grows.

    - `number`: identifies it for life.
    - `turn`, `asked`: the user's turn, and its words that were known at the request.
    - `complete`: these were all of the turn's words.
    - `wanted`: the user has chosen this back-end in mid-answer.
    - `text`: the answer so far, as the model wrote it; `done`: no more follows.
    - `paused`: the user was silent at the request.
    - `due`: the session time at which its first clause is expected, `expected` seconds after the request.
    - `language`: the language of the words, as a two-letter code.
    - `order`: a later request has a greater one, whatever the numbers are.
    - `thinks`: see `OracleThinks`.
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
    thinks: bool = False
    _has_words: bool = field(default=False, repr=False, compare=False)
    _growing: GrowingClauses | None = field(default=None, repr=False, compare=False)

    @property
    def clauses(self) -> list[Clause]:
        """Its closed clauses."""
        if self._growing is None:
            self._growing = GrowingClauses(self.language)
        return self._growing.of(self.text, complete=self.done)

    @property
    def first_clause(self) -> Clause | None:
        """Its first clause, or the part of it that there is; None if it has no words."""
        clauses = self.clauses or GrowingClauses(self.language).of(self.text, complete=True)
        return clauses[0] if clauses else None

    @property
    def has_words(self) -> bool:
        """Whether its text so far has a word."""
        if not self._has_words and self.text:
            self._has_words = bool(fold(self.text))
        return self._has_words

    @property
    def aloud(self) -> str:
        """Its text so far, with sentences in the place of code and tables."""
        return aloud(self.text, self.language, whole=self.done)

    @property
    def may_be_complete(self) -> bool:
        """Whether the words that it answers may be the whole turn: the user paused after them, or they are English and
        don't break off in mid-sentence.
        """
        closed = self.language == "en" and completeness(self.asked) != "open"
        return self.complete or self.paused or closed

    @property
    def beginning(self) -> tuple[str, ...]:
        """The words of its first clause; empty while that may still grow."""
        clauses = self.clauses
        return fold(clauses[0].spoken) if clauses else ()


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

    @property
    def newest_with_words(self) -> int:
        """The newest revision that has words; 0 if there is none."""
        return next((revision.number for revision in reversed(self._known.values()) if revision.has_words), 0)

    def of_turn(self, turn: int) -> list[KnownRevision]:
        """Returns the revisions of a turn, oldest first."""
        return [revision for revision in self if revision.turn == turn]

    def update(self, item: OracleInput, at: float = 0.0, *, in_use: int = 0) -> KnownRevision | None:
        """Processes one input and returns its revision, or None if it is rejected. `at`, `in_use`: see `ask`."""
        if isinstance(item, OracleAsked):
            return self.ask(item, at, in_use=in_use)
        if isinstance(item, OracleWords):
            return self.add(item.revision, item.text)
        revision = self._known.get(item.revision)
        if revision is None:
            return None
        match item:
            case OracleCompleted():
                revision.complete = True
            case OracleThinks():
                revision.thinks = True
            case OracleDone():
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

    def add(self, number: int, text: str) -> KnownRevision | None:
        """Adds text to a revision and returns it, or None if it is rejected.

        It is rejected if the revision isn't known, or if a newer one of the same turn already has words.
        """
        revision = self._known.get(number)
        if revision is None or self.superseded(revision):
            return None
        revision.text += text
        return revision

    def superseded(self, revision: KnownRevision) -> bool:
        """Returns whether a newer revision of the same turn has words."""
        return any(other.order > revision.order and other.has_words for other in self.of_turn(revision.turn))

    def gate(self, revision: KnownRevision, ended: TakeFloor, answer_mode: AnswerMode, *, in_use: int = 0) -> Verdict:
        """Decides whether a revision may be spoken as the answer to the turn that has `ended`.

        In the mode `after` it must answer the complete turn. In the mode `thinking` it may also be spoken before that
        is known, if the turn's end was guessed from the voice, there is no newer request, and either its words are a
        whole question or the revision before it starts alike: a revision that has seen only the beginning of a
        question often answers another question.

        `in_use`: the revision in use, which continues.
        """

        def held(rule: SpeechRule) -> Verdict:
            return Verdict(False, rule, revision.number)

        def passes(rule: SpeechRule) -> Verdict:
            return Verdict(True, rule, revision.number)

        if revision.turn != ended.turn:
            return held("another turn")
        if revision.complete:
            return passes("complete turn")
        if answer_mode == "after":
            return held("incomplete turn")
        if revision.number == in_use:
            return passes("in use")
        others = [other for other in self.of_turn(revision.turn) if other is not revision]
        newer = any(other.order > revision.order for other in others)
        if revision.wanted and not newer:
            return passes("chosen back-end")
        if ended.explicit:
            return held("incomplete turn")
        if newer:
            return held("newer request")
        if ended.heard:
            if not same_words(ended.heard, revision.asked):
                return held("other words")
            if completeness(revision.asked, revision.language) in ("short", "request", "question"):
                return passes("whole question")
        before = max((other for other in others if other.has_words), key=lambda other: other.order, default=None)
        if before is not None and revision.beginning != () and revision.beginning == before.beginning:
            return passes("same beginning")
        return held("unconfirmed")
