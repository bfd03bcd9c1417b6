"""Decides what a voice says now: it waits, fills the wait with an opening, or says a clause of the oracle.

`decide` is the only place where that is decided, except that `cutting_clause` may cut off the clause being spoken, and
`confirmed_restatement` lets a clause go on of which only the beginning was to be said. `could_answer` tells whether a
turn that ended now would be answered at once. Both ask the same gate (`Revisions.gate`), which names the rule by which
a revision may be spoken or is held back. What is known of the revisions is in `app.conversation.speaking.revisions`.

A newer revision takes over at the end of a clause: `app.conversation.speaking.correction` joins it to what was said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from app.conversation.events import AnswerMode, SpeechRule
from app.conversation.frame import FRAME_SECONDS
from app.conversation.languages import language
from app.conversation.speaking.clauses import Clause
from app.conversation.speaking.correction import after_bridge, bridge_following, ends_sentence, plan_correction
from app.conversation.speaking.restating import agreed_words
from app.conversation.speaking.revisions import KnownRevision, Revisions, Verdict
from app.conversation.turns.floor import TakeFloor
from app.conversation.words import fold, same_words

OPENING_SILENCE = 0.9
"""An opening starts no earlier than this many seconds after the user's voice or, with push-to-talk, after the button is
released. Most answers have begun by then."""

LONGEST_SILENCE = 1.3
"""After this many seconds an opening starts unless the answer has words, and then `SYNTHESIS_SECONDS` later. It starts
no earlier if the answer is further away than `LATE_SECONDS`, so that the silence after the opening isn't too long."""

SYNTHESIS_SECONDS = 0.3
"""How long an answer's first clause and its audio take at most, as a rule, from its first word on."""

DUE_SECONDS = 0.6
"""If the answer is expected within this time, an opening before it would delay it."""

LATE_SECONDS = 1.5
"""An answer that isn't expected before this time is late: an opening is said in two turns in a row."""

LONGER_SECONDS = 1.0
"""If the answer isn't expected before this time, a longer phrase is the opening."""

WORD_SECONDS = 0.25
"""How long a restated word lasts, about."""


@dataclass(frozen=True, slots=True)
class Said:
    """Words whose audio ends at sample `end` of this step's frame (1 to 1920).

    - `revision`: the revision they come from, or 0 for none.
    - `glued`: no space precedes them.
    - `written`: the first and the last character (exclusive) of the revision's text that they stand for; None if
      unknown. Words of the voice's own, such as a bridge, stand for none.
    """

    text: str
    end: int
    turn: int
    revision: int
    glued: bool = False
    written: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class ClauseChoice:
    """A clause to speak. An opening, and a notice that the model is thinking, have revision 0.

    - `revision`, `index`: the revision, and the clause's number in it.
    - `text`: what the voice says, including a bridge.
    - `bridge`: the correction phrase at its start, if any.
    - `cuts`: the current clause is cut off to make way for it.
    - `begin`, `ends`: the written form, see `Clause`; for the words of a bridge, `ends` stays at `begin`.
    """

    revision: int
    index: int
    text: str
    bridge: str = ""
    cuts: bool = False
    begin: int = 0
    ends: tuple[int, ...] = ()

    def written(self, word: int, words: int) -> tuple[int, int] | None:
        """Returns the written characters that spoken word number `word` of `words` stands for; None if unknown."""
        if not self.ends:
            return None
        if words == len(self.ends):
            return self.ends[word - 1] if word else self.begin, self.ends[word]
        return self.begin, self.ends[-1] if word == words - 1 else self.begin


@dataclass(slots=True)
class SpokenAnswer:
    """The answer to a turn, as far as it has been spoken.

    - `ended`: the command that ended the user's turn.
    - `given`: the words output so far.
    - `corrections`: the number of bridges spoken so far.
    - `source`: the revision in use, 0 if none.
    - `next_clause`: the index of its next clause.
    - `started`: an opening or part of the answer has been played.
    - `audible`: part of the answer itself has been played.
    - `notified`: the user has been told that the model is thinking.
    - `restates`: the revision whose words restate the question, if nothing else has been said; else 0.
    - `opened`: it began with an opening; `opened_before`: so did the answer before it.
    """

    ended: TakeFloor
    given: list[Said] = field(default_factory=list)
    corrections: int = 0
    source: int = 0
    next_clause: int = 0
    started: bool = False
    audible: bool = False
    notified: bool = False
    restates: int = 0
    opened: bool = False
    opened_before: bool = False

    @property
    def turn(self) -> int:
        """The user's turn being answered."""
        return self.ended.turn

    @property
    def words(self) -> list[str]:
        """The words of the answer output in this turn, without openings and notices."""
        return [word.text for word in self.given if word.revision]


