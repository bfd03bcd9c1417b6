"""Converts a written answer to the clauses that a voice says one by one.

Removes what nobody says aloud (code, tables, markup, list marks, links) and writes out what a voice misreads (sums,
units, money) in the answer's language. The text may grow: what the voice was given never changes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from app.conversation.languages import ENGLISH, Language, language
from app.conversation.markdown import Block, blocks, may_have_blocks
from app.conversation.reading.grammar import Replacement, Rule, compiled, later_rules
from app.conversation.reading.markup import first_rules
from app.conversation.words import fold


def aloud(text: str, code: str = ENGLISH, *, whole: bool = True) -> str:
    """Returns an answer in the language `code` with sentences in the place of code and tables.

    `whole`: no more text follows. Until then the result is the beginning of the result for any longer text.
    """
    return "".join(said for _, said in aloud_parts(blocks(text, whole=whole), code))


def aloud_parts(parts: Sequence[Block], code: str = ENGLISH) -> Iterator[tuple[Block, str]]:
    """Yields each part of an answer with what a voice is given for it.

    Of several blocks of a kind without words between them, only the first one is announced.
    """
    announced = ""
    for part in parts:
        if part.kind == "prose":
            announced = "" if not announced or fold(part.text) else announced
            yield part, part.text
        else:
            yield part, "" if part.kind == announced else f"\n\n{language(code).on_screen[part.kind]}\n\n"
            announced = part.kind


def _compiled(*rules: tuple[str, str, int]) -> tuple[Rule, ...]:
    return tuple(compiled("", rules))


_MARKUP = _compiled(
    (r"[^\S\n]{2,}|[^\S\n ]", " ", 0),  # first: the rules below match single blanks
    # The end of a paragraph, a heading and an item of a list is heard.
    (r"(?<=[\w)])([*_`]*) ?\n ?\n", r".\1\n\n", 0),
    (r"^( ?#{1,6} .*[\w)])([*_`]*) ?\n", r"\1.\2\n", re.M),
    (r"(?<=[\w)])([*_`]*) ?\n(?= ?(?:[-*+•]|\d{1,2}[.)]) )", r".\1\n", 0),
    (r" ?\n\s*", "\n", 0),
    (r"<\|[^|>\s]*\|>|<(?:start|end)_of_turn>|</?s>", " ", 0),  # tokens of a model with a wrong template
    (r"!?\[([^\]]+)\]\((?:[^()\s]|\([^()\s]*\))*\)", r"\1", 0),
)
_NO_LINK = r"\s<>()\u3000-\u303f\uff00-\uff65"
"""Ends a link: blanks, brackets, and the punctuation of East Asian texts."""
_LINK = re.compile(rf"<?(?:https?://|www\.)[^{_NO_LINK}]+(?:\([^\s()]*\)[^{_NO_LINK}]*)*(?<![.,;:!?'\"”»])>?")
_NO_ORDINAL = (
    r"(?!\d{1,2}\.\s+(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jahrhundert"
    r"|Weltkrieg|Platz|Klasse|Stock|FC)\b)"
)
"""Excludes German ordinals, such as “3. Oktober”, from the list numbers."""
_LISTS = _compiled(
    (r"^\s*(?:>(?!\d) ?)+", " ", re.M),
    (rf"^\s*{_NO_ORDINAL}(?:[-*+•]|#{{1,6}}|\d{{1,2}}[.)])\s+(?:\[[ xX]\]\s+)?", " ", re.M),
    (rf"(?<=[:.!?])\s+{_NO_ORDINAL}\d{{1,2}}[.)]\s+(?=\**[A-Z])", " ", 0),
    (r"\*\*|__", "", 0),
    (r"(?:(?:\s+|^)[*×·÷/+=≈≤≥√^&$€£%°→⇒<>|#•-]+)+$", "", 0),  # signs at the end belong to words to come
)
_SIGNS = _compiled(
    (r"\s*(?:→|⇒|->|=>)\s*", ", ", 0),
    (r"(?<=[a-z0-9])_(?=[a-z0-9])", " ", 0),
    (r"[*_`#~|<>{}\[\]^]+|\\(?!\w)|(?<![\w:])\\", "", 0),
    (r"\$(?=[A-Za-z(])|(?<=[A-Za-z)])\$(?!\d)", "", 0),  # around a formula
    (r"[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200D]+", "", 0),  # emoji
    (r"\s{2,}|[^\S ]", " ", 0),
)


@functools.cache
def _rules(code: str) -> tuple[Rule, ...]:
    """All rules of a language in their order."""
    one = language(code)
    return (*first_rules(code), *_MARKUP, (frozenset("w/"), _LINK, one.link), *_LISTS, *later_rules(code), *_SIGNS)


class _Aligned:
    """A text under rewriting, with the written characters that each of its characters reaches."""

    def __init__(self, parts: Iterator[tuple[Block, str]]) -> None:
        self.text, self.ends, place = "", list[int](), 0
        for block, said in parts:
            self.text += said
            end = place + len(block.text)
            self.ends += range(place + 1, end + 1) if said is block.text else [end] * len(said)
            place = end

    def replace(self, pattern: re.Pattern[str], replacement: Replacement) -> bool:
        """Replaces every match of `pattern`, as `re.sub` does; returns whether there is one."""
        texts, ends, last = list[str](), list[int](), 0
        for match in pattern.finditer(self.text):
            old = match.group()
            new = match.expand(replacement) if isinstance(replacement, str) else replacement(match)
            texts += (self.text[last : match.start()], new)
            ends += self.ends[last : match.start()]
            shared = _shared(old, new)
            rest = min(_shared(old[::-1], new[::-1]), len(old) - shared, len(new) - shared)
            ends += self.ends[match.start() : match.start() + shared]
            reached = self.ends[match.end() - rest - 1] if match.end() > rest else 0
            ends += [reached] * (len(new) - shared - rest)
            ends += self.ends[match.end() - rest : match.end()]
            last = match.end()
        if texts:
            self.text = "".join([*texts, self.text[last:]])
            self.ends = ends + self.ends[last:]
        return bool(texts)


def _shared(one: str, other: str) -> int:
    """Returns how many characters two texts have in common at their beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


