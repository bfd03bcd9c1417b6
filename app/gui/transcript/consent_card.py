"""The card above the message field that asks the user to allow tool calls."""

from __future__ import annotations

import json

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QColor, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QPlainTextEdit, QWidget

from app.conversation import events as e
from app.conversation.record.record import Change
from app.gui.design.look import draw_rounded, painter_on
from app.gui.design.plain import PlainLabel, named
from app.gui.design.theme import tokens
from app.gui.state.session_model import SessionModel
from app.gui.widgets.form import bold, column, push_button, row
from app.untrusted.json_text import read_json
from app.untrusted.limits import TOOL_ARGUMENTS
from app.untrusted.text import harmless, one_line

LINES_SEEN = 7
LONGEST_NAME = 80
INDENT = "\n    "
"""Of the further lines of a value, which might otherwise pass for another value."""


class ConsentCard(QWidget):
    """Shows what a model wants to call, with the complete arguments, while the calls wait for the user."""

    allowed = Signal(bool)
    """Emitted when the user allows the calls; True to always allow these tools."""
    denied = Signal()

    def __init__(self, model: SessionModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.heading = bold("", self)
        self.heading.setWordWrap(True)
        self.effect = PlainLabel("", self)
        self.effect.setWordWrap(True)
        self.arguments = named(QPlainTextEdit(self), self.tr("What the tool would be given"))
        self.arguments.setReadOnly(True)
        self.arguments.setTabChangesFocus(True)
        self.always = named(QCheckBox(self.tr("Al&ways allow this"), self), self.tr("Always allow this tool"))
        self.always.setToolTip(
            self.tr("You are asked all the same once the model has read a document, a file or what a tool returned.")
        )
        self.allow_button = push_button(self.tr("Allo&w"), self.tr("Allow the call"), self, self._allow)
        self.deny_button = push_button(self.tr("&Don't allow"), self.tr("Don't allow the call"), self, self.denied)
        buttons = row(self.always, None, self.deny_button, self.allow_button)
        column(self.heading, self.effect, self.arguments, buttons, within=self, margins=tokens().unit * 3)
        self.setAccessibleName(self.tr("Question for your consent"))
        self._turn = 0
        self.hide()
        model.follow(self._take)

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls, in the order of the tab key."""
        return self.arguments, self.always, self.deny_button, self.allow_button

    def _take(self, change: Change) -> None:
        match change.event:
            case e.ConsentAsked() if self._model.in_view:
                self._ask(change.event)
            case e.ConsentAnswered(turn=turn) if turn == self._turn:
                self.hide()
            case e.SessionStarted() | e.SessionEnded():
                self.hide()

    def _ask(self, event: e.ConsentAsked) -> None:
        self._turn = event.turn
        names = [self._name(tool) for tool in event.tools]
        self.heading.setText(self.tr("Shall this be done? {0}").format(", ".join(names)))
        effects = {
            "sends": self.tr("This may send what is shown here to somebody else."),
            "changes": self.tr("This may change something."),
        }
        self.effect.setText(" ".join(dict.fromkeys(effects.get(one, effects["changes"]) for one in event.effects)))
        texts = [_readable(arguments) for arguments in event.arguments]
        if len(names) > 1:
            texts = [f"{name}\n{text}" for name, text in zip(names, texts, strict=True)]
        self.arguments.setPlainText("\n\n".join(texts))
        self.always.setChecked(False)
        self._fit()
        self.show()
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def _name(self, tool: str) -> str:
        server, _, name = tool.partition("__")
        shown = self.tr("{0} ({1})").format(name, server) if name else tool
        return one_line(shown, LONGEST_NAME)

    def _allow(self) -> None:
        self.allowed.emit(self.always.isChecked())

    def _fit(self) -> None:
        lines = min(LINES_SEEN, self.arguments.document().blockCount() + 1)
        self.arguments.setFixedHeight(self.arguments.fontMetrics().lineSpacing() * lines + 14)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = tokens()
        with painter_on(self) as painter:
            fill, edge = QColor(shown.raised), QColor(shown.accent_text)
            draw_rounded(painter, self.rect(), shown.radius, inset=0.5, fill=fill, edge=edge)


def _readable(arguments: str) -> str:
    """Formats the JSON of a call, one value a line, with nothing left out. Text that is no JSON stays as it is."""
    try:
        values = read_json(arguments or "{}", TOOL_ARGUMENTS)
    except ValueError:
        return harmless(arguments)
    if not isinstance(values, dict):
        return harmless(arguments)
    lines = []
    for name, value in values.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"{one_line(name, len(name))}: {INDENT.join(harmless(text).splitlines())}")
    return "\n".join(lines)