@dataclass(frozen=True, slots=True)
class Moment:
    """What else a decision depends on.

    - `at`: the session time in seconds at which the current frame ends, which lasts `frame_seconds`.
    - `waits_since`: when the user started to wait for the answer.
    - `answer_mode`: see `Revisions.gate`.
    - `openings`: whether openings may fill a wait.
    - `prepared`: the clause that was requested from the voice, if any.
    - `synthesised`: its audio is ready.
    - `broke_off`: the previous clause was cut off for it.
    """

    at: float = 0.0
    frame_seconds: float = FRAME_SECONDS
    waits_since: float = 0.0
    answer_mode: AnswerMode = "thinking"
    openings: bool = True
    prepared: ClauseChoice | None = None
    synthesised: bool = False
    broke_off: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What the voice does, and the `rule` that decided it.

    - `action`: `wait` says nothing. `opening` fills the wait. `clause` says `clause`. `end`: the answer is over.
    - `clause`: with `wait`, the clause that has to be synthesised first, if there is one.
    - `words`: of the clause, only so many words are said until a revision confirms the rest; 0 for all of them.
    - `far`: with `opening`, the answer isn't expected before `LONGER_SECONDS`.
    """

    action: Literal["wait", "opening", "clause", "end"]
    rule: SpeechRule
    clause: ClauseChoice | None = None
    revision: int = 0
    words: int = 0
    far: bool = False


def decide(moment: Moment, said: SpokenAnswer, revisions: Revisions) -> Decision:
    """Decides what follows when the voice has nothing to play, has the floor and isn't on hold."""
    clause, verdict = _next_clause(moment, said, revisions)
    if clause is None and _all_said(said, revisions):
        return Decision("end", "all said", revision=said.source)
    if clause is None and (notice := _notice(said, revisions)) is not None:
        clause, verdict = notice, Verdict(False, "model thinks", verdict.revision)
    if clause is not None and clause == moment.prepared and moment.synthesised:
        return Decision("clause", verdict.rule, clause, verdict.revision)
    restated = _to_restate(moment, said, revisions)
    if restated is not None:
        choice, words = restated
        agrees = clause is None or _begins_alike(clause, choice, words)
        if choice == moment.prepared and moment.synthesised and agrees:
            return Decision("clause", "restated", choice, choice.revision, words)
        if clause is None:
            return Decision("wait", "synthesis", choice, choice.revision)
    rule: SpeechRule = "synthesis" if clause is not None else verdict.rule
    waits = Decision("wait", rule, clause, verdict.revision)
    if said.started or not moment.openings or moment.answer_mode != "thinking" or said.ended.speech_end is None:
        return waits  # typed turns are not opened
    asked = revisions.of_turn(said.turn)
    if not asked:
        return waits  # possibly a cough
    # The output of this step is played after its frame.
    silence = moment.at + moment.frame_seconds - moment.waits_since
    if silence <= OPENING_SILENCE:
        return waits
    comes = clause is not None or asked[-1].has_words
    until_due = 0.0 if comes else asked[-1].due - moment.at
    longest = LONGEST_SILENCE + (SYNTHESIS_SECONDS if comes else 0.0)
    if silence <= longest and not DUE_SECONDS < until_due <= LATE_SECONDS:
        return Decision("wait", "answer due", clause, verdict.revision)
    if said.opened or (said.opened_before and until_due <= LATE_SECONDS):
        return Decision("wait", "opened before", clause, verdict.revision)
    return Decision("opening", rule, clause, verdict.revision, far=until_due > LONGER_SECONDS)


def could_answer(moment: Moment, said: SpokenAnswer, revisions: Revisions, ended: TakeFloor) -> bool | None:
    """Returns whether an answer could start immediately if the user's turn `ended` now.

    None in the mode `after`, in which back-ends are asked only once the turn has ended. `said`: the answer before.
    """
    if moment.answer_mode == "after":
        return None
    newest, prepared = revisions.newest, moment.prepared
    if newest is None or newest.turn != ended.turn or prepared is None or not moment.synthesised:
        return False
    if prepared.revision == newest.number:
        if ended.heard:
            if same_words(newest.asked, ended.heard):  # the end of the turn confirms the revision
                return True
        elif revisions.gate(newest, TakeFloor(newest.turn), moment.answer_mode).passes:
            return True
    given = said.given if said.turn == ended.turn else []
    restated = _to_restate(moment, SpokenAnswer(ended, given), revisions)
    return restated is not None and restated[0] == prepared


def confirmed_restatement(
    moment: Moment, said: SpokenAnswer, revisions: Revisions, current: ClauseChoice
) -> Decision | None:
    """Returns the decision to say all of `current`, of which only the beginning was to be said, if it is confirmed.

    It is by a revision that may be spoken and whose first clause has the same words.
    """
    for revision in _candidates(moment, said, revisions):
        if revision.clauses and revision.clauses[0].spoken == current.text:
            rule = _gate(moment, said, revisions, revision).rule
            return Decision("clause", rule, _choice(revision.number, revision.clauses[0]), revision.number)
    return None