@functools.lru_cache(maxsize=64)
def spoken_form(text: str, code: str, whole: bool) -> tuple[str, tuple[int, ...]]:
    """Returns what a voice says for an answer, and for each character of that how many of the answer's it reaches."""
    form = _Aligned(aloud_parts(blocks(text, whole=whole), code))
    letters = set(form.text)
    for needed, pattern, replacement in _rules(code):
        if (not needed or not needed.isdisjoint(letters)) and form.replace(pattern, replacement):
            letters = set(form.text)
    first, last = len(form.text) - len(form.text.lstrip()), len(form.text.rstrip())
    return form.text[first:last], tuple(form.ends[first:last])


def spoken(text: str, code: str = ENGLISH, *, whole: bool = True) -> str:
    """Returns what a voice says for an answer in the language `code`; `whole`: no more text follows."""
    return spoken_form(text, code, whole)[0]


MIN_WORDS = 4
"""A comma closes a clause only after this many words: shorter ones make a voice sound chopped."""

MAX_WORDS = 28
"""A clause without punctuation is cut here, so that its speech can begin."""

CLOSING = "\"'”’“‘»«›‹)]"
"""Brackets, and quotation marks that close in some language."""
_STRONG = re.compile(rf"[.!?…][{re.escape(CLOSING)}]*$")
_WEAK = re.compile(rf"[,;:—–][{re.escape(CLOSING)}]*$")
_INITIALS = re.compile(r"(?:[A-ZÄÖÜÉa-z]\.)+")
_ORDINAL = re.compile(r"\d{1,2}\.")

FIRST_WORDS = 6
LONGEST_FIRST_WORDS = 11
"""The first clause is cut early, before a word that often begins a phrase, because the user waits for its sound."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause in both forms.

    - `spoken`: what a voice says.
    - `begin`: the written character at which it begins.
    - `ends`: for each spoken word, how many characters of the written answer have been said after it.
    """

    spoken: str
    begin: int
    ends: tuple[int, ...]


def clauses_of(answer: str, *, complete: bool, code: str = ENGLISH, begin: int = 0) -> list[Clause]:
    """Returns the closed clauses of a written answer in the language `code`; see `split_clauses`.

    `begin`: the character at which the first of them begins; another clause ends there.
    """
    text, reached = spoken_form(answer[begin:], code, complete)
    clauses, start = list[Clause](), begin
    for tokens in _ranges(text, complete, code, first=not begin):
        ends = tuple(begin + reached[end - 1] for _, end in tokens)
        clauses.append(Clause(_joined(text, tokens), start, ends))
        start = ends[-1]
    if complete and clauses:
        last = clauses[-1]
        clauses[-1] = Clause(last.spoken, last.begin, (*last.ends[:-1], len(answer)))
    return clauses


