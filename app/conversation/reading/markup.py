"""What is read before Markdown is taken out of a written answer: marks for the eye alone, and formulas in LaTeX."""

from __future__ import annotations

import html
import re
from functools import cache

from app.conversation.reading import Reading, reading
from app.conversation.reading.grammar import GREEK, Rule, Rules, compiled, fraction


@cache
def first_rules(code: str) -> tuple[Rule, ...]:
    """Returns the rules for text that may have Markdown."""
    words = reading(code)
    return (*compiled("", _unheard(words)), *compiled("\\$^_∞", _formulas(words)))


# -- for the eye alone


_BLOCK_TAGS = "blockquote|br|center|details|div|h[1-6]|hr|li|ol|p|pre|summary|table|tbody|td|th|thead|tr|ul"
_OTHER_TAGS = (
    "a|abbr|b|big|cite|code|del|em|font|i|img|ins|kbd|mark|q|s|small|span|strike|strong|sub|sup|tt|u|var|"
    "answer|final|message|output|reply|response|result|speech|text"  # around a model's answer
)


def _unheard(words: Reading) -> Rules:
    yield rf"</?(?:{_BLOCK_TAGS})(?:\s[^<>\n]*)?/?>", " ", re.I
    yield rf"</?(?:{_OTHER_TAGS})(?:\s[^<>\n]*)?/?>", "", re.I
    yield r"</[a-zA-Z][\w:-]{0,30}>", "", 0
    yield r"(?<![\w)])<([a-zA-Z][\w -]{0,30})>", r"\1", 0  # something to fill in: <folder>
    yield r"&(?:[a-zA-Z]{2,8}|#\d{1,5});", lambda m: html.unescape(m[0]), 0
    yield r"^\s*([-=_*~─━═])(?:\s?\1){2,}\s*$", "\n", re.M  # a line between two parts
    yield "[\u2500-\u25ff]+", " ", 0  # boxes and other shapes
    yield r"^\s*\[[^\]\n]+\]:\s*<?(?:https?://|www\.)\S+[^\n]*$", "", re.M  # where a link leads
    yield r"^(\s*)\[\^\w{1,20}\]:\s*", r"\1", re.M
    yield r"([0-9#*])\ufe0f?\u20e3", r"\1", 0  # keycaps
    yield r"\s?:contentReference\[[^\]\n]*\]\{[^}\n]*\}", "", 0
    yield r"\s[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200D]+(?=[\s.,;:!?)]|$)", "", 0
    yield r"(?<=\s)[:;]-?[)(DP](?=\s|$)", "", 0
    yield r"\s?【[^】\n]{1,60}】", "", 0
    yield r"\s?\[\^\w{1,20}\](?!:)", "", 0
    # Marks of citations: numbers in brackets behind a word or a full stop, but not an interval or an index.
    number = r"\d{1,3}(?:\s?[,–-]\s?\d{1,3})*"
    counted = re.compile(rf"(?:^|\W)(?:{words.intervals})$", re.I)
    yield (
        rf"(?<=[\w.,;:!?%)”“\"»])\s?(?:\[{number}\])+(?=[\s.,;:!?)]|$)",
        lambda m: m[0] if counted.search(m.string[max(0, m.start() - 20) : m.start()]) else "",
        re.I,
    )
    yield rf"\s?\[(?:{words.citation_needed})\]", "", re.I
    yield (
        r"\s\((?:[A-ZÄÖÜÉ][\w'’-]+(?: et al\.?| &amp; | & | and | und )?[\w'’ -]*,? ?(?:18|19|20)\d\d[a-z]?"
        r"(?:; ?)?)+\)",
        "",
        0,
    )
    yield r"(?<=[a-zà-ÿ][.!?])[¹²³⁴⁵⁶⁷⁸⁹⁰]+(?=\s|$)", "", 0
    # What somebody does while speaking.
    yield rf"(?:^|(?<=[.!?…\n] )|(?<=\n))\*(?:{words.actions})(?: [^*\n.]{{1,30}})?\*[.!]?\s*", "", re.I
    yield rf"\s*(?<=[.!?…] )\*(?:{words.actions})(?: [^*\n.]{{1,30}})?\*[.!]?(?=\s|$)", "", re.I
    yield rf"\s?\[(?:{words.actions}|{words.sounds})(?: [^\]\n]{{1,30}})?\]", "", re.I