def next_to_prepare(
    moment: Moment, said: SpokenAnswer, revisions: Revisions, *, has_floor: bool, unsaid: Sequence[str] = ()
) -> ClauseChoice | None:
    """Returns the clause to synthesise in advance. `unsaid`: the words that remain in the current clause."""
    if has_floor:
        candidates = _candidates(moment, said, revisions, early=True)
        choice = _choose(said, [*said.words, *unsaid], candidates, revisions)
        if choice is None and (restated := _to_restate(moment, said, revisions)) is not None:
            return restated[0]
        return choice
    newest = revisions.newest
    if newest is None:
        return None
    # The user may be continuing a turn that was answered too early. The words already spoken then still count.
    given = said.given if newest.turn == said.turn else []
    answer = SpokenAnswer(said.ended, given, audible=said.audible)
    candidates = _candidates(moment, answer, revisions, early=True, turn=newest.turn)
    choice = _choose(answer, answer.words, candidates, revisions)
    if choice is None and not given and moment.answer_mode == "thinking":
        restated = _restatement(moment, revisions.of_turn(newest.turn), newest.asked)
        return restated[0] if restated is not None else None
    return choice


def cutting_clause(
    moment: Moment, said: SpokenAnswer, revisions: Revisions, current: ClauseChoice
) -> ClauseChoice | None:
    """Returns a clause that should cut `current` off, if the user has since chosen a back-end that disagrees."""
    candidates = _candidates(moment, said, revisions)
    if not candidates or not candidates[0].wanted:
        return None
    spoken = revisions.get(current.revision)
    if spoken is not None and candidates[0].order <= spoken.order:
        return None
    words = said.words
    choice = _choose(said, words, candidates, revisions, cuts=True) if words else None
    return choice if choice is not None and choice.bridge else None


def _to_restate(moment: Moment, said: SpokenAnswer, revisions: Revisions) -> tuple[ClauseChoice, int] | None:
    """Returns a clause whose beginning only restates the question, and how many words that is, if it may be said now.

    Nothing may have been said in this turn, the words known so far must reach the voice's end, and the newest answer
    must be expected by the time at which the restated words end. A clause that is synthesised is preferred.
    """
    if said.given or said.started or moment.answer_mode != "thinking" or said.ended.explicit:
        return None
    asked = revisions.of_turn(said.turn)
    if not asked or said.ended.speech_end is None:
        return None
    newest = asked[-1]
    heard = newest.asked if newest.complete else said.ended.heard or said.ended.nearly_heard
    restated = _restatement(moment, asked, heard) if heard else None
    if restated is None:
        return None
    in_time = newest.expected and newest.due <= moment.at + restated[1] * WORD_SECONDS + DUE_SECONDS
    return restated if newest.has_words or in_time else None


def _restatement(moment: Moment, asked: Sequence[KnownRevision], question: str) -> tuple[ClauseChoice, int] | None:
    """Returns a clause of one of the revisions `asked`, and how many of its words restate the `question`."""
    prepared = moment.prepared
    if prepared is not None and moment.synthesised and not prepared.index and not prepared.begin:
        revision = next((one for one in asked if one.number == prepared.revision), None)
        if revision is not None and (words := agreed_words(prepared.text, revision, asked, question)):
            return prepared, words
    for revision in reversed(asked):
        clause = revision.first_clause
        # The first clause of the newest answer is about to be complete. That of an older one needn't be.
        if revision is asked[-1] and not revision.clauses:
            if revision.has_words:
                return None
        elif clause is not None and (words := agreed_words(clause.spoken, revision, asked, question)):
            return _choice(revision.number, clause), words
    return None


def _begins_alike(clause: ClauseChoice, other: ClauseChoice, words: int) -> bool:
    """Returns whether both clauses have the same first `words` words."""
    return fold(" ".join(clause.text.split()[:words])) == fold(" ".join(other.text.split()[:words]))


def _choice(revision: int, clause: Clause) -> ClauseChoice:
    """Returns the first clause of a revision as a choice."""
    return ClauseChoice(revision, 0, clause.spoken, begin=clause.begin, ends=clause.ends)


def _gate(moment: Moment, said: SpokenAnswer, revisions: Revisions, revision: KnownRevision) -> Verdict:
    return revisions.gate(revision, said.ended, moment.answer_mode, in_use=said.source)


