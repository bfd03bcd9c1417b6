"""One setting in the dialog: its name and explanation, its editor, and the button that resets it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QGridLayout, QToolButton, QWidget

from app.gui.design.fonts import set_size
from app.gui.design.icons import icon
from app.gui.design.plain import set_tip
from app.gui.design.theme import tokens
from app.gui.settings.choice_editors import EDITORS, Choice
from app.gui.settings.text_editors import Lines
from app.gui.widgets.form import label_of
from app.gui.widgets.panel import Quiet, Trouble
from app.gui.widgets.translation import said
from app.settings.declarations import Settings, page_of
from app.settings.setting import Setting

SIDES_PX, ENDS_PX = 16, 12
ICON_PX = 16


class SettingRow(QWidget):
    """`changed` emits the new value, once the input is complete."""

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
        self.note.hide()
        self.refusal = Trouble(parent=self)
        self.refusal.setAccessibleName(self.tr("Why the input is invalid: {0}").format(label))
        self.reset = QToolButton(self)
        self.reset.setProperty("flat", True)
        self.reset.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.reset.setAccessibleName(self.tr("Reset: {0}").format(label))
        policy = self.reset.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(policy)
        self.editor.describe(self.words.text())
        section = Settings.pages[page_of(declared.section)].sections[declared.section]
        self._texts = [declared.name, label, said(section), self.words.text(), *declared.choices]
        self._texts += map(said, declared.words.values())
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(SIDES_PX, ENDS_PX, SIDES_PX, ENDS_PX)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(0, 1)
        self._stacked: bool | None = None
        self.stack(False)
        self._dress()
        self.show_error("")
        self.editor.submitted.connect(self._on_submitted)
        self.editor.rejected.connect(self.show_error)
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
        """Changes the value as the user would; drops any input."""
        self.editor.revert()
        changes = value != self.editor.value
        self.keep(value)
        self.show_error("")
        if changes:
            self.changed.emit(value)

    def holds(self, words: list[str]) -> bool:
        """Whether each of `words`, in lower case, occurs in its name, key, place, explanation or choices."""
        texts = self._texts + (self.editor.texts if isinstance(self.editor, Choice) else [])
        text = "\n".join(texts).casefold()
        return all(word in text for word in words)

    def show_error(self, sentence: str) -> None:
        """Shows why the input is invalid, or did not come about; nothing if empty."""
        self.refusal.setText(sentence)
        self.refusal.setVisible(bool(sentence))

    def show_note(self, sentence: str) -> None:
        """Shows what there is to say about the setting at present; nothing if empty."""
        self.note.setText(sentence)
        self.note.setVisible(bool(sentence))

    def set_usable(self, usable: bool) -> None:
        """Whether the setting can be changed here; if not, a note should say why."""
        self.editor.setEnabled(usable)

    def stack(self, stacked: bool) -> None:
        """Places the editor below the words, where there is no room beside the label."""
        if stacked == self._stacked:
            return
        self._stacked = stacked
        below = stacked or self.editor.wide
        grid = self._grid
        for widget in (self.label, self.reset, self.editor, self.words, self.note, self.refusal):
            grid.removeWidget(widget)
        grid.addWidget(self.label, 0, 0)
        grid.addWidget(self.reset, 0, 1)
        if below:
            grid.addWidget(self.words, 1, 0, 1, 3)
            if self.editor.wide:
                grid.addWidget(self.editor, 2, 0, 1, 3)
            else:
                grid.addWidget(self.editor, 2, 0, 1, 3, Qt.AlignmentFlag.AlignLeft)
        else:
            grid.addWidget(self.editor, 0, 2)
            grid.addWidget(self.words, 1, 0, 1, 3)
        grid.addWidget(self.note, 3, 0, 1, 3)
        grid.addWidget(self.refusal, 4, 0, 1, 3)

    def _on_submitted(self, value: Any) -> None:
        self._show_reset()
        self.changed.emit(value)

    def _reset(self) -> None:
        self.editor.setFocus()  # the button is hidden, and would lose the focus
        self.set_value(self.declared.default)

    def _show_reset(self) -> None:
        self.reset.setVisible(not self.is_default)
        default = self.editor.in_words(self.declared.default)
        set_tip(self.reset, self.tr("Back to the default: {0}").format(default))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        kinds = QEvent.Type
        if event.type() in (kinds.FontChange, kinds.ApplicationPaletteChange, kinds.PaletteChange, kinds.StyleChange):
            self._dress()

    def _dress(self) -> None:
        """Takes sizes and colours from the theme."""
        if isinstance(self.editor, Lines):
            self.editor.text.setFixedHeight(self.fontMetrics().lineSpacing() * self.editor.rows + 14)
        set_size(self.label, "small", QFont.Weight.Medium)
        for small in (self.words, self.note, self.refusal):
            set_size(small, "caption")
        self.reset.setIcon(icon("rotate-ccw", QColor(tokens().dim), size=ICON_PX))
        self.reset.setIconSize(QSize(ICON_PX, ICON_PX))
