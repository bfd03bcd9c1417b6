"""Shows text as it is written: labels, tooltips, and names on buttons and in menus, in which Qt finds no markup.

Qt guesses from a text whether it is HTML, and loads the pictures that it names. So the rest of the window has no labels
and tooltips but those made here.
"""

from __future__ import annotations

from html import escape
from typing import Protocol

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF, QKeySequence
from PySide6.QtGui import Qt as Guesses
from PySide6.QtWidgets import QAbstractButton, QLabel, QToolTip, QWidget

from app.untrusted.text import one_line

LONGEST_LABEL = 20_000
LONGEST_TIP = 2_000
LONGEST_NAME = 300
"""The most characters of a name in a menu or on a button."""
LONGEST_LINE = 2_000
"""The most characters of a line that is cut to the room it has."""


class _HasTip(Protocol):
    def setToolTip(self, text: str, /) -> object: ...


class PlainLabel(QLabel):
    """A label of plain text."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        if text:
            self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(shortened(text, LONGEST_LABEL))


class LegendLabel(QLabel):
    """Names on one line, each behind a box in its colour."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.RichText)

    def show_names(self, names: list[tuple[str, str]]) -> None:
        """Shows names; each comes behind its colour, such as "#ff0000"."""
        self.setText("&nbsp;&nbsp; ".join(_legend(colour, name) for colour, name in names))


def tip(text: str, *, wrap: bool = False) -> str:
    """Returns what to give Qt as a tooltip, so that `text` is shown as it is; `wrap`: in lines of bounded width."""
    text = shortened(text, LONGEST_TIP)
    if not text:
        return ""
    if not wrap and not Guesses.mightBeRichText(text):
        return text
    return f"<qt>{escape(text)}</qt>".replace("\n", "<br>")


def set_tip(target: _HasTip, text: str, *, wrap: bool = False) -> None:
    """Gives a widget, an action or an item a tooltip of plain text."""
    target.setToolTip(tip(text, wrap=wrap))


def show_tip(at: QPoint, text: str, widget: QWidget, *, wrap: bool = False) -> None:
    """Shows a tooltip of plain text at a point of the screen; hides it where there is no text."""
    QToolTip.showText(at, tip(text, wrap=wrap), widget)


def verbatim(name: str) -> str:
    """Returns what to give Qt as the text of a button or an action: its ampersands are no mnemonics."""
    return one_line(name, LONGEST_NAME).replace("&", "&&")


def set_name(button: QAbstractButton, name: str) -> None:
    """Names a button that paints its own text, in which an ampersand is no mnemonic."""
    button.setText(one_line(name, LONGEST_NAME))
    button.setShortcut(QKeySequence())


def shortened(text: str, most: int) -> str:
    """Returns `text`, with “…” in place of what is beyond `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _legend(colour: str, name: str) -> str:
    return f'<span style="color:{colour}">■</span> {escape(one_line(name, LONGEST_NAME))}'


def elided(metrics: QFontMetrics | QFontMetricsF, text: str, mode: Qt.TextElideMode, room: float) -> str:
    """Returns as much of `text` as there is room for, in pixels; Qt alone would measure all of it first."""
    if len(text) > LONGEST_LINE:
        text = "…" + text[-LONGEST_LINE:] if mode == Qt.TextElideMode.ElideLeft else text[:LONGEST_LINE] + "…"
    if isinstance(metrics, QFontMetrics):
        return metrics.elidedText(text, mode, int(room))
    return metrics.elidedText(text, mode, room)
