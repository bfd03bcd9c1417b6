"""The transcript's header: the conversation's title and settings, and the button to change them."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.design.fonts import embolden
from app.gui.design.icons import IconButton
from app.gui.design.look import Dressed
from app.gui.design.plain import named, set_tip
from app.gui.state.choice import SERVER_PREFIX
from app.gui.state.session_model import SessionModel
from app.gui.widgets.form import row
from app.gui.widgets.panel import ElidedLabel
from app.history.base import LONGEST_TITLE
from app.session.control import SessionChoice
from app.untrusted.text import one_line


class TranscriptHeader(Dressed, QWidget):
    """Shows the conversation's title, and its settings that differ from the defaults."""

    style_wanted = Signal()

    def __init__(self, model: SessionModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = ElidedLabel(parent=self)
        embolden(self.heading)
        self.words = named(ElidedLabel(parent=self, dim=True), self.tr("Settings of the conversation"))
        self.button = IconButton("sliders-horizontal", self.tr("Style and tools of the conversation"), self)
        row((self.heading, 30), 8, (self.words, 20), None, self.button, within=self)
        self.button.clicked.connect(self.style_wanted)
        model.published.connect(lambda _, state: self._show_choice(state.wanted))
        self.show_title("")
        self._show_choice(model.state.wanted)

    def show_title(self, title: str) -> None:
        """Shows the conversation's title; empty if it has none yet."""
        title = one_line(title, LONGEST_TITLE)
        self.heading.setText(title or self.tr("Conversation"))
        set_tip(self.heading, title)
        self._dress()

    def _show_choice(self, wanted: SessionChoice) -> None:
        """Shows how the conversation is held."""
        style, tools, cap = wanted.style, wanted.tools, wanted.cap
        parts = []
        if style.persona:
            parts.append(self.tr("own persona"))
        if style.voice:
            parts.append(self.tr("own voice"))
        if style.length != "medium":
            parts.append(self.tr("short answers") if style.length == "short" else self.tr("long answers"))
        if style.temperature is not None:
            parts.append(self.tr("temperature {0}").format(f"{style.temperature:.2g}"))
        parts += [name.removeprefix(SERVER_PREFIX) for name in tools.names]
        if cap > 0:
            parts.append(self.tr("at most {0}").format(f"${cap:.2f}"))
        self.words.say(" · ".join(parts))
        help = self.tr("The persona, the length of answers, the tools, and the cost limit.")
        set_tip(self.button, "\n".join((help, *parts)))
        set_tip(self.words, "\n".join((*parts, style.persona)).strip())

    def _dress(self) -> None:
        """Limits the title to its natural width, leaving the remaining space for the settings."""
        self.heading.setMaximumWidth(self.heading.sizeHint().width())