def _next_clause(moment: Moment, said: SpokenAnswer, revisions: Revisions) -> tuple[ClauseChoice | None, Verdict]:
    """Returns the clause that is due, if any, and the verdict on its revision, or on the newest one."""
    prepared = moment.prepared
    if prepared is not None:
        revision = revisions.get(prepared.revision)
        if revision is not None and moment.broke_off and prepared.cuts:
            return prepared, _gate(moment, said, revisions, revision)
        if revision is not None and not said.audible:
            verdict = _gate(moment, said, revisions, revision)
            if verdict.passes:
                return prepared, verdict
    clause = _choose(said, said.words, _candidates(moment, said, revisions), revisions)
    if clause is not None:
        revision = revisions.get(clause.revision)
        assert revision is not None
        return clause, _gate(moment, said, revisions, revision)
    asked = revisions.of_turn(said.turn)
    if not asked:
        return None, Verdict(False, "not asked")
    newest = asked[-1]
    verdict = _gate(moment, said, revisions, newest)
    if verdict.passes:
        return None, Verdict(False, "next clause" if newest.has_words else "no words", newest.number)
    return None, verdict


def _notice(said: SpokenAnswer, revisions: Revisions) -> ClauseChoice | None:
    """Returns the notice that the model is thinking, if it is due: once a turn, before the answer."""
    asked = revisions.of_turn(said.turn)
    if said.notified or said.audible or not asked or not asked[-1].thinks or asked[-1].has_words:
        return None
    return ClauseChoice(0, 0, language(asked[-1].language).thinking)


def _all_said(said: SpokenAnswer, revisions: Revisions) -> bool:
    """Returns whether the turn's newest revision is finished and answers the complete turn, so nothing follows."""
    asked = revisions.of_turn(said.turn)
    return bool(asked) and asked[-1].done and asked[-1].complete


def _candidates(
    moment: Moment, said: SpokenAnswer, revisions: Revisions, *, early: bool = False, turn: int | None = None
) -> list[KnownRevision]:
    """Returns the revisions to choose from, best first: the newest with words, then the one in use.

    `early`: include revisions with which an answer may start later; `turn`: a turn other than the one answered.
    """
    early = early and not said.audible and moment.answer_mode == "thinking"
    fitting = [
        revision
        for revision in revisions.of_turn(said.turn if turn is None else turn)
        if revision.has_words
        and ((early and revision.may_be_complete) or _gate(moment, said, revisions, revision).passes)
    ]
    if not fitting:
        return []
    newest, current = fitting[-1], revisions.get(said.source)
    if current is None or current is newest or _is_spoken(newest, said):
        return [newest]
    return [newest, current]


def _choose(
    said: SpokenAnswer,
    words: Sequence[str],
    candidates: Sequence[KnownRevision],
    revisions: Revisions,
    *,
    cuts: bool = False,
) -> ClauseChoice | None:
    """Returns the clause that follows `words`, from the first candidate that can be joined to them.

    `cuts`: the current clause may be cut off mid-sentence.
    """
    for revision in candidates:
        clauses = revision.clauses
        if revision.number == said.source:
            if said.next_clause < len(clauses):
                clause = clauses[said.next_clause]
                return ClauseChoice(
                    revision.number, said.next_clause, clause.spoken, begin=clause.begin, ends=clause.ends
                )
            continue
        join = plan_correction(
            " ".join(words),
            [clause.spoken for clause in clauses],
            complete=revision.done,
            corrections=said.corrections,
            resumed=not said.source and not said.restates,
            code=revision.language,
        )
        if join.action == "wait" or join.next_clause >= len(clauses):
            continue
        if join.action == "correct" and _in_sentence(said, words, revisions) and not revision.wanted:
            continue  # finish the current sentence before starting another answer
        clause = clauses[join.next_clause]
        begin = clause.ends[join.skip - 1] if join.skip else clause.begin
        text, ends = " ".join(clause.spoken.split()[join.skip :]), clause.ends[join.skip :]
        if join.bridge:
            last = "x" if cuts else words[-1] if words else ""
            bridge = bridge_following(last, join.bridge)
            text = f"{bridge} {after_bridge(text, revision.language)}"
            ends = (*[begin] * len(bridge.split()), *ends)
        return ClauseChoice(revision.number, join.next_clause, text, join.bridge, cuts, begin, ends)
    return None


def _in_sentence(said: SpokenAnswer, words: Sequence[str], revisions: Revisions) -> bool:
    """Returns whether the spoken words end mid-sentence and the revision in use can continue them."""
    current = revisions.get(said.source)
    if current is None or not words or ends_sentence(words[-1]):
        return False
    return said.next_clause < len(current.clauses)


def _is_spoken(newest: KnownRevision, said: SpokenAnswer) -> bool:
    """Returns whether the newest revision is finished and fully spoken, which makes the one in use obsolete."""
    if not newest.done:
        return False
    clauses = [clause.spoken for clause in newest.clauses]
    join = plan_correction(" ".join(said.words), clauses, complete=True, code=newest.language)
    return join.next_clause >= len(clauses)
