"""What a card's body is made of: paragraphs of several looks, code, and tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from app.gui.cards.card import Run

ElementLook = Literal["text", "heading", "item", "code", "rule", "end"]
"""Of a paragraph. `end`: a thin one that follows code or a table at a body's end."""
Align = Literal["left", "center", "right"]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph. `level`: of a heading, or the depth of a list's item from 1. `last`: of a list. `quote`: the depth
    of the quote that it is in. `language`: of code. `source`: what is copied of code as a whole.
    """

    runs: tuple[Run, ...] = ()
    look: ElementLook = "text"
    level: int = 0
    quote: int = 0
    last: bool = False
    language: str = ""
    source: str = ""

    @property
    def blocks(self) -> int:
        """How many blocks of a document it takes."""
        return 1

    @property
    def text(self) -> str:
        """Its letters."""
        return "".join(text for text, _ in self.runs)

    @property
    def code(self) -> str:
        """The lines of code."""
        return "\n".join(self.source.split("\n")[1:-1])

    @property
    def looks(self) -> tuple[object, ...]:
        """What its format depends on."""
        return self.look, self.level, self.quote, self.last

    def followed_by(self, runs: tuple[Run, ...]) -> Paragraph:
        """The same with more runs at its end."""
        return replace(self, runs=self.runs + runs)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: rows of cells, the first of which are headings. `source`: what is copied of it as a whole."""

    rows: tuple[tuple[tuple[Run, ...], ...], ...]
    aligns: tuple[Align, ...]
    source: str = ""

    @property
    def blocks(self) -> int:
        """How many blocks of a document it takes: one for each cell, and an empty one before and after."""
        return len(self.rows) * len(self.aligns) + 2


Element = Paragraph | Table
