"""From a written answer to the clauses that a voice says one by one.

Removes what nobody says aloud (code, tables, markup, list marks, links) and writes out what a voice misreads (sums,
units, money) in the answer's language. It works on a growing text: what was given to the voice stays, however the text
grows.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from functools import cache

from app.conversation.languages import ENGLISH, Language, language
from app.conversation.markdown import Block, blocks
from app.conversation.words import fold


class Aloud:
    """Turns an answer that arrives word by word. What was given to the voice stays the beginning of what follows."""

    def __init__(self, code: str = ENGLISH) -> None:
        self.text = ""
        """All that the voice was given so far."""
        self.in_block = False
        """Whether the answer so far ends in code or in a table."""
        self._code = code
        self._written = ""

    def push(self, delta: str) -> str:
        """Adds whole words of the answer, with their spacing; returns what the voice gets for them (may be empty)."""
        self._written += delta
        return self._pass_on(whole=False)

    def flush(self) -> str:
        """Returns what the voice gets at the answer's end."""
        return self._pass_on(whole=True)

    def _pass_on(self, *, whole: bool) -> str:
        parts = blocks(self._written, whole=whole)
        self.in_block = bool(parts) and parts[-1].kind != "prose"
        text = "".join(said for _, said in aloud_parts(parts, self._code))
        passed, self.text = len(self.text), text
        return text[passed:]


def aloud(text: str, code: str = ENGLISH) -> str:
    """Returns what a voice is given for a whole answer in the language `code`."""
    return "".join(said for _, said in aloud_parts(blocks(text), code))


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


_Rules = tuple[tuple[re.Pattern[str], str], ...]


def _compiled(*rules: tuple[str, str, int]) -> _Rules:
    return tuple((re.compile(pattern, flags), replacement) for pattern, replacement, flags in rules)


_MARKUP = _compiled(
    (r"[^\S\n]+", " ", 0),  # first: the rules below match single blanks
    # The end of a paragraph, a heading and an item of a list is heard.
    (r"(?<=[\w)])([*_`]*) ?\n ?\n", r".\1\n\n", 0),
    (r"^( ?#{1,6} .*[\w)])([*_`]*) ?\n", r"\1.\2\n", re.M),
    (r"(?<=[\w)])([*_`]*) ?\n(?= ?(?:[-*+•]|\d{1,2}[.)]) )", r".\1\n", 0),
    (r" ?\n\s*", "\n", 0),
    (r"<\|[^|>\s]*\|>|<(?:start|end)_of_turn>|</?s>", " ", 0),  # tokens of a model with a wrong template
    (r"!?\[([^\]]+)\]\([^)\s]*\)", r"\1", 0),
)
_LINK = re.compile(r"https?://\S+")
_NO_ORDINAL = (
    r"(?!\d{1,2}\.\s+(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jahrhundert"
    r"|Weltkrieg|Platz|Klasse|Stock|FC)\b)"
)
"""Excludes German ordinals, such as “3. Oktober”, from the list numbers."""
_LISTS = _compiled(
    (rf"^\s*{_NO_ORDINAL}(?:[-*+•]|#{{1,6}}|\d{{1,2}}[.)])\s+", " ", re.M),
    (rf"(?<=[:.!?])\s+{_NO_ORDINAL}\d{{1,2}}[.)]\s+(?=\**[A-Z])", " ", 0),
    (r"\*\*|__", "", 0),
    (r"(?:(?:\s+|^)[*×·÷/+=≈≤≥√^&$€£%°→⇒<>|#•-]+)+$", "", 0),  # signs at the end belong to words to come
)
_SIGNS = _compiled(
    (r"\s*(?:→|⇒|->|=>)\s*", ", ", 0),
    (r"[*_`#~|<>{}\[\]\\^]+", "", 0),
    (r"\$(?=[A-Za-z(])|(?<=[A-Za-z)])\$(?!\d)", "", 0),  # around a formula
    (r"[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200D]+", "", 0),  # emoji
    (r"\s+", " ", 0),
)


@functools.cache
def _rules(code: str) -> _Rules:
    """All rules of a language in their order."""
    one = language(code)
    readings = _compiled(*((pattern, replacement, 0) for pattern, replacement in one.readings))
    return (*_MARKUP, (_LINK, one.link), *_LISTS, *readings, *_SIGNS)


@functools.lru_cache(maxsize=16)
def spoken(text: str, code: str = ENGLISH) -> str:
    """Returns `text`, which is in the language `code`, as a voice should say it."""
    text = aloud(text, code)
    for pattern, replacement in _rules(code):
        text = pattern.sub(replacement, text)
    return text.strip()


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


def split_clauses(text: str, *, complete: bool, code: str = ENGLISH) -> list[str]:
    """Returns the closed clauses of `text`, which is in the language `code`; joined by spaces they are its words.

    A clause is closed by what follows it, so the last one is returned only if the text is `complete`. The first one is
    kept short. A sentence that stands for code or a table is a clause at once: what follows it may be long in coming.
    """
    spoken_in = language(code)
    clauses: list[str] = []
    stretches = _announcements(code).split(text)
    for number, stretch in enumerate(stretches):
        if number % 2:
            clauses.append(stretch)
        else:
            _split(stretch.split(), clauses, spoken_in, complete or number + 1 < len(stretches))
    return clauses


def _split(tokens: list[str], clauses: list[str], spoken_in: Language, complete: bool) -> None:
    words: list[str] = []
    for place, token in enumerate(tokens):
        words.append(token)
        if place + 1 == len(tokens):
            break
        following = tokens[place + 1]
        # The end of a paragraph may still add a full stop to the last word.
        settled = complete or place + 2 < len(tokens)
        early = not clauses and _early(words, following if settled else "", spoken_in)
        if early or _closes(token, words, following, spoken_in):
            clauses.append(" ".join(words))
            words = []
    if words and complete:
        clauses.append(" ".join(words))


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
