"""Converts written answers to what a voice should say.

Removes what nobody says aloud (code, tables, markup, list marks, links) and writes out what a voice misreads (sums,
units, money) in the answer's language. Numbers stay digits, which the voices read, years and decimals too. It works on
a growing text: the result for a text that ends at the end of a clause is the beginning of the result for any longer
text.
"""

from __future__ import annotations

import functools
import re

from app.conversation.aloud import aloud
from app.conversation.languages import ENGLISH, language

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
_ORDINAL = (
    r"(?!\d{1,2}\.\s+(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jahrhundert"
    r"|Weltkrieg|Platz|Klasse|Stock|FC)\b)"
)
"""Excludes German ordinals, such as “3. Oktober”, from the list numbers."""
_LISTS = _compiled(
    (rf"^\s*{_ORDINAL}(?:[-*+•]|#{{1,6}}|\d{{1,2}}[.)])\s+", " ", re.M),
    (rf"(?<=[:.!?])\s+{_ORDINAL}\d{{1,2}}[.)]\s+(?=\**[A-Z])", " ", 0),
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
