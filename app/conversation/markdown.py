"""Splits an answer into prose, code and tables; recognises, cuts, repairs and escapes Markdown.

No marker is left without its partner. A fence is found at the beginning of a line, and also after other words, as
small models write it. A table is a row of cells with a row of dashes below it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["prose", "code", "table"]

_MARKS = "`~|"
"""Without one of them a text has no block."""
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})")
_INNER_FENCE = re.compile(r"(?<=\s)`{3,}[\w+#.-]*[ \t]*\n")
_UNDECIDED = re.compile(r"^[ \t]+(?:`{1,2}|~{1,2})?$|(?:^|(?<=\s))(?:`{1,2}|~{1,2}|`{3,}[\w+#.-]*[ \t]*)$")
"""The end of a line that is not complete: a fence may follow."""
_ONE_LINE = re.compile(r"[ \t]*(`{3,})[^`\n]+\1(?!`)")
_DASHES = re.compile(r"[ \t]*(?:\|[ \t]*:?-+:?[ \t]*|:?-+:?[ \t]*\|)(?:[ \t]*:?-+:?[ \t]*\|?)*[ \t]*\n?")
_MAYBE_DASHES = re.compile(r"[ \t|:-]*")


@dataclass(frozen=True, slots=True)
class Block:
    """A part of an answer."""

    kind: Kind
    text: str

    @property
    def language(self) -> str:
        """What a block of code is written in, as the answer names it; may be empty."""
        if _ONE_LINE.match(self.text):
            return ""
        return self.text.partition("\n")[0].strip(" \t`~").partition(" ")[0]

    @property
    def code(self) -> str:
        """The code without its fences, and without the indentation of the first of them."""
        if _ONE_LINE.match(self.text):
            return self.text.strip().strip("`").strip()
        head, _, body = self.text.partition("\n")
        indent, fence = len(head) - len(head.lstrip()), head.strip()[:3]
        lines = [line[min(indent, len(line) - len(line.lstrip())) :] for line in body.rstrip().split("\n")]
        if lines[-1].endswith(fence):
            lines[-1] = lines[-1].rstrip(fence[0])
        return "\n".join(lines).rstrip()

    @property
    def closed(self) -> bool:
        """Whether a block of code ends with a fence in a line of its own, or is a single line."""
        if _ONE_LINE.match(self.text):
            return True
        head, _, body = self.text.partition("\n")
        fence, last = head.strip()[:3], body.rstrip().rpartition("\n")[2].strip()
        return last.startswith(fence) and not last.strip(fence[0])


def may_have_blocks(text: str) -> bool:
    """Returns False if a text certainly has no block, which is quick to find out."""
    return any(mark in text for mark in _MARKS)


def blocks(text: str, *, whole: bool = True) -> list[Block]:
    """Splits an answer; the blocks' texts, joined, are `text`.

    `whole`: no more text follows. Until then, an end that may turn out to begin a block is left out, so that more text
    can only extend the last block and add others.
    """
    if not may_have_blocks(text) and (whole or not text[-1:].isspace()):
        return [Block("prose", text)] if text else []
    return _Splitter(_LINES.findall(text), whole).split()


def ends_in_block(text: str) -> bool:
    """Returns whether an answer, so far, ends in code or in a table."""
    parts = blocks(text, whole=False)
    return bool(parts) and parts[-1].kind != "prose"


class _Splitter:
    """Goes through the lines of an answer once."""

    def __init__(self, lines: list[str], whole: bool) -> None:
        self._lines = lines
        self._whole = whole
        self._place = 0
        self._prose = ""
        self._found: list[Block] = []

    def split(self) -> list[Block]:
        while self._place < len(self._lines):
            line = self._lines[self._place]
            if _FENCE.match(line):
                self._take_code("", line)
                continue
            table = self._begins_table()
            if table is None:
                return self._end("")
            if table:
                self._take_table()
            elif (inner := _INNER_FENCE.search(line)) is not None:
                self._take_code(line[: inner.start()], line[inner.start() :])
            elif not (line.endswith("\n") or self._whole) and (end := _UNDECIDED.search(line)):
                return self._end(line[: end.start()])
            else:
                self._prose += line
                self._place += 1
        return self._end("")

    def _end(self, prose: str) -> list[Block]:
        self._close(self._prose + prose)
        return self._found

    def _close(self, prose: str) -> None:
        self._prose = ""
        if prose:
            self._found.append(Block("prose", prose))

    def _take_code(self, before: str, line: str) -> None:
        """Takes a block of code whose first line is `line`, after the words `before` in the same line."""
        self._close(self._prose + before)
        one = _ONE_LINE.match(line)
        if one is not None:
            self._found.append(Block("code", one.group()))
            self._lines[self._place] = line[one.end() :]
            self._place += not self._lines[self._place]
            return
        opened = _FENCE.match(line)
        assert opened is not None
        fence, text = opened["fence"], line
        self._place += 1
        while self._place < len(self._lines):
            line = self._lines[self._place]
            text += line
            self._place += 1
            rest = line.strip()
            closed = rest.startswith(fence) and not rest.strip(fence[0])
            if line.endswith("\n") and (closed or (fence[0] == "`" and rest.endswith(fence))):
                break
        self._found.append(Block("code", text))

    def _begins_table(self) -> bool | None:
        """Whether a table begins with the present line; None if more text is needed to tell."""
        line = self._lines[self._place]
        if not line.lstrip(" \t").startswith("|"):  # a head without a bar before it was read out already
            before = self._lines[self._place - 1] if self._place else ""
            if "|" not in before or not self._prose or not line.strip():
                return False
            return self._is_dashes(line)
        if self._place + 1 < len(self._lines):
            return self._is_dashes(self._lines[self._place + 1])
        return False if self._whole else None

    def _is_dashes(self, line: str) -> bool | None:
        if line.endswith("\n") or self._whole:
            return _DASHES.fullmatch(line) is not None
        return None if _MAYBE_DASHES.fullmatch(line) else False

    def _take_table(self) -> None:
        self._close(self._prose)
        barred = self._lines[self._place].lstrip(" \t").startswith("|")
        text = ""
        while self._place < len(self._lines):
            line = self._lines[self._place]
            row = line.lstrip(" \t").startswith("|") if barred else "|" in line
            if not row:
                if not (line.endswith("\n") or self._whole or (barred and line.strip())):
                    self._place = len(self._lines)  # it may be a row
                break
            text += line
            self._place += 1
        self._found.append(Block("table", text))


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


_LINKED = re.compile(
    r"(?P<code>(`+)(?!`).*?(?<!`)\2(?!`))|(?P<tag><)|(?P<picture>!(?=\[))(?P<empty>\[\])?"
    r"|(?P<target>\]\()(?P<address>\s*[^)\s]*)|^(?P<name> {0,3}\[)(?=[^\]\n]+\]:\s*(?P<defined>\S*))",
    re.S | re.M,
)
_WEB_ADDRESS = re.compile(r"\s*(?:https?://|mailto:)", re.I)


def for_any_reader(text: str) -> str:
    """Returns a Markdown text that does nothing by itself, in every reader.

    Tags are shown as text, pictures become links, since loading one tells its server that the page was opened, and so
    do only links to web pages and mail addresses.
    """
    return "".join(block.text if block.kind == "code" else _LINKED.sub(_defused, block.text) for block in blocks(text))


def _defused(found: re.Match[str]) -> str:
    if found["tag"]:
        return "&lt;"
    if found["picture"]:
        return "[picture]" if found["empty"] else ""
    if found["target"] and not _WEB_ADDRESS.match(found["address"]):
        return f"]\\({found['address']}"
    if found["name"] and not _WEB_ADDRESS.match(found["defined"]):
        return f"{found['name'][:-1]}\\["
    return found[0]


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
