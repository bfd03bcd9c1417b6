"""Decides what a voice says now: it waits, fills the wait with an opening, or says a clause of the oracle.

`decide` is the only place where that is decided, except that `cutting_clause` may cut off the clause being spoken, and
`whole_clause` may let a restatement continue to the end of its clause. One gate (`Revisions.gate`) names the rule by
which a revision may be spoken or is held back. What is known of the revisions is in
`app.conversation.speaking.revisions`.

A newer revision takes over at the end of a clause: `app.conversation.speaking.correction` joins it to what was said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.conversation.events import SpeechRule
from app.conversation.languages import language
from app.conversation.speaking.correction import after_bridge, bridge_following, ends_sentence, plan_correction
from app.conversation.speaking.restating import begin_alike, find_restatement, to_restate
from app.conversation.speaking.revisions import KnownRevision, Revisions, Verdict
from app.conversation.speaking.spoken_answer import ClauseChoice, Decision, Moment, SpokenAnswer

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


def decide(moment: Moment, said: SpokenAnswer, revisions: Revisions) -> Decision:
    """Decides what follows when the voice has nothing to play, has the floor and isn't on hold."""
    clause, verdict = _next_clause(moment, said, revisions)
    if clause is None and _all_said(said, revisions):
        return Decision("end", "all said", revision=said.source)
    if clause is None and (notice := _notice(said, revisions)) is not None:
        clause, verdict = notice, Verdict(False, "model thinks", verdict.revision)
    if clause is not None and clause == moment.prepared and moment.synthesised:
        return Decision("clause", verdict.rule, clause, verdict.revision)
    if (restatement := to_restate(moment, said, revisions)) is not None:
        restated, words = restatement
        agrees = clause is None or begin_alike(clause, restated, words)
        if restated == moment.prepared and moment.synthesised and agrees:
            return Decision("clause", "restated", restated, restated.revision, words)
        clause = clause or restated
    rule: SpeechRule = "synthesis" if clause is not None else verdict.rule
    waits = Decision("wait", rule, clause, verdict.revision)
    if said.started or not moment.openings or moment.answer_mode != "thinking" or said.ended.speech_end is None:
        return waits  # typed turns are not opened
    asked = revisions.of_turn(said.turn)
    if not asked:
        return waits  # possibly a cough
    return _opening(moment, said, asked[-1], waits)


def _opening(moment: Moment, said: SpokenAnswer, newest: KnownRevision, waits: Decision) -> Decision:
    """Returns the decision to fill the wait with an opening, or `waits`."""
    # The output of this step is played after its frame.
    silence = moment.at + moment.frame_seconds - moment.waits_since
    if silence <= OPENING_SILENCE:
        return waits
    comes = waits.clause is not None or newest.has_words
    until_due = 0.0 if comes else newest.due - moment.at
    longest = LONGEST_SILENCE + (SYNTHESIS_SECONDS if comes else 0.0)
    if silence <= longest and not DUE_SECONDS < until_due <= LATE_SECONDS:
        return replace(waits, rule="answer due")
    if said.opened or (said.opened_before and until_due <= LATE_SECONDS):
        return replace(waits, rule="opened before")
    return replace(waits, action="opening", far=until_due > LONGER_SECONDS)


def whole_clause(moment: Moment, said: SpokenAnswer, revisions: Revisions, current: ClauseChoice) -> Decision | None:
    """Returns the decision to say all of `current` after its restated words; None unless a revision confirms it.

    That takes a revision that may be spoken and whose first clause has the same words.
    """
    for revision in _candidates(moment, said, revisions):
        if revision.clauses and revision.clauses[0].spoken == current.text:
            rule = _gate(moment, said, revisions, revision).rule
            return Decision("clause", rule, ClauseChoice.first(revision.number, revision.clauses[0]), revision.number)
    return None


def next_to_prepare(
    moment: Moment, said: SpokenAnswer, revisions: Revisions, *, has_floor: bool, unsaid: Sequence[str] = ()
) -> ClauseChoice | None:
    """Returns the clause to synthesise in advance. `unsaid`: the words that remain in the current clause."""
    if has_floor:
        candidates = _candidates(moment, said, revisions, early=True)
        choice = _choose(said, [*said.words, *unsaid], candidates, revisions)
        restatement = to_restate(moment, said, revisions) if choice is None else None
        return choice if restatement is None else restatement[0]
    newest = revisions.newest
    if newest is None:
        return None
    # The user may be continuing a turn that was answered too early. The words already spoken then still count.
    given = said.given if newest.turn == said.turn else []
    answer = SpokenAnswer(said.ended, given, audible=said.audible)
    candidates = _candidates(moment, answer, revisions, early=True, turn=newest.turn)
    choice = _choose(answer, answer.words, candidates, revisions)
    if choice is None and not given and moment.answer_mode == "thinking":
        restatement = find_restatement(moment, revisions.of_turn(newest.turn), newest.asked)
        return restatement[0] if restatement is not None else None
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
