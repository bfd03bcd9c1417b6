"""Makes Markdown readable where it is shown letter by letter: markers disappear, and every letter keeps its place."""

from __future__ import annotations

import re
from functools import lru_cache

from app.conversation.markdown import has_markdown

NOTHING = "\u2060"
"""A letter without width, at which no line breaks."""

_HIDDEN = re.compile(
    r"^[ \t]*(?:`{3,}|~{3,}|\#{1,6}[ \t]+)"  # fences and headings
    r"|\*\*|~~|`+|(?<!\w)[*_](?=\w)|(?<=[\w.,!?)])[*_](?!\w)"  # emphasis and code
    r"|!?\[(?=[^\]\n]*\]\()|(?<=\w)\]\([^)\s]*\)",  # a link but for its words
    re.M,
)
_BULLET = re.compile(r"^([ \t]*)[-*+](?=[ \t]+\S)", re.M)
_QUOTE = re.compile(r"^([ \t]*)>", re.M)
_DASHES = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*\|[ \t|:-]*$", re.M)
_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.M)


@lru_cache(maxsize=128)
def readable(text: str) -> str:
    """Returns a text of the same length without the markers of Markdown. It may be given while it grows."""
    if not has_markdown(text):
        return text
    text = _DASHES.sub(lambda found: re.sub(r"[:-]", "─", found[0]).replace("|", "┼"), text)
    text = _ROW.sub(lambda found: found[0].replace("|", "│"), text)
    text = _BULLET.sub(r"\1•", text)
    text = _QUOTE.sub(r"\1│", text)
    return _HIDDEN.sub(lambda found: NOTHING * len(found[0]), text)
