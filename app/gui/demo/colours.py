"""The demo's colours, from the design tokens of the theme that is shown."""

from __future__ import annotations

from PySide6.QtGui import QColor

from app.demo.base import Side
from app.gui.design.theme import tokens


def ink(name: str) -> QColor:
    """The colour of a design token."""
    return QColor(getattr(tokens(), name))


def side_ink(side: Side) -> QColor:
    """The colour of a side: of its name, its voice and its stopped stopwatch."""
    return ink("warn" if side == "cascade" else "good")


def faded(colour: QColor, share: float) -> QColor:
    """`colour` with an opacity of `share`, 0 to 1."""
    copy = QColor(colour)
    copy.setAlphaF(max(0.0, min(1.0, share)))
    return copy
