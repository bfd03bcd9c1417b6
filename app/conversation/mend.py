"""How an answer that is being spoken goes over to a better one, as a person would.

Given the words already said in this turn and the newer revision's clauses, tells which of them are still to be said,
and whether the two contradict each other so that a bridge must be spoken. In mid-sentence the newer one is gone on with
only where it holds the very same words; otherwise it is taken up with a whole sentence. Pure text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.conversation.languages import ENGLISH, language
from app.conversation.words import fold

SAME = 0.6
"""Share of a sentence's weight that another one must hold, besides saying nothing else, to have said it already. Chosen
by hand: what is left out may then be a turn of phrase, and hardly a statement."""

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
BRIDGES = language(ENGLISH).bridges
_CLOSING = "\"'”’»)]"
_STAKES = re.compile(
    r"\d.*|no|not|never|nor|none|nobody|nothing|neither|without|.+n't|two|three|four|five|six|seven|eight|nine|ten|eleven|"
    r"twelve|.+teen|.+ty(?:-.+)?|hundred|thousand|.+illion"
)
"""What turns a statement into another one: numbers and negations (and words in -ty, which does no harm)."""


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


@dataclass(frozen=True, slots=True)
class _Sentence:
    """`place`: the number of its first clause; `whole`: its end is known."""

    place: int
    words: tuple[str, ...]
    whole: bool


def mend(
    said: str, clauses: list[str], *, complete: bool, corrections: int = 0, resumed: bool = False,
    bridges: Sequence[str] = BRIDGES,
) -> Mend:  # fmt: skip
    """Joins a newer revision to what was said.

    `clauses` are the revision's closed clauses so far, `complete` tells that no more will come, `corrections` counts
    the bridges already spoken in this turn. `resumed`: the user has spoken since, so that a new sentence begins, and
    nothing is corrected. `bridges`: the phrases that correct, in the answer's language.
    """
    spoken = fold(said)
    if not spoken:
        return Mend("continue") if clauses else Mend("wait")
    words = fold(" ".join(clauses))
    if words[: len(spoken)] == spoken:
        place, skip, here = _behind(clauses, len(spoken))
        if _goes_on(said, here) and (not resumed or ends_sentence(here)):
            return Mend("continue", place, skip)
    elif not complete and len(words) < len(spoken):
        return Mend("wait")
    before = [one for one in _sentences([said]) if one.whole]
    after = _sentences(clauses, complete=complete)
    first = next((one for one in after if not _is_among(one, before)), None)
    if first is None:
        return Mend("continue", len(clauses)) if complete else Mend("wait")
    if not first.whole and not complete and any(_content(first.words) <= _content(one.words) for one in before):
        return Mend("wait")  # it may yet turn out to be what was said
    agrees = ends_sentence(said) and first.place > 0 and all(_is_told_by(one, after) for one in before)
    if agrees or resumed:
        return Mend("continue", first.place)
    return Mend("correct", first.place, bridge=bridges[corrections % len(bridges)])


def after_bridge(clause: str) -> str:
    """A clause as it goes on behind a bridge: without its capital, unless the word always has one."""
    head, _, rest = clause.partition(" ")
    if head in {"I", "I'm", "I'd", "I'll", "I've"} or head[1:] != head[1:].lower() or fold(head)[:1] == ():
        return clause
    return f"{head.lower()} {rest}".strip() if fold(head)[0] in _FILLERS | _STARTERS else clause


def bridge_behind(said: str, bridge: str) -> str:
    """A bridge as it is written behind `said`: with a dash where that breaks off in mid-sentence."""
    if not said or ends_sentence(said) or _mark(said) == ":":
        return bridge
    return f"– {bridge[:1].lower()}{bridge[1:]}"


def ends_sentence(said: str) -> bool:
    """Whether nothing is left open behind `said`."""
    return _mark(said) in tuple(".!?…")


def _mark(text: str) -> str:
    """The mark that a text ends with; empty for none."""
    last = text.rstrip().rstrip(_CLOSING)[-1:]
    return "" if last.isalnum() else last


def _goes_on(said: str, here: str) -> bool:
    """Whether the newer answer can go on behind `here`, its word that was said last: not where a pause was made that it
    does not make.
    """
    if ends_sentence(said):
        return ends_sentence(here)
    return not _mark(said) or bool(_mark(here))


def _behind(clauses: list[str], words: int) -> tuple[int, int, str]:
    """The place behind the first folded `words`: a clause's number, how many of its tokens come before, and the last
    token before it.
    """
    here = ""
    for place, clause in enumerate(clauses):
        for skip, token in enumerate(clause.split()):
            if words <= 0 and fold(token):
                return place, skip, here
            words -= len(fold(token))
            here = token
    return len(clauses), 0, here


def _sentences(clauses: list[str], *, complete: bool = False) -> list[_Sentence]:
    out: list[_Sentence] = []
    words: list[str] = []
    begun = 0
    for place, clause in enumerate(clauses):
        for part in re.split(rf"(?<=[.!?…])[{re.escape(_CLOSING)}]*\s+(?=[A-Z\d\"“'‘(])", clause):
            words += fold(part)
            if words and ends_sentence(part):
                out.append(_Sentence(begun, tuple(words), True))
                words = []
        begun = begun if words else place + 1
    if words:
        out.append(_Sentence(begun, tuple(words), complete))
    return out


def _is_among(sentence: _Sentence, told: list[_Sentence]) -> bool:
    return sentence.whole and any(_is_same(one.words, sentence.words) for one in told)


def _is_told_by(sentence: _Sentence, newer: list[_Sentence]) -> bool:
    return any(one.whole and _is_same(sentence.words, one.words) for one in newer)


def _is_same(said: tuple[str, ...], newer: tuple[str, ...]) -> bool:
    """Whether `newer` says all that was `said`, and hardly more, in these or other words."""
    if said == newer:
        return True
    mine, others = _content(said), _content(newer)
    return bool(mine) and mine <= others and len(mine) >= SAME * len(others) and _stakes(said) == _stakes(newer)


def _content(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(words) - _FILLERS


def _stakes(words: tuple[str, ...]) -> list[str]:
    return sorted(word for word in words if _STAKES.fullmatch(word))