class GrowingClauses:
    """The closed clauses of an answer that grows. Only its end is looked at again, so a long answer costs no more."""

    def __init__(self, code: str = ENGLISH) -> None:
        self._code = code
        self._clauses: list[Clause] = []
        self._seen = (0, False)  # the length of the answer, and whether it was complete

    def of(self, answer: str, *, complete: bool) -> list[Clause]:
        """Returns what `clauses_of` does. `answer` begins with the one of the last call."""
        seen, self._seen = self._seen, (len(answer), complete)
        if seen == self._seen:
            return self._clauses
        kept = self._clauses[: self._settled(answer)]
        found: list[Clause] | None = None
        if kept:
            # The last one is looked at again, as what precedes a word may change how it is read.
            again = clauses_of(answer, complete=complete, code=self._code, begin=kept[-1].begin)
            later = [clause for clause in again if clause.begin >= kept[-1].ends[-1]]
            if later and later[0].begin == kept[-1].ends[-1]:
                found = [*kept, *later]
        self._clauses = clauses_of(answer, complete=complete, code=self._code) if found is None else found
        return self._clauses

    def _settled(self, answer: str) -> int:
        """Returns how many clauses stay: up to the last plain sentence that another clause follows."""
        for place in range(len(self._clauses) - 2, 0, -1):
            clause = self._clauses[place]
            if _STRONG.search(clause.spoken) and not may_have_blocks(answer[clause.begin : clause.ends[-1]]):
                return place + 1
        return 0


def split_clauses(text: str, *, complete: bool, code: str = ENGLISH) -> list[str]:
    """Returns the closed clauses of a spoken `text` in the language `code`; joined by spaces they are its words.

    A clause is closed by what follows it, so the last one is returned only if the text is `complete`. The first one is
    kept short. A sentence that stands for code or a table is a clause at once: what follows it may be long in coming.
    """
    return [_joined(text, tokens) for tokens in _ranges(text, complete, code)]


_Token = tuple[int, int]
"""The first character of a word and the one after its last."""
_TOKEN = re.compile(r"\S+")


def _joined(text: str, tokens: Sequence[_Token]) -> str:
    return " ".join(text[begin:end] for begin, end in tokens)


def _ranges(text: str, complete: bool, code: str, *, first: bool = True) -> list[list[_Token]]:
    """Returns the tokens of each closed clause. `first`: the answer begins with it, so that it is kept short."""
    clauses: list[list[_Token]] = []
    place = 0
    for found in _announcements(code).finditer(text):
        _split(text, place, found.start(), clauses, language(code), complete=True, first=first)
        clauses.append([match.span() for match in _TOKEN.finditer(text, *found.span())])
        place = found.end()
    _split(text, place, len(text), clauses, language(code), complete=complete, first=first)
    return clauses


def _split(
    text: str,
    begin: int,
    end: int,
    clauses: list[list[_Token]],
    spoken_in: Language,
    *,
    complete: bool,
    first: bool,
) -> None:
    """Adds the clauses of a stretch of `text`."""
    spans = [match.span() for match in _TOKEN.finditer(text, begin, end)]
    tokens = [text[first:last] for first, last in spans]
    start = 0
    for place, token in enumerate(tokens[:-1]):
        words, following = tokens[start : place + 1], tokens[place + 1]
        # The end of a paragraph may still add a full stop to the last word.
        settled = complete or place + 2 < len(tokens)
        early = first and not clauses and _early(words, following if settled else "", spoken_in)
        if early or _closes(token, words, following, spoken_in):
            clauses.append(spans[start : place + 1])
            start = place + 1
    if start < len(spans) and complete:
        clauses.append(spans[start:])


@cache
def _announcements(code: str) -> re.Pattern[str]:
    return re.compile("(" + "|".join(map(re.escape, language(code).on_screen.values())) + ")")


def ends_sentence_here(token: str, following: str, spoken_in: Language) -> bool:
    """Whether the mark at the end of `token` ends a sentence, and not an abbreviation, an initial or an ordinal."""
    abbreviated = token.lower() in spoken_in.abbreviations or _INITIALS.fullmatch(token)
    ordinal = spoken_in.ordinals_with_point and _ORDINAL.fullmatch(token)
    return not abbreviated and not ordinal and not following[:1].islower()


def _early(words: list[str], following: str, spoken_in: Language) -> bool:
    if len(words) >= LONGEST_FIRST_WORDS:
        return True
    return len(words) >= FIRST_WORDS and following.lower() in spoken_in.phrase_starters


def _closes(token: str, words: list[str], following: str, spoken_in: Language) -> bool:
    if _STRONG.search(token):
        return ends_sentence_here(token, following, spoken_in)
    if _WEAK.search(token):
        return len(words) >= MIN_WORDS
    return len(words) >= MAX_WORDS
