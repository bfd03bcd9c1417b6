"""Labels, tooltips, and names for buttons and menus that Qt always treats as plain text.

By default, Qt guesses whether text is HTML, and if so, loads the images it references. The rest of the GUI therefore
uses only the labels and tooltips defined here.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Protocol, TypeVar

from PySide6.QtCore import QPoint, QRect, QRectF, Qt, SignalInstance
from PySide6.QtGui import QColor, QFont, QFontMetrics, QFontMetricsF, QKeySequence, QPainter
from PySide6.QtGui import Qt as Guesses
from PySide6.QtWidgets import QAbstractButton, QLabel, QToolTip, QWidget

from app.gui.design.sentences import in_window_language
from app.untrusted.text import one_line

LONGEST_LABEL = 20_000
LONGEST_TIP = 2_000
LONGEST_NAME = 300
"""The maximum number of characters of a name in a menu or on a button."""
LONGEST_LINE = 2_000
"""The maximum number of characters passed to Qt for eliding."""


_Widget = TypeVar("_Widget", bound=QWidget)
OnClick = Callable[..., object] | SignalInstance
"""What a click on a button calls or emits."""


class _HasTip(Protocol):
    def setToolTip(self, text: str, /) -> object: ...


class PlainLabel(QLabel):
    """A plain-text label."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        if text:
            self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(shortened(text, LONGEST_LABEL))

    def say(self, sentence: str) -> None:
        """Shows a message in the window's language, or hides the label if `sentence` is empty."""
        self.setText(in_window_language(sentence))
        self.setVisible(bool(sentence))


class LegendLabel(QLabel):
    """A legend: names on a single line, each preceded by a square in its colour."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.RichText)

    def show_names(self, names: list[tuple[str, str]]) -> None:
        """Shows (colour, name) pairs, with colours such as "#ff0000"."""
        self.setText("&nbsp;&nbsp; ".join(_legend(colour, name) for colour, name in names))


def tip(text: str, *, wrap: bool = False) -> str:
    """Returns a tooltip string that Qt displays as the literal `text`. `wrap` enables word wrap."""
    text = shortened(text, LONGEST_TIP)
    if not text:
        return ""
    if not wrap and not Guesses.mightBeRichText(text):
        return text
    return f"<qt>{escape(text)}</qt>".replace("\n", "<br>")


def set_tip(target: _HasTip, text: str, *, wrap: bool = False) -> None:
    """Sets a plain-text tooltip on a widget, action or item."""
    target.setToolTip(tip(text, wrap=wrap))


def show_tip(at: QPoint, text: str, widget: QWidget, *, wrap: bool = False) -> None:
    """Shows a plain-text tooltip at a screen position; hides it if `text` is empty."""
    QToolTip.showText(at, tip(text, wrap=wrap), widget)


def verbatim(name: str) -> str:
    """Escapes `name` for the text of a button or action, so that Qt doesn't turn ampersands into mnemonics."""
    return one_line(name, LONGEST_NAME).replace("&", "&&")


def set_name(button: QAbstractButton, name: str) -> None:
    """Sets the text of a button that does its own painting, without turning ampersands into mnemonics."""
    button.setText(one_line(name, LONGEST_NAME))
    button.setShortcut(QKeySequence())


def named(widget: _Widget, name: str) -> _Widget:
    """Gives a widget an accessible name, and returns it."""
    widget.setAccessibleName(name)
    return widget


def connect_click(button: QAbstractButton, does: OnClick | None) -> None:
    """Connects a button to what a click on it calls or emits, if anything."""
    if does is not None:
        button.clicked.connect(does)


def shortened(text: str, most: int) -> str:
    """Truncates `text` to at most `most` characters. A truncated text ends in "…"."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _legend(colour: str, name: str) -> str:
    return f'<span style="color:{colour}">■</span> {escape(one_line(name, LONGEST_NAME))}'


def elided(metrics: QFontMetrics | QFontMetricsF, text: str, mode: Qt.TextElideMode, room: float) -> str:
    """Returns `text` elided to `room` pixels. A very long text is truncated first, since Qt would measure all of it."""
    if len(text) > LONGEST_LINE:
        text = "…" + text[-LONGEST_LINE:] if mode == Qt.TextElideMode.ElideLeft else text[:LONGEST_LINE] + "…"
    if isinstance(metrics, QFontMetrics):
        return metrics.elidedText(text, mode, int(room))
    return metrics.elidedText(text, mode, room)


def draw_words(
    painter: QPainter,
    room: QRect | QRectF,
    text: str,
    colour: QColor,
    font: QFont | None = None,
    flags: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignVCenter,
) -> None:
    """Draws a line of text, elided to `room`. `font`: by default that of the painter."""
    if font is not None:
        painter.setFont(font)
    painter.setPen(colour)
    words = elided(painter.fontMetrics(), text, Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(QRectF(room), flags | Qt.TextFlag.TextSingleLine, words)
