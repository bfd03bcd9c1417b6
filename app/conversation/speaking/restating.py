"""Finds the beginning of an answer that only restates its question, which can be spoken before the answer is known.

Small models restate: "What is the capital of Norway?" is answered by "The capital of Norway is Oslo." Two revisions
that were asked on different words agree on that beginning before the last word of the question is recognised. Such
words assert nothing: all of them are the user's own or small ones, and they end before the sentence states anything.
So a question with a false premise ("When did Einstein invent the telephone?") is not confirmed by them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from app.conversation.languages import ENGLISH, language
from app.conversation.speaking.revisions import KnownRevision, Revisions
from app.conversation.speaking.spoken_answer import ClauseChoice, Moment, SpokenAnswer
from app.conversation.words import fold

LEAST_WORDS = 2
"""Fewer words than this aren't worth starting with: the answer itself would have to follow within 0.2 s."""
LEADS = 2
"""A question word among so many words of a question makes it one that isn't answered by yes or no: "And in what …"."""
WORD_SECONDS, DUE_SECONDS = 0.25, 0.6
"""A restated word lasts about so long. The answer must be due within this time after the last one."""
MISSING_WORDS = 2
"""How many of the question's last words a revision may not have been asked on. What was answered before most of the
question was known often begins otherwise than the answer to all of it."""


def restated_words(answer: str, question: str, code: str = ENGLISH) -> int:
    """Returns how many words at the start of `answer` only restate the `question`; 0 if there are fewer than two.

    They are words of the question and small words, up to the word before a verb ("The capital of Norway"), or up to a
    preposition after which the name that is asked about may follow ("The capital of"). A form of "to be" is included
    if nothing of the question is missing before it. There are none if the question may be answered by yes or no, and
    they contain no number and no negation.
    """
    spoken_in, asked = language(code), fold(question)
    verbs = spoken_in.copulas | spoken_in.auxiliaries
    if verbs.intersection(asked[:1]) or not spoken_in.question_words.intersection(asked[: LEADS + 1]):
        return 0
    own = frozenset(asked) - spoken_in.question_words - spoken_in.fillers - spoken_in.auxiliaries
    safe, said = 0, set[str]()
    for place, token in enumerate(answer.split()):
        words = fold(token)
        if len(words) != 1 or re.fullmatch(spoken_in.stakes, words[0]) or not token[-1].isalnum():
            break
        word = words[0]
        if word in verbs:
            if said:
                safe = place + (word in spoken_in.copulas and said == own)
            break
        if word in own:
            said.add(word)
        elif word in spoken_in.genitives and said:
            safe = place + 1
        elif word not in spoken_in.fillers:
            break
    return safe if safe >= LEAST_WORDS else 0


def agreed_words(spoken: str, revision: KnownRevision, others: Sequence[KnownRevision], question: str) -> int:
    """Returns how many words at the start of `spoken` restate the `question` and are those of another revision, too.

    `spoken`: the first words of `revision`, which must have been asked on nearly all of the question. The other one,
    among `others`, must have been asked on other words: two requests with the same words have the same answer.
    """
    asked = fold(revision.asked)
    most = (
        restated_words(spoken, question, revision.language) if len(fold(question)) - len(asked) <= MISSING_WORDS else 0
    )
    if not most:
        return 0
    mine = fold(" ".join(spoken.split()[:most]))
    agreed = 0
    for other in others:
        if other is not revision and fold(other.asked) != asked:
            pairs = zip(mine, fold(other.aloud), strict=False)
            agreed = max(agreed, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)))
    spoken_in = language(revision.language)
    while 0 < agreed < most and mine[agreed - 1] in spoken_in.fillers - spoken_in.genitives:
        agreed -= 1  # the answer may not continue with "that" after "The instrument"
    return agreed if agreed >= LEAST_WORDS else 0


def to_restate(moment: Moment, said: SpokenAnswer, revisions: Revisions) -> tuple[ClauseChoice, int] | None:
    """Returns a clause whose beginning only restates the question, and how many words that is, if it may be said now.

    Nothing may have been said in this turn, the words known so far must reach the voice's end, and the newest answer
    must be expected by the time at which the restated words end.
    """
    asked = revisions.of_turn(said.turn)
    if said.given or said.started or moment.answer_mode != "thinking" or not asked:
        return None
    if said.ended.explicit or said.ended.speech_end is None:
        return None
    newest = asked[-1]
    heard = newest.asked if newest.complete else said.ended.heard or said.ended.nearly_heard
    found = find_restatement(moment, asked, heard) if heard else None
    if found is None:
        return None
    in_time = newest.expected and newest.due <= moment.at + found[1] * WORD_SECONDS + DUE_SECONDS
    return found if newest.has_words or in_time else None


def find_restatement(moment: Moment, asked: Sequence[KnownRevision], question: str) -> tuple[ClauseChoice, int] | None:
    """Returns a clause of one of the revisions `asked`, and how many of its words restate the `question`.

    A clause that has been synthesised is preferred.
    """
    prepared = moment.prepared
    if prepared is not None and moment.synthesised and not prepared.index and not prepared.begin:
        revision = next((one for one in asked if one.number == prepared.revision), None)
        if revision is not None and (words := agreed_words(prepared.text, revision, asked, question)):
            return prepared, words
    for revision in reversed(asked):
        clause = revision.first_clause
        if revision is asked[-1] and revision.has_words and not revision.clauses:
            return None  # its first clause is about to be complete; that of an older revision needn't be
        if clause is not None and (words := agreed_words(clause.spoken, revision, asked, question)):
            return ClauseChoice.first(revision.number, clause), words
    return None


def begin_alike(clause: ClauseChoice, other: ClauseChoice, words: int) -> bool:
    """Returns whether both clauses have the same first `words` words."""
    return fold(" ".join(clause.text.split()[:words])) == fold(" ".join(other.text.split()[:words]))
