"""Reads the page of licences, which is written in Markdown, as blocks of plain text.

Its tables are too wide for a dialog: each row becomes an entry of two or three short lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["heading", "paragraph", "entry", "licence", "details"]

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LICENCE_HEADS = ("licence", "terms")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph of plain text. An `entry` names a part; its licence and details follow."""

    kind: Kind
    text: str


def read_blocks(markdown: str) -> list[Block]:
    """Returns the headings, paragraphs and table rows of a page in their order."""
    found: list[Block] = []
    for part in re.split(r"\n\s*\n", _COMMENT.sub("", markdown)):
        lines = [line.strip() for line in part.strip().splitlines()]
        if not lines:
            continue
        if lines[0].startswith("#"):
            found.append(Block("heading", _plain(lines.pop(0).lstrip("# "))))
        if len(lines) > 2 and lines[0].startswith("|"):
            heads = _cells(lines[0])
            for line in lines[2:]:
                found += _entry(heads, _cells(line))
        elif lines:
            found.append(Block("paragraph", _plain(" ".join(lines))))
    return found


def _entry(heads: Sequence[str], cells: Sequence[str]) -> Iterator[Block]:
    told = dict(zip(heads, cells, strict=False))
    name, version = told.pop(heads[0]), told.pop("Version", "")
    yield Block("entry", f"{name} {version}".strip())
    licence = next((head for head in told if head.lower() in _LICENCE_HEADS), "")
    if licence:
        yield Block("licence", told.pop(licence))
    details = " · ".join(f"{head}: {cell}" for head, cell in told.items() if cell)
    if details:
        yield Block("details", details)


def _cells(line: str) -> list[str]:
    return [_plain(cell.strip()) for cell in line.strip("|").split("|")]


def _plain(text: str) -> str:
    return re.sub(r"[`*]", "", text)
