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
from app.conversation.speaking.revisions import KnownRevision
from app.conversation.words import fold

LEAST_WORDS = 2
"""Fewer words than this aren't worth starting with: the answer itself would have to follow within 0.2 s."""
LEADS = 2
"""A question word among so many words of a question makes it one that isn't answered by yes or no: "And in what …"."""


def restated_words(answer: str, question: str, code: str = ENGLISH) -> int:
    """Returns how many words at the start of `answer` only restate the `question`; 0 if there are fewer than two.

    They are words of the question and small words, up to a form of "to be" ("The capital of Norway is"), up to the
    word before another auxiliary, or up to a preposition after which the name that is asked about may follow ("The
    capital of"). There are none if the question may be answered by yes or no, and they contain no number and no
    negation.
    """
    spoken_in, asked = language(code), fold(question)
    verbs = spoken_in.copulas | spoken_in.auxiliaries
    if verbs.intersection(asked[:1]) or not spoken_in.question_words.intersection(asked[: LEADS + 1]):
        return 0
    own = frozenset(asked) - spoken_in.question_words - spoken_in.fillers - spoken_in.auxiliaries
    safe, has_own = 0, False
    for place, token in enumerate(answer.split()):
        words = fold(token)
        if len(words) != 1 or re.fullmatch(spoken_in.stakes, words[0]) or not token[-1].isalnum():
            break
        word = words[0]
        if word in verbs:
            if has_own:
                safe = place + (word in spoken_in.copulas)
            break
        has_own = has_own or word in own
        if word in spoken_in.genitives and has_own:
            safe = place + 1
        elif word not in own and word not in spoken_in.fillers:
            break
    return safe if safe >= LEAST_WORDS else 0


def agreed_restatement(revisions: Sequence[KnownRevision], question: str) -> tuple[KnownRevision, int] | None:
    """Returns the newest of a turn's `revisions` whose first clause is known, and how many of its words restate the
    `question` and are those of another revision, too, that was asked on other words. None if there are no such words.
    """
    newest = next((one for one in reversed(revisions) if one.beginning), None)
    if newest is None:
        return None
    clause, asked = newest.clauses[0].spoken.split(), fold(newest.asked)
    for other in revisions:
        if other is newest or fold(other.asked) == asked:
            continue
        pairs = zip(newest.beginning, fold(other.aloud), strict=False)
        agreed = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        if words := restated_words(" ".join(clause[:agreed]), question, newest.language):
            return newest, words
    return None
