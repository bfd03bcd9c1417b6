"""Recognises Markdown in a text, and cuts, mends or escapes it so that no marker is left without its partner."""

from __future__ import annotations

import re

from app.conversation.blocks import Block, blocks

_MARKED = re.compile(
    r"""
      ^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S                         # a list
    | ^[ \t]*(?:\#{1,6}[ \t]|>|[-*_]{3,}[ \t]*$|\|)                # a heading, a quote, a rule, a table
    | `|~~|\*\*|(?<!\w)[*_](?=\w)|(?<=\w)\*(?!\w)                  # code, emphasis
    | \]\(|https?://                                               # a link
    | \\[(\[]|\$(?=\S)[^$\n]*[a-zA-Z\\^][^$\n]*(?<=\S)\$(?!\d)     # a formula
    """,
    re.M | re.X,
)
_PERHAPS = re.compile(r"[*`_~#>|\]\\$:\n]|\A[ \t]*[-+\d]")
"""Without any of these a text is plain: much faster to find."""
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&$])")
_LIST = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)")
_OPEN_LINK = re.compile(r"!?\[([^\[\]]*)(?:\]\([^()\s]*)?$")
_LINE_MARKS = re.compile(r"[ \t]*(?:(?:[-*+>]|\d{1,9}[.)]|#{1,6})[ \t]+)*")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_TAG = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)|<", re.S)
_MARKERS = ("**", "__", "~~", "*", "_")


def has_markdown(text: str) -> bool:
    """Whether Markdown changes how a text looks. Line breaks and blank lines alone are plain."""
    return _PERHAPS.search(text) is not None and _MARKED.search(text) is not None


def is_line_mark(text: str) -> bool:
    """Whether a line's beginning is only the mark of a list, a heading or a quote, or nothing."""
    return _LINE_MARKS.fullmatch(text) is not None


def escaped(text: str) -> str:
    """Returns Markdown that shows a plain text as it is."""
    return _LIST.sub(lambda found: f"{found[1]}{found[2][:-1]}\\{found[2][-1]}", _SPECIAL.sub(r"\\\1", text))


def well_formed(text: str) -> str:
    """Returns a Markdown text with each fence in a line of its own, and none left open."""
    out = ""
    for block in blocks(text):
        if block.kind != "code" or (block.closed and (not out or out.endswith("\n"))):
            out += block.text
        else:
            out = f"{out.rstrip(' ')}\n\n{_fenced(block)}\n" if out else f"{_fenced(block)}\n"
    return out


def without_html(text: str) -> str:
    """Returns a Markdown text in which tags are shown as text, in every reader."""
    return "".join(
        block.text if block.kind == "code" else _TAG.sub(lambda found: found[0] if found[1] else "&lt;", block.text)
        for block in blocks(text)
    )


def _fenced(block: Block) -> str:
    fence = "~~~" if "```" in block.code else "```"
    return f"{fence}{block.language}\n{block.code}\n{fence}"


def cut(text: str, end: int) -> str:
    """Returns the first `end` letters of a Markdown text, with what they leave open closed where the rest closes it."""
    head, rest = text[:end], _PARAGRAPH.split(text[end:], maxsplit=1)[0]
    line = _PARAGRAPH.split(head)[-1]
    if not rest:
        return head
    if line.count("`") % 2:
        return f"{head}`" if "`" in rest else head
    link = _OPEN_LINK.search(line)
    if link is not None and re.match(r"[^\[\]]*\]\(|[^()\s]*\)", rest):
        head = head[: len(head) - len(link.group())] + link[1]
        line = line[: link.start()] + link[1]
    for marker in _still_open(line):
        if marker in rest:
            head += marker
    return head


def _still_open(line: str) -> list[str]:
    """The markers of emphasis that a line leaves open, the innermost first."""
    open_markers: list[str] = []
    for found in re.finditer(r"\\.|`[^`]*`|\*\*|~~|\*|(?<!\w)__?|__?(?!\w)", line):
        marker = found.group()
        if marker not in _MARKERS:
            continue
        opens = not line[found.end() : found.end() + 1].isspace()
        closes = not line[max(0, found.start() - 1) : found.start()].isspace() and found.start() > 0
        if marker in open_markers and closes:
            del open_markers[open_markers.index(marker) :]
        elif opens and found.end() < len(line):
            open_markers.append(marker)
    return open_markers[::-1]
