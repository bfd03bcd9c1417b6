"""From written to spoken: takes out of an answer what nobody says aloud (markup, list marks, links), and writes out
what a voice misreads (sums, units, money). Numbers stay digits: the voices read them, years and decimals too.

Works on a growing text: what is given for a text is the beginning of what is given for a longer one, as
long as the text ends where a clause does. Pure text.
"""

from __future__ import annotations

import functools
import re

_N = r"(?<![\w.])(\d+(?:,\d{3})*(?:\.\d+)?)"
"""A number that is no part of a word."""

_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, flags), replacement)
    for pattern, replacement, flags in (
        (r"[^\S\n]+", " ", 0),  # first: the rules behind look at blanks letter by letter
        (r" ?\n\s*", "\n", 0),
        (r"<\|[^|>\s]*\|>|<(?:start|end)_of_turn>|</?s>", " ", 0),  # marks of a model that has the wrong template
        (r"```.*?(?:```|$)", " ", re.S),
        (r"\[([^\]]+)\]\([^)\s]*\)", r"\1", 0),
        (r"https?://\S+", "a link", 0),
        (r"^\s*(?:[-*•]|#{1,6}|\d{1,2}[.)])\s+", " ", re.M),
        (r"(?<=[:.!?])\s+\d{1,2}[.)]\s+(?=\**[A-Z])", " ", 0),
        (r"\*\*|__", "", 0),
        (r"(?:(?:\s+|^)[*×·÷/+=≈≤≥√^&$€£%°→⇒<>|#•-]+)+$", "", 0),  # what it belongs to is still to come
        # Sums.
        (r"(?<=[\w)²³])\s*\^\s*2\b|²", " squared", 0),
        (r"(?<=[\w)])\s*\^\s*3\b|³", " cubed", 0),
        (r"(?<=[\w)])\s*\^\s*(?=[\w(])", " to the power of ", 0),
        (r"(?<=\d)\s*[*×·]\s*(?=[\d(√π])", " times ", 0),
        (r"(?<=\d)\s*÷\s*(?=\d)|(?<=\d)\s/\s(?=\d)", " divided by ", 0),
        (r"(?<=[\d)])\s+-\s+(?=[\d(])|(?<=[\w)])\s*−\s*(?=[\d(])", " minus ", 0),
        (r"(?<=[\w)])\s*\+\s*(?=[\w(])", " plus ", 0),
        (r"(?<=[\w)])\s*=\s*(?=[\w(−-])", " equals ", 0),
        (r"\s*≈\s*", " is about ", 0),
        (r"\s*≤\s*", " is at most ", 0),
        (r"\s*≥\s*", " is at least ", 0),
        (r"√\s*(?=[\w(])", "the square root of ", 0),
        (r"\bπ|(?<=\d)π", " pi", 0),
        (r"(?<![\d/])1/2(?![\d/])", "one half", 0),
        (r"(?<![\d/])1/4(?![\d/])", "one quarter", 0),
        (r"(?<![\d/])3/4(?![\d/])", "three quarters", 0),
        (r"(?<![\d/])(\d+)/(\d+)(?![\d/])", r"\1 over \2", 0),
        # Money and units.
        (rf"\$\s?{_N}((?:\s(?:thousand|million|billion|trillion))?)", r"\1\2 dollars", 0),
        (rf"€\s?{_N}((?:\s(?:thousand|million|billion|trillion))?)", r"\1\2 euros", 0),
        (rf"£\s?{_N}((?:\s(?:thousand|million|billion|trillion))?)", r"\1\2 pounds", 0),
        (rf"{_N}\s?€", r"\1 euros", 0),
        (rf"{_N}\s?%", r"\1 percent", 0),
        (r"\s?°\s?C\b", " degrees Celsius", 0),
        (r"\s?°\s?F\b", " degrees Fahrenheit", 0),
        (r"\s?°", " degrees", 0),
        (r"(?<=\d)\s?km/h\b", " kilometres per hour", 0),
        (r"(?<=\d)\s?m/s\b", " metres per second", 0),
        (rf"{_N}\s?(k?m|cm|mm)\s(squared|cubed)", r"\1 \3 \2", 0),
        (r"\bsquared km\b", "square kilometres", 0),
        (r"\bsquared m\b", "square metres", 0),
        (r"\bsquared cm\b", "square centimetres", 0),
        (r"\bcubed m\b", "cubic metres", 0),
        (r"\bcubed cm\b", "cubic centimetres", 0),
        (r"(?<=\w)\s*&\s*(?=\w)", " and ", 0),
        (r"\be\.g\.", "for example", 0),
        (r"\bi\.e\.", "that is", 0),
        (r"\s*(?:→|⇒|->|=>)\s*", ", ", 0),
        (r"[*_`#~|<>{}\[\]\\^]+", "", 0),
        (r"[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200D]+", "", 0),  # pictures
        (r"\s+", " ", 0),
    )
)


@functools.lru_cache(maxsize=16)
def spoken(text: str) -> str:
    """The words of `text` as a voice should say them."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.strip()
