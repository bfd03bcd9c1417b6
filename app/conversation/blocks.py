"""Splits a written answer into prose and the blocks that a screen shows: fenced code and tables.

A fence is found at the beginning of a line, and also behind other words, as small models write it. A table is a row of
cells with a row of dashes below it.
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
    """A stretch of an answer."""

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
    """Whether a text is worth a closer look: most have no block, and this is told at once."""
    return any(mark in text for mark in _MARKS)


def blocks(text: str, *, whole: bool = True) -> list[Block]:
    """Splits an answer; the blocks' texts, joined, are `text`.

    Of an answer that is not `whole`, an end that may turn out to begin a block is left out: then the blocks of a longer
    text are the same ones, of which the last may be longer, and further ones.
    """
    if not may_have_blocks(text) and (whole or not text[-1:].isspace()):
        return [Block("prose", text)] if text else []
    return _Splitter(_LINES.findall(text), whole).split()


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
        """Takes a block of code whose first line is `line`, behind the words `before` in the same line."""
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
