"""Plans how a spoken answer switches to a newer revision, in the way people correct themselves.

Given the words said in this turn and the newer revision's clauses, it determines which of these still have to be said,
and whether the two disagree, so that a bridge ("or rather") is needed. The newer revision continues a sentence only if
it has the same words; otherwise, it starts with a complete sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from app.conversation.languages import ENGLISH, Language, language
from app.conversation.speaking.clauses import CLOSING, ends_sentence_here
from app.conversation.words import fold

SAME = 0.6
"""Share of a sentence's content words that an earlier one must have, without any others, to have said it already.
Chosen by hand: what is missing may then be a turn of phrase, and hardly a statement."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What to do at a clause's end.

    `wait`: too little of the newer revision is known. `continue`: say its clauses from number `next_clause` on, without
    the first `skip` words of that clause. `correct`: the same, after the words of `bridge`.
    """

    action: Literal["wait", "continue", "correct"]
    next_clause: int = 0
    skip: int = 0
    bridge: str = ""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence's folded words. `place`: the number of its first clause. `whole`: its end is known."""

    place: int
    words: tuple[str, ...]
    whole: bool


def plan_correction(
    said: str,
    clauses: list[str],
    *,
    complete: bool,
    corrections: int = 0,
    resumed: bool = False,
    code: str = ENGLISH,
) -> Correction:
    """Joins a newer revision to what was `said`.

    `clauses`: the revision's closed clauses so far. `complete`: no more will come. `corrections`: bridges spoken in
    this turn so far. `resumed`: the user has spoken since, so a new sentence starts and nothing is corrected. `code`:
    the answer's language.
    """
    spoken, spoken_in = fold(said), language(code)
    if not spoken:
        return Correction("continue") if clauses else Correction("wait")
    words = fold(" ".join(clauses))
    if words[: len(spoken)] == spoken:
        place, skip, here = _place_after(clauses, len(spoken))
        if _goes_on(said, here) and (not resumed or ends_sentence(here)):
            return Correction("continue", place, skip)
    elif not complete and len(words) < len(spoken):
        return Correction("wait")
    before = [one for one in _sentences([said], spoken_in) if one.whole]
    after = _sentences(clauses, spoken_in, complete=complete)
    first = next((one for one in after if not _is_among(one, before, spoken_in)), None)
    if first is None:
        return Correction("continue", len(clauses)) if complete else Correction("wait")
    if not first.whole and not complete and _only_starts(first, before, spoken_in):
        return Correction("wait")  # it may turn out to be what was said
    agrees = ends_sentence(said) and first.place > 0 and all(_is_said_by(one, after, spoken_in) for one in before)
    if agrees or resumed:
        return Correction("continue", first.place)
    return Correction("correct", first.place, bridge=spoken_in.bridges[corrections % len(spoken_in.bridges)])


def taken_back(said: str, newer: str, code: str = ENGLISH) -> list[bool]:
    """Tells for each word of `said` whether the answer `newer`, which corrects it, takes it back.

    Whole sentences stay that `newer` has too, before the first one that it has alone. `code`: the answers' language.
    """
    spoken_in = language(code)
    sentences = _sentences([said] if said.split() else [], spoken_in)
    whole = [one for one in sentences if one.whole]
    others = _sentences([newer] if newer.split() else [], spoken_in, complete=True)
    kept = list(takewhile(lambda one: _is_among(one, whole, spoken_in), others))
    stays = [one.whole and any(_is_same(one.words, other.words, spoken_in) for other in kept) for one in sentences]
    out, place, left = [], 0, len(sentences[0].words) if sentences else 0
    for token in said.split():
        if not left and fold(token):
            place += 1
            left = len(sentences[place].words)
        left -= len(fold(token))
        out.append(not (stays and stays[place]))
    return out


def after_bridge(clause: str, code: str = ENGLISH) -> str:
    """A clause as it continues after a bridge: without its capital, unless the word always has one."""
    head, _, rest = clause.partition(" ")
    mine = code == ENGLISH and head in {"I", "I'm", "I'd", "I'll", "I've"}
    if mine or head[1:] != head[1:].lower() or not fold(head):
        return clause
    lowered = fold(head)[0] in language(code).fillers | language(code).sentence_starters
    return f"{head.lower()} {rest}".strip() if lowered else clause


def bridge_following(said: str, bridge: str) -> str:
    """A bridge as it is written after `said`: with a dash where that breaks off in mid-sentence."""
    if not said or ends_sentence(said) or _mark(said) == ":":
        return bridge
    return f"– {bridge[:1].lower()}{bridge[1:]}"


def ends_sentence(said: str) -> bool:
    """Whether `said` ends with a whole sentence."""
    return _mark(said) in tuple(".!?…")


def _mark(text: str) -> str:
    """The mark that a text ends with; empty if there is none."""
    last = text.rstrip().rstrip(CLOSING)[-1:]
    return "" if last.isalnum() else last


def _goes_on(said: str, here: str) -> bool:
    """Whether the newer answer can continue after `here`, its word that was said last.

    It can't where what was said makes a pause that it does not make.
    """
    if ends_sentence(said):
        return ends_sentence(here)
    return not _mark(said) or bool(_mark(here))


def _place_after(clauses: list[str], words: int) -> tuple[int, int, str]:
    """The place after the first `words` folded words: a clause's number, how many of its tokens come before, and the
    last token before it.
    """
    here = ""
    for place, clause in enumerate(clauses):
        for skip, token in enumerate(clause.split()):
            if words <= 0 and fold(token):
                return place, skip, here
            words -= len(fold(token))
            here = token
    return len(clauses), 0, here


def _sentences(clauses: list[str], spoken_in: Language, *, complete: bool = False) -> list[_Sentence]:
    out: list[_Sentence] = []
    words: list[str] = []
    start = 0
    for place, clause in enumerate(clauses):
        tokens = clause.split()
        for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
            words += fold(token)
            if words and ends_sentence(token) and ends_sentence_here(token, following, spoken_in):
                out.append(_Sentence(start, tuple(words), True))
                words = []
        start = start if words else place + 1
    if words:
        out.append(_Sentence(start, tuple(words), complete))
    return out


def _is_among(sentence: _Sentence, earlier: list[_Sentence], spoken_in: Language) -> bool:
    return sentence.whole and any(_is_same(one.words, sentence.words, spoken_in) for one in earlier)


def _is_said_by(sentence: _Sentence, newer: list[_Sentence], spoken_in: Language) -> bool:
    return any(one.whole and _is_same(sentence.words, one.words, spoken_in) for one in newer)


def _only_starts(sentence: _Sentence, earlier: list[_Sentence], spoken_in: Language) -> bool:
    """Whether `sentence` has no content word so far that one of `earlier` lacks."""
    words = _content(sentence.words, spoken_in)
    return any(words <= _content(one.words, spoken_in) for one in earlier)


def _is_same(said: tuple[str, ...], newer: tuple[str, ...], spoken_in: Language) -> bool:
    """Whether `newer` has all the content words of `said`, hardly any more, and the same stakes (numbers and such)."""
    if said == newer:
        return True
    mine, others = _content(said, spoken_in), _content(newer, spoken_in)
    alike = bool(mine) and mine <= others and len(mine) >= SAME * len(others)
    return alike and _stakes(said, spoken_in) == _stakes(newer, spoken_in)


def _content(words: tuple[str, ...], spoken_in: Language) -> frozenset[str]:
    return frozenset(words) - spoken_in.fillers


def _stakes(words: tuple[str, ...], spoken_in: Language) -> list[str]:
    return sorted(word for word in words if re.fullmatch(spoken_in.stakes, word))