# -- formulas


_COMMANDS = {
    "times": "×", "cdot": "·", "div": "÷", "pm": "±", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "neq": "≠",
    "ne": "≠", "approx": "≈", "lt": "<", "gt": ">", "degree": "°", "circ": "°", "rightarrow": "→", "Rightarrow": "⇒",
    "implies": "⇒", "quad": " ", "qquad": " ", "left": "", "right": "", "displaystyle": "", "percent": "%",
}  # fmt: skip


def _formulas(words: Reading) -> Rules:
    content = r"((?:[^$\n\\]|\\.)*?[a-zA-Z\\^_=<>≤≥≠+×·°](?:[^$\n\\]|\\.)*?)"
    yield rf"(?<!\\)\$\$?(?=\S){content}(?<=\S)\$\$?(?!\d)", r"\1", 0
    yield rf"(?<!\\)\$\$?\s{content}\s\$\$?(?!\d)", r"\1", 0
    yield r"\\([%$&#_{}])", r"\1", 0
    yield r"\\[,;:! ]", " ", 0
    yield r"\\(?:text|mathrm|mathbf|mathit|operatorname|boxed|textbf|mathbb)\s?\{([^{}]*)\}", r"\1", 0
    yield r"\\(?:text|mathrm|mathbf|boxed)\s?\{([^{}]*)\}", r"\1", 0
    yield r"\^\s?\{?\\(?:circ|degree)\}?", "°", 0
    bound = r"(?:\{([^{}]*)\}|(\w))"
    spread = lambda m: f"{words.from_to.format(m[1] or m[2], m[3] or m[4])} "  # noqa: E731
    yield rf"\\int\s?_{bound}\s?\^{bound}\s*", lambda m: words.integral + " " + spread(m), 0
    yield rf"\\sum\s?_{bound}\s?\^{bound}\s*", lambda m: words.sum + " " + spread(m), 0
    yield r"([\^_])\{([^{}]*)\}", r"\1\2", 0
    for _ in range(2):  # one may be within the other
        yield r"\\sqrt\s?\{([^{}]*)\}", rf"{words.root} \1", 0
        yield r"\\[dt]?frac\s?\{([^{}]*)\}\s?\{([^{}]*)\}", lambda m: _written_fraction(words, m), 0
    yield r"\\[dt]?frac\s?(\d)(\d)", lambda m: _written_fraction(words, m), 0
    yield r"\\sqrt\s?(\w)", rf"{words.root} \1", 0
    yield r"\\to\s?\\infty", f" {words.approaches} {words.infinity}", 0
    yield r"\\infty|∞", words.infinity, 0
    yield r"\\to\b", "→", 0
    yield r"\\int\b", words.integral, 0
    yield r"\\sum\b", words.sum, 0
    yield rf"\\({'|'.join(_COMMANDS)})(?![a-zA-Z])\s?", lambda m: f" {_COMMANDS[m[1]]} ", 0
    yield rf"\\({'|'.join(GREEK)})(?![a-zA-Z])", lambda m: f" {words.greek.get(m[1], m[1])} ", 0
    yield r"\\[(\[]\s*|\s*\\[)\]]", "", 0


def _written_fraction(words: Reading, m: re.Match[str]) -> str:
    """A fraction of a formula, which other letters may follow."""
    follows = m.string[m.end() : m.end() + 1].isalnum()
    return fraction(words, m[1].strip(), m[2].strip()) + (" " if follows else "")
