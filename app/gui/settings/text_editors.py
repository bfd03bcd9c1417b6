"""The base class of all setting editors, and the editors for text, folders and hotkeys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from app.gui.hotkeys.hotkey import hotkey_fault
from app.gui.widgets.file_dialogs import ask_folder
from app.gui.widgets.form import column, push_button, row
from app.gui.widgets.key_field import KeyField
from app.gui.widgets.translation import said
from app.settings.setting import Setting


class Editor(QWidget):
    """Base class of the setting editors. `submitted` emits each new `value` that the user commits."""

    submitted = Signal(object)
    rejected = Signal(str)
    """Emits a message explaining why the input is invalid, or an empty one once it is valid."""
    wide = False
    """Whether the editor takes up a whole line below the label."""
    letters = 36, 14
    """Preferred and minimum width next to the label, in average character widths. 0 stands for Qt's size hint."""

    def __init__(self, declared: Setting, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.declared = declared
        self.value: Any = declared.default
        if not self.wide:
            self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return self._in_letters(super().sizeHint(), self.letters[0])

    def minimumSizeHint(self) -> QSize:
        return self._in_letters(super().minimumSizeHint(), self.letters[1])

    def keep(self, value: Any) -> None:
        """Sets the value without discarding any uncommitted input."""
        being_typed = self.dirty
        self.value = value
        if not being_typed:
            self.revert()

    @property
    def dirty(self) -> bool:
        """Whether there is uncommitted input."""
        return False

    def commit(self) -> None:
        """Submits the input as the new value."""

    def revert(self) -> None:
        """Shows the current value, discarding any input."""

    def describe(self, words: str) -> None:
        """Sets the control's accessible description."""
        control: QWidget = self
        while (inner := control.focusProxy()) is not None:
            control = inner
        control.setAccessibleDescription(words)

    def in_words(self, value: Any) -> str:
        return str(value) or self.tr("empty")

    def _in_letters(self, size: QSize, letters: int) -> QSize:
        if letters and not self.wide:
            size.setWidth(self.fontMetrics().averageCharWidth() * letters)
        return size

    def _set_control(self, control: QWidget, *more: QWidget) -> None:
        """Lays out `control`, which receives the focus and the accessible name, with `more` to its right."""
        control.setAccessibleName(said(self.declared.label))
        self.setFocusProxy(control)
        row(control, *more, within=self, stretch=0)

    def _submit(self, value: Any) -> None:
        if value != self.value:
            self.value = value
            self.submitted.emit(value)


class Line(Editor):
    """A line of text, committed on Enter or when it loses focus."""

    def __init__(self, declared: Setting, parent: QWidget | None = None) -> None:
        super().__init__(declared, parent)
        self.line = QLineEdit(self)
        self.line.editingFinished.connect(self.commit)
        self._shape()
        self.revert()

    @property
    def dirty(self) -> bool:
        return self.line.text() != self.value

    def commit(self) -> None:
        """Commits the text, stripped of surrounding whitespace."""
        text = self.line.text().strip()
        if text != self.line.text():
            self.line.setText(text)
        self._submit(text)

    def revert(self) -> None:
        self.line.setText(self.value)
        self.line.setCursorPosition(0)

    def _shape(self) -> None:
        self._set_control(self.line)


class Folder(Line):
    """A folder, typed or selected in a dialog."""

    wide = True

    def _shape(self) -> None:
        self.chooser = _chooser(self.tr("Choose…"), self.tr("Choose a folder: {0}"), self)
        self._set_control(self.line, self.chooser)
        self.chooser.clicked.connect(lambda: _choose_folder(self, self.value, self._take_folder))

    def _take_folder(self, folder: str) -> None:
        self.line.setText(folder)
        self.commit()


class _Text(QPlainTextEdit):
    left = Signal()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Emits `left` to commit the text, unless focus moved to a pop-up menu."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Emits `left` on Ctrl+Enter to commit the text, since Enter alone inserts a line break."""
        done = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if done and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class Lines(Editor):
    """A multi-line text field, which commits on Ctrl+Enter or when it loses focus."""

    wide = True
    rows = 4

    def __init__(self, declared: Setting, parent: QWidget | None = None) -> None:
        super().__init__(declared, parent)
        self.text = _Text(self)
        self.text.setTabChangesFocus(True)
        self.text.left.connect(self.commit)
        self._shape()
        self.revert()

    @property
    def dirty(self) -> bool:
        return self.text.toPlainText() != self.value

    def commit(self) -> None:
        self._submit(self.text.toPlainText())

    def revert(self) -> None:
        if self.text.toPlainText() != self.value:
            self.text.setPlainText(self.value)

    def in_words(self, value: Any) -> str:
        return super().in_words(" · ".join(value.splitlines()))

    def _shape(self) -> None:
        self._set_control(self.text)


class Folders(Lines):
    """Folders, one per line, typed or selected in a dialog."""

    def _shape(self) -> None:
        self.chooser = _chooser(self.tr("Add…"), self.tr("Add a folder: {0}"), self)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        side = QWidget(self)
        column(self.chooser, None, within=side)
        self._set_control(self.text, side)
        self.chooser.clicked.connect(lambda: _choose_folder(self, "", self._add))

    def _add(self, folder: str) -> None:
        lines = [line for line in self.text.toPlainText().splitlines() if line.strip()]
        self.text.setPlainText("\n".join([*lines, *([folder] if folder not in lines else [])]))
        self.commit()


class Keys(Editor):
    """An editor for a global hotkey."""

    letters = 36, 30

    typing = Signal(bool)
    """Emits whether the field has focus. Global hotkeys should be ignored meanwhile."""

    def __init__(self, declared: Setting, parent: QWidget | None = None) -> None:
        super().__init__(declared, parent)
        self.field = KeyField(said(declared.label), self)
        self.taken: tuple[str, ...] = ()
        """Keys already assigned to something else."""
        self.setFocusProxy(self.field)
        row(self.field, within=self)
        self.field.entered.connect(self.typing)
        self.field.wanted.connect(self._pressed)
        self.revert()

    def revert(self) -> None:
        self.field.show_keys(self.value)
        self.rejected.emit("")

    def in_words(self, value: Any) -> str:
        keys = QKeySequence(value, QKeySequence.SequenceFormat.PortableText)
        return keys.toString(QKeySequence.SequenceFormat.NativeText) or self.tr("none")

    def _pressed(self, keys: str) -> None:
        fault = hotkey_fault(keys)
        if keys and keys in self.taken:
            fault = self.tr("“{0}” is used already. Press other keys.").format(self.in_words(keys))
        self.field.show_keys(self.value if fault else keys)
        self.rejected.emit(fault)
        if not fault:
            self._submit(keys)


def _chooser(text: str, name: str, editor: Editor) -> QPushButton:
    return push_button(text, name.format(said(editor.declared.label)), editor)


def _choose_folder(editor: Editor, start: str, chosen: Callable[[str], None]) -> None:
    ask_folder(editor.window(), said(editor.declared.label), start, chosen)
