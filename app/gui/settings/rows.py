"""The building blocks of a settings page: rows for settings, rows with links, and the cards that contain them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGridLayout, QToolButton, QWidget

from app.gui.design.fonts import set_size
from app.gui.design.icons import icon
from app.gui.design.look import Dressed, painter_on, set_ink
from app.gui.design.plain import named, set_tip
from app.gui.design.theme import tokens
from app.gui.settings.choice_editors import EDITORS, Choice
from app.gui.settings.text_editors import Lines
from app.gui.widgets.form import column, grid, label_of, push_button, wrapped
from app.gui.widgets.panel import Quiet, Trouble
from app.gui.widgets.translation import said
from app.settings.declarations import Settings, declarations, page_of
from app.settings.setting import Setting, tr

SIDES_PX, ENDS_PX, HEAD_PX = 16, 12, 8
ICON_PX = 16


def _row_grid(row: QWidget) -> QGridLayout:
    return grid(8, 4, stretch=0, within=row, margins=(SIDES_PX, ENDS_PX, SIDES_PX, ENDS_PX))


class SettingRow(Dressed, QWidget):
    """One setting with its label, editor and explanation. `changed` emits the new value once it is committed."""

    dressed_by = (QEvent.Type.FontChange, QEvent.Type.StyleChange, *Quiet.dressed_by)

    changed = Signal(object)

    def __init__(self, declared: Setting, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.declared = declared
        self.editor = EDITORS[declared.kind](declared, self)
        label = said(declared.label)
        self.label = label_of(self.editor, label, self)
        self.label.setWordWrap(True)
        effects = {
            "now": "",
            "restart": self.tr("Restarts a running conversation."),
            "talk": self.tr("Takes effect with the next conversation."),
            "start": self.tr("Takes effect at the next start of KAME."),
        }
        self.words = Quiet(" ".join(filter(None, (said(declared.help), effects[declared.effect]))), self)
        self.note = Quiet(parent=self)
        """A hint about the setting."""
        self.note.hide()
        self.refusal = named(Trouble(parent=self), self.tr("Why the input is invalid: {0}").format(label))
        self.reset = named(QToolButton(self), self.tr("Reset: {0}").format(label))
        self.reset.setProperty("flat", True)
        self.reset.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        policy = self.reset.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(policy)
        self.editor.describe(self.words.text())
        section = Settings.pages[page_of(declared.section)].sections[declared.section]
        self._texts = [declared.name, label, said(section), self.words.text(), *declared.choices]
        self._texts.append(said(declared.other_words))
        self._texts += map(said, declared.words.values())
        self._grid = _row_grid(self)
        self._stacked: bool | None = None
        self.stack(False)
        self._dress()
        self.refusal.hide()
        self.editor.submitted.connect(self._on_submitted)
        self.editor.rejected.connect(self.refusal.say)
        self.reset.clicked.connect(self._reset)
        self._show_reset()

    @property
    def value(self) -> Any:
        return self.editor.value

    @property
    def is_default(self) -> bool:
        return self.editor.value == self.declared.default

    def keep(self, value: Any) -> None:
        self.editor.keep(value)
        self._show_reset()

    def set_value(self, value: Any) -> None:
        """Changes the value as if the user had entered it, discarding uncommitted input."""
        self.editor.revert()
        changes = value != self.editor.value
        self.keep(value)
        self.refusal.say("")
        if changes:
            self.changed.emit(value)

    def holds(self, words: list[str]) -> bool:
        """Returns whether each of `words` (case-folded) occurs in what is known of the setting."""
        texts = self._texts + (self.editor.texts if isinstance(self.editor, Choice) else [])
        text = "\n".join(texts).casefold()
        return all(word in text for word in words)

    def stack(self, stacked: bool) -> None:
        """Places the editor below the explanation if `stacked` or if it is wide, otherwise next to the label."""
        if stacked == self._stacked:
            return
        self._stacked = stacked
        below = stacked or self.editor.wide
        layout = self._grid
        for widget in (self.label, self.reset, self.editor, self.words, self.note, self.refusal):
            layout.removeWidget(widget)
        layout.addWidget(self.label, 0, 0)
        layout.addWidget(self.reset, 0, 1)
        if below:
            layout.addWidget(self.words, 1, 0, 1, 3)
            if self.editor.wide:
                layout.addWidget(self.editor, 2, 0, 1, 3)
            else:
                layout.addWidget(self.editor, 2, 0, 1, 3, Qt.AlignmentFlag.AlignLeft)
        else:
            layout.addWidget(self.editor, 0, 2)
            layout.addWidget(self.words, 1, 0, 1, 3)
        layout.addWidget(self.note, 3, 0, 1, 3)
        layout.addWidget(self.refusal, 4, 0, 1, 3)

    def _on_submitted(self, value: Any) -> None:
        self._show_reset()
        self.changed.emit(value)

    def _reset(self) -> None:
        self.editor.setFocus()  # the reset button would lose focus when it is hidden
        self.set_value(self.declared.default)

    def _show_reset(self) -> None:
        self.reset.setVisible(not self.is_default)
        default = self.editor.in_words(self.declared.default)
        set_tip(self.reset, self.tr("Back to the default: {0}").format(default))

    def _dress(self) -> None:
        """Applies sizes and colours from the theme."""
        if isinstance(self.editor, Lines):
            self.editor.text.setFixedHeight(self.fontMetrics().lineSpacing() * self.editor.rows + 14)
        set_size(self.label, "small", QFont.Weight.Medium)
        for small in (self.words, self.note, self.refusal):
            set_size(small, "caption")
        self.reset.setIcon(icon("rotate-ccw", QColor(tokens().dim), size=ICON_PX))
        self.reset.setIconSize(QSize(ICON_PX, ICON_PX))


@dataclass(frozen=True, slots=True)
class Link:
    """A link to the setting or the dialog `target`, given by its key or name. `section` is the section that contains
    the link. Without a `help` text, a setting's value is shown instead.
    """

    section: str
    target: str
    label: str
    help: str = ""


LINKS = (
    Link("essentials", "microphone", tr("Microphone")),
    Link("essentials", "voice", tr("Voice that answers")),
    Link("essentials", "backends", tr("Model and its key"), tr("Choose the model that answers, and enter its key.")),
    Link("speech", "models", tr("More voices"), tr("Hear voices, and download others.")),
    Link("recognition", "models", tr("More recognisers"), tr("Download others, and see how fast they are here.")),
    Link("recognition", "language", tr("Spoken language")),
    Link(
        "backend",
        "backends",
        tr("Servers and API keys"),
        tr("OpenAI, Anthropic, Google, Ollama and other servers: addresses, models and keys."),
    ),
    Link("backend", "models", tr("Models on this computer"), tr("Download models, and see how fast they are here.")),
    Link(
        "answers", "style", tr("Only for this conversation"), tr("Change persona, voice, length, tools and limit here.")
    ),
    Link("answers", "prices", tr("Prices"), tr("What models cost; the spending limit is counted by them.")),
    Link("tools", "servers", tr("Tool servers"), tr("Add MCP servers, whose tools a model may use.")),
    Link("devices", "sound", tr("Try them out"), tr("Say something, hear it again, and see what is measured.")),
    Link("devices", "speech_volume", tr("Volume of the voice")),
    Link("history", "backends", tr("Where your words go"), tr("A model elsewhere gets the words of a conversation.")),
    Link("frontend", "machine", tr("Check this machine"), tr("See what fits it, and set up its graphics card.")),
    Link("downloads", "log", tr("Log"), tr("The application log, for troubleshooting.")),
)


class LinkRow(Dressed, QWidget):
    """A row with a link. `wanted` emits the link's target when it is clicked."""

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
        self.button = push_button(text, self.tr("{0}: open").format(name), self, lambda: self.wanted.emit(link.target))
        self.button.setAccessibleDescription(self.words.text())
        if self.to_setting:
            page = page_of(shown[link.target].section)
            set_tip(self.button, self.tr("On the page “{0}”").format(said(Settings.pages[page].label)))
        layout = _row_grid(self)
        layout.addWidget(self.label, 0, 0)
        layout.addWidget(self.words, 1, 0)
        layout.addWidget(self.button, 0, 1, 2, 1)
        self._dress()

    def show_value(self, words: str) -> None:
        """Shows the value of the linked setting, unless the link has its own help text."""
        if not self.link.help:
            self.words.say(words)
            self.button.setAccessibleDescription(words)

    def holds(self, words: list[str]) -> bool:
        """Returns whether each of `words` (case-folded) occurs in the link's label or help text."""
        text = f"{self.label.text()}\n{said(self.link.help)}".casefold()
        return all(word in text for word in words)

    def _dress(self) -> None:
        set_size(self.label, "small", QFont.Weight.Medium)
        set_size(self.words, "caption")


