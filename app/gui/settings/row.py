"""One setting in the dialog: its name, editor, explanation, and the button that resets it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QGridLayout, QToolButton, QWidget

from app.gui.design.look import Look
from app.gui.settings.choice_editors import EDITORS, Choice, Switch
from app.gui.settings.text_editors import Lines
from app.gui.widgets.form import label_of, wrapped
from app.gui.widgets.panel import Quiet
from app.gui.widgets.translation import said
from app.settings.declarations import Settings
from app.settings.setting import Setting


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
        self.label.setVisible(not isinstance(self.editor, Switch))
        effects = {
            "now": "",
            "restart": self.tr("Restarts a running conversation."),
            "talk": self.tr("Takes effect with the next conversation."),
            "start": self.tr("Takes effect at the next start of KAME."),
        }
        self.words = Quiet(" ".join(filter(None, (said(declared.help), effects[declared.effect]))), self)
        self.refusal = wrapped(self, self.tr("Why the input is invalid: {0}").format(label))
        self.reset = QToolButton(self)
        self.reset.setText(self.tr("Reset"))
        self.reset.setAutoRaise(True)
        self.reset.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.reset.setAccessibleName(self.tr("Reset: {0}").format(label))
        policy = self.reset.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(policy)
        control: QWidget = self.editor
        while (inner := control.focusProxy()) is not None:
            control = inner
        control.setAccessibleDescription(self.words.text())
        self._lay_out()
        self._fit()
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
        """Whether each of `words`, in lower case, occurs in its name, key, group, explanation or choices."""
        declared = self.declared
        texts = [declared.name, said(declared.label), said(Settings.groups[declared.group]), self.words.text()]
        texts += declared.choices
        if isinstance(self.editor, Choice):
            texts += self.editor.texts
        text = "\n".join(texts).casefold()
        return all(word in text for word in words)

    def show_error(self, sentence: str) -> None:
        """Shows why the input is invalid; nothing if empty."""
        self.refusal.setText(sentence)
        self.refusal.setVisible(bool(sentence))

    def _on_submitted(self, value: Any) -> None:
        self._show_reset()
        self.changed.emit(value)

    def _reset(self) -> None:
        self.editor.setFocus()  # the button is hidden, and would lose the focus
        self.set_value(self.declared.default)

    def _show_reset(self) -> None:
        self.reset.setVisible(not self.is_default)
        default = self.editor.in_words(self.declared.default)
        self.reset.setToolTip(self.tr("Back to the default: {0}").format(default))

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(0, 1)
        wide, switch = self.editor.wide, isinstance(self.editor, Switch)
        grid.addWidget(self.editor if switch else self.label, 0, 0)
        grid.addWidget(self.reset, 0, 2 if wide or switch else 1)
        if wide:
            grid.addWidget(self.editor, 1, 0, 1, 3)
        elif not switch:
            grid.addWidget(self.editor, 0, 2)
        grid.addWidget(self.refusal, 2, 0, 1, 3)
        grid.addWidget(self.words, 3, 0, 1, 3)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()
        if event.type() in (QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange):
            self._tint()

    def _fit(self) -> None:
        if isinstance(self.editor, Lines):
            self.editor.text.setFixedHeight(self.fontMetrics().lineSpacing() * self.editor.rows + 14)
        self._tint()

    def _tint(self) -> None:
        palette = QPalette()
        palette.setColor(QPalette.ColorRole.WindowText, Look.of(QApplication.palette()).bad)
        self.refusal.setPalette(palette)
