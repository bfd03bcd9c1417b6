"""Says in words what a request was, and gives the values that its columns are sorted by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from PySide6.QtCore import QObject

from app.gui.inspector.request_log import Request
from app.gui.widgets.formats import dollars, wait

Column = Literal["number", "turn", "model", "asked", "first", "words", "in", "out", "cost", "end"]
COLUMNS: tuple[Column, ...] = get_args(Column)
UNKNOWN = "–"


@dataclass(frozen=True, slots=True)
class Cell:
    """`text` is shown; `key` is sorted by."""

    text: str
    key: float | str


class RequestWords(QObject):
    """Makes the words in the user's language."""

    def title(self, column: Column) -> str:
        """The title of a column."""
        return {
            "number": self.tr("No."),
            "turn": self.tr("Turn"),
            "model": self.tr("Model"),
            "asked": self.tr("Asked"),
            "first": self.tr("First words"),
            "words": self.tr("Words"),
            "in": self.tr("Tokens in"),
            "out": self.tr("Tokens out"),
            "cost": self.tr("Cost"),
            "end": self.tr("End"),
        }[column]

    def help(self, column: Column) -> str:
        """Explains a column; empty where its title says all."""
        return {
            "asked": self.tr("The number of your words that the model was asked on."),
            "first": self.tr("From the request to the first words of the answer."),
            "words": self.tr("The number of words of the answer."),
            "in": self.tr("“≈” marks what was estimated here, and not counted by the server."),
        }.get(column, "")

    def cells(self, request: Request) -> tuple[Cell, ...]:
        """A request as a line of the table, in the order of `COLUMNS`."""
        first, counted = request.first_word_seconds, request.counted
        about = "" if counted is None or counted.counted else "≈ "
        cost = None if counted is None else counted.cost
        name = request.model or request.backend
        return (
            Cell(str(request.number), request.place),
            Cell(str(request.turn), request.place),
            Cell(name, name.lower()),
            Cell(str(request.asked_words), request.asked_words),
            Cell(UNKNOWN if first is None else wait(first), -1.0 if first is None else first),
            Cell(str(request.words), request.words),
            Cell(UNKNOWN, -1) if counted is None else Cell(f"{about}{counted.tokens_in:,}", counted.tokens_in),
            Cell(UNKNOWN, -1) if counted is None else Cell(f"{about}{counted.tokens_out:,}", counted.tokens_out),
            Cell(UNKNOWN, -1.0) if cost is None else Cell(dollars(cost), cost),
            Cell(self.end(request), self.end(request)),
        )

    def end(self, request: Request) -> str:
        """What became of a request."""
        status = request.status
        if status == "failed":
            return self.tr("failed")
        if request.spoken:
            return self.tr("partly spoken") if status in ("superseded", "stopped") else self.tr("spoken")
        return {
            "waiting": self.tr("waiting"),
            "streaming": self.tr("writing"),
            "complete": self.tr("compared") if request.secondary else self.tr("not spoken"),
            "superseded": self.tr("superseded"),
            "stopped": self.tr("stopped"),
        }[status]
