"""Rows that lead from a page of the settings to where something is configured: another page, or another dialog."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QGridLayout, QWidget

from app.gui.design.fonts import set_size
from app.gui.design.plain import set_tip
from app.gui.settings.row import ENDS_PX, SIDES_PX
from app.gui.widgets.form import push_button, wrapped
from app.gui.widgets.panel import Quiet
from app.gui.widgets.translation import said
from app.settings.declarations import Settings, declarations, page_of
from app.settings.setting import tr


@dataclass(frozen=True, slots=True)
class Link:
    """`target`: a setting's key, whose value is shown, or the name of a dialog that the window opens."""

    section: str
    target: str
    label: str
    help: str = ""


LINKS = (
    Link("essentials", "microphone", tr("Microphone")),
    Link("essentials", "voice", tr("Voice that answers")),
    Link("essentials", "provider", tr("Model and its key")),
    Link("speech", "models", tr("More voices"), tr("Hear voices, and download others.")),
    Link("recognition", "models", tr("More recognisers"), tr("Download others, and see how fast they are here.")),
    Link("recognition", "language", tr("Language of conversations")),
    Link("backend", "models", tr("Built-in models"), tr("Download language models that run on this machine.")),
    Link("backend", "routes", tr("Table of the router"), tr("Choose which model answers which kind of question.")),
    Link(
        "answers", "style", tr("Only for this conversation"), tr("Change persona, voice, length, tools and cap here.")
    ),
    Link("answers", "prices", tr("Prices"), tr("What models cost, by which the cap is reckoned.")),
    Link("tools", "servers", tr("Tool servers"), tr("Add MCP servers, whose tools a model may use.")),
    Link("devices", "sound", tr("Try them out"), tr("Say something, hear it again, and see what is measured.")),
    Link("devices", "speech_volume", tr("Volume of the voice")),
    Link("history", "provider", tr("Where your words go"), tr("A model elsewhere gets the words of a conversation.")),
    Link("history", "openai_model", tr("API keys"), tr("Where they are kept, and how to forget them.")),
    Link("frontend", "set_up", tr("Set up KAME again"), tr("Look at this machine, and choose front-end and model.")),
    Link("downloads", "log", tr("Log"), tr("What the program has noted, for when something goes wrong.")),
)


class LinkRow(QWidget):
    """Emits the link's target by `wanted`."""

    wanted = Signal(str)

    def __init__(self, link: Link, parent: QWidget) -> None:
        super().__init__(parent)
        self.link = link
        shown = {one.name: one for one in declarations() if one.place == "dialog"}
        self.to_setting = link.target in shown
        name = said(link.label)
        self.label = wrapped(self, text=name)
        self.words = Quiet(said(link.help), self)
        if not link.help:
            self.words.hide()
        text = self.tr("Change…") if self.to_setting else self.tr("Open…")
        self.button = push_button(text, self.tr("{0}: open").format(name), self)
        self.button.setAccessibleDescription(self.words.text())
        self.button.clicked.connect(lambda: self.wanted.emit(link.target))
        if self.to_setting:
            page = page_of(shown[link.target].section)
            set_tip(self.button, self.tr("On the page “{0}”").format(said(Settings.pages[page].label)))
        grid = QGridLayout(self)
        grid.setContentsMargins(SIDES_PX, ENDS_PX, SIDES_PX, ENDS_PX)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(0, 1)
        grid.addWidget(self.label, 0, 0)
        grid.addWidget(self.words, 1, 0)
        grid.addWidget(self.button, 0, 1, 2, 1)
        self._dress()

    def show_value(self, words: str) -> None:
        """Shows the value of the setting that it leads to, unless the row has an explanation of its own."""
        if not self.link.help:
            self.words.setText(words)
            self.words.show()
            self.button.setAccessibleDescription(words)

    def holds(self, words: list[str]) -> bool:
        """Whether each of `words`, in lower case, occurs in its name or explanation."""
        text = f"{self.label.text()}\n{said(self.link.help)}".casefold()
        return all(word in text for word in words)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._dress()

    def _dress(self) -> None:
        set_size(self.label, "small", QFont.Weight.Medium)
        set_size(self.words, "caption")