class _Card(QWidget):
    """Contains rows, and paints their background and a separator above each visible row except the first."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.column = column(within=self, spacing=0)
        self.rows: list[QWidget] = []

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        with painter_on(self) as painter:
            outlined = t.scheme == "contrast"
            set_ink(painter, fill=QColor(t.surface), edge=QPen(QColor(t.line), 1) if outlined else None)
            edge = 0.5 if outlined else 0.0
            painter.drawRoundedRect(
                QRectF(self.rect()).adjusted(edge, edge, -edge, -edge), t.card_radius, t.card_radius
            )
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setPen(QPen(QColor(t.line), 1))
            for row in [row for row in self.rows if row.isVisible()][1:]:
                painter.drawLine(QPointF(SIDES_PX, row.y()), QPointF(self.width() - SIDES_PX, row.y()))


class Section(Dressed, QWidget):
    """A titled card of rows, hidden if none of its rows is shown."""

    def __init__(self, title: str, page: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._title, self._page = title, page
        self.heading = Quiet(title, self)
        self._card = _Card(self)
        column(self.heading, self._card, within=self, spacing=HEAD_PX)
        self._dress()

    def add(self, row: QWidget) -> None:
        """Appends a row."""
        row.setParent(self._card)
        self._card.rows.append(row)
        self._card.column.addWidget(row)

    def settle(self, *, with_page: bool) -> bool:
        """Shows the section if any of its rows is shown, otherwise hides it. Returns whether it is shown.

        `with_page`: whether the heading includes the page name.
        """
        shown = any(not row.isHidden() for row in self._card.rows)
        self.heading.setText(f"{self._page} › {self._title}" if with_page else self._title)
        self.setVisible(shown)
        self._card.update()
        return shown

    def _dress(self) -> None:
        set_size(self.heading, "small", QFont.Weight.DemiBold)
