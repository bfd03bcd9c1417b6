"""Records what the front-end was told about the newest turn, for another one that may have to take over in it."""

from __future__ import annotations

from app.conversation.turn import FloorCommand, Interrupt, Silence, TakeFloor, Yield
from app.frontend.base import (
    FrontEndInput,
    OracleAsked,
    OracleCompleted,
    OracleDone,
    OracleWords,
    SetAnswerMode,
    SetDials,
    SetOpenings,
)

LASTING = (SetDials, SetAnswerMode, SetOpenings)
"""Inputs that hold from turn to turn until another of the kind comes."""


class TurnInputs:
    """The inputs that a front-end needs to go on where the lost one stopped."""

    def __init__(self) -> None:
        self._inputs: list[FrontEndInput] = []
        self._turn = 0

    def add(self, item: FrontEndInput) -> None:
        """Note an input, if it belongs to the newest turn or lasts."""
        if isinstance(item, OracleAsked | TakeFloor) and item.turn > self._turn:
            self._turn = item.turn
            self._inputs = [kept for kept in self._inputs if isinstance(kept, LASTING)]
        if isinstance(item, LASTING):
            self._inputs = [kept for kept in self._inputs if type(kept) is not type(item)]
        if isinstance(item, Interrupt | Yield | Silence):
            self._inputs = [kept for kept in self._inputs if not isinstance(kept, TakeFloor)]
        elif _belongs_to_turn(item) or isinstance(item, LASTING):
            self._inputs.append(item)

    def for_successor(self, waiting: list[FrontEndInput], arrived: list[FrontEndInput]) -> list[FrontEndInput]:
        """Return what a front-end that takes over now is told first.

        `waiting` was held back for the lost one, `arrived` came with this frame; what of both belongs to the turn is
        in the record already.
        """
        others = [item for item in waiting if not isinstance(item, FloorCommand)] + arrived
        return [*self._inputs, *(item for item in others if not _belongs_to_turn(item))]


def _belongs_to_turn(item: FrontEndInput) -> bool:
    return isinstance(item, OracleAsked | OracleWords | OracleCompleted | OracleDone | TakeFloor)
