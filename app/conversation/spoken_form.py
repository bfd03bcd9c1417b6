"""From written to spoken: takes out of an answer what nobody says aloud (markup, list marks, links), and writes out
what a voice misreads (sums, units, money), in the words of the answer's language. Numbers stay digits: the voices read
them, years and decimals too.

Works on a growing text: what is given for a text is the beginning of what is given for a longer one, as
long as the text ends where a clause does. Pure text.
"""

from __future__ import annotations

import functools
import re

from app.conversation.languages import ENGLISH, language

_Rules = tuple[tuple[re.Pattern[str], str], ...]


def _compiled(*rules: tuple[str, str, int]) -> _Rules:
    return tuple((re.compile(pattern, flags), replacement) for pattern, replacement, flags in rules)


_MARKUP = _compiled(
    (r"[^\S\n]+", " ", 0),  # first: the rules behind look at blanks letter by letter
    (r" ?\n\s*", "\n", 0),
    (r"<\|[^|>\s]*\|>|<(?:start|end)_of_turn>|</?s>", " ", 0),  # marks of a model that has the wrong template
    (r"```.*?(?:```|$)", " ", re.S),
    (r"\[([^\]]+)\]\([^)\s]*\)", r"\1", 0),
)
_LINK = re.compile(r"https?://\S+")
_ORDINAL = (
    r"(?!\d{1,2}\.\s+(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jahrhundert"
    r"|Weltkrieg|Platz|Klasse|Stock|FC)\b)"
)
"""Not a list's number but a German ordinal: “3. Oktober”."""
_LISTS = _compiled(
    (rf"^\s*{_ORDINAL}(?:[-*•]|#{{1,6}}|\d{{1,2}}[.)])\s+", " ", re.M),
    (rf"(?<=[:.!?])\s+{_ORDINAL}\d{{1,2}}[.)]\s+(?=\**[A-Z])", " ", 0),
    (r"\*\*|__", "", 0),
    (r"(?:(?:\s+|^)[*×·÷/+=≈≤≥√^&$€£%°→⇒<>|#•-]+)+$", "", 0),  # what it belongs to is still to come
)
_SIGNS = _compiled(
    (r"\s*(?:→|⇒|->|=>)\s*", ", ", 0),
    (r"[*_`#~|<>{}\[\]\\^]+", "", 0),
    (r"[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200D]+", "", 0),  # pictures
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
    """The words of `text` as a voice should say them in the language of that code."""
    for pattern, replacement in _rules(code):
        text = pattern.sub(replacement, text)
    return text.strip()
