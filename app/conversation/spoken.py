"""From written to spoken: takes out of an answer what nobody says aloud (markup, list marks, links).

Works on a growing text: what is given for a text is the beginning of what is given for a longer one, as
long as the text ends where a clause does. Pure text.
"""

from __future__ import annotations

import re

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"```.*?(?:```|$)", re.S), " "),
    (re.compile(r"\[([^\]]+)\]\([^)\s]*\)"), r"\1"),
    (re.compile(r"https?://\S+"), "a link"),
    (re.compile(r"(?m)^\s*(?:[-*•]|#{1,6}|\d{1,2}[.)])\s+"), " "),
    (re.compile(r"(?<=[:.!?])\s+\d{1,2}[.)]\s+(?=[A-Z*])"), " "),
    (re.compile(r"[*_`#~|<>{}\[\]\\]+"), ""),
    (re.compile(r"\s+"), " "),
)


def spoken(text: str) -> str:
    """The words of `text` as a voice should say them."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.strip()
