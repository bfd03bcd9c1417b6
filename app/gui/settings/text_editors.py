"""Editors of settings that are typed: text, folders, and keys. Typed words are kept when they are whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.gui.hotkeys.hotkey import HotkeyRefused, read_hotkey
from app.gui.hotkeys.key_field import KeyField
from app.gui.settings.editor import Editor
from app.gui.shell.translation import said
from app.settings.setting import Setting


class Line(Editor):
    """A line of text, kept at Enter or when it is left."""

    letters = 40, 14

    def __init__(self, declared: Setting, parent: QWidget | None = None) -> None:
        super().__init__(declared, parent)
        self.line = QLineEdit(self)
        self.line.editingFinished.connect(self.commit)
        self._shape()
        self.revert()

    @property
    def dirty(self) -> bool:
        """Whether something is typed that isn't kept yet."""
        return self.line.text() != self.value

    def commit(self) -> None:
        """Takes over what is typed, without spaces around it."""
        text = self.line.text().strip()
        if text != self.line.text():
            self.line.setText(text)
        self._want(text)

    def revert(self) -> None:
        """Shows what is kept."""
        self.line.setText(self.value)
        self.line.setCursorPosition(0)

    def _shape(self) -> None:
        self._adopt(self.line)


class Folder(Line):
    """A folder, typed or chosen."""

    wide = True

    def _shape(self) -> None:
        self.chooser = _chooser(self.tr("Choose…"), self.tr("Choose a folder: {0}"), self)
        self._adopt(self.line, self.chooser)
        self.chooser.clicked.connect(lambda: _choose_folder(self, self.value, self._want_folder))

    def _want_folder(self, folder: str) -> None:
        self.line.setText(folder)
        self.commit()


class _Text(QPlainTextEdit):
    left = Signal()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """What is typed is kept now, unless only a menu has opened."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter is a line break here, so it takes Ctrl to be done."""
        done = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if done and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class Lines(Editor):
    """Several lines of text, kept when they are left, or at Ctrl+Enter."""

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
        """Whether something is typed that isn't kept yet."""
        return self.text.toPlainText() != self.value

    def commit(self) -> None:
        """Takes over what is typed."""
        self._want(self.text.toPlainText())

    def revert(self) -> None:
        """Shows what is kept."""
        if self.text.toPlainText() != self.value:
            self.text.setPlainText(self.value)

    def in_words(self, value: Any) -> str:
        """On one line."""
        return super().in_words(" · ".join(value.splitlines()))

    def _shape(self) -> None:
        self._adopt(self.text)


class Folders(Lines):
    """Folders, one a line; more can be chosen."""

    def _shape(self) -> None:
        self.chooser = _chooser(self.tr("Add…"), self.tr("Add a folder: {0}"), self)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        beside = QWidget(self)
        column = QVBoxLayout(beside)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.chooser)
        column.addStretch(1)
        self._adopt(self.text, beside)
        self.chooser.clicked.connect(lambda: _choose_folder(self, "", self._add))

    def _add(self, folder: str) -> None:
        lines = [line for line in self.text.toPlainText().splitlines() if line.strip()]
        self.text.setPlainText("\n".join([*lines, *([folder] if folder not in lines else [])]))
        self.commit()


class Keys(Editor):
    """Keys that work while another window has the keyboard."""

    letters = 40, 30

    typing = Signal(bool)
    """Keys that are pressed now are typed here: meanwhile no hotkey should take them."""

    def __init__(self, declared: Setting, parent: QWidget | None = None) -> None:
        super().__init__(declared, parent)
        self.field = KeyField(said(declared.label), self)
        self.taken: tuple[str, ...] = ()
        """Keys that do something else already."""
        self.setFocusProxy(self.field)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.field)
        self.field.entered.connect(self.typing)
        self.field.wanted.connect(self._pressed)
        self.revert()

    def revert(self) -> None:
        """Shows what is kept."""
        self.field.show_keys(self.value)
        self.refused.emit("")

    def in_words(self, value: Any) -> str:
        """As the keyboard has them."""
        keys = QKeySequence(value, QKeySequence.SequenceFormat.PortableText)
        return keys.toString(QKeySequence.SequenceFormat.NativeText) or self.tr("none")

    def _pressed(self, keys: str) -> None:
        refusal = ""
        try:
            read_hotkey(keys)
        except HotkeyRefused as error:
            refusal = str(error)
        if keys and keys in self.taken:
            refusal = self.tr("“{0}” can't both talk and mute. Press other keys.").format(self.in_words(keys))
        self.field.show_keys(self.value if refusal else keys)
        self.refused.emit(refusal)
        if not refusal:
            self._want(keys)


def _chooser(text: str, name: str, editor: Editor) -> QPushButton:
    button = QPushButton(text, editor)
    button.setAutoDefault(False)
    button.setAccessibleName(name.format(said(editor.declared.label)))
    return button


def _choose_folder(editor: Editor, start: str, chosen: Callable[[str], None]) -> None:
    """Lets the user choose a folder, while everything else goes on."""
    dialog = QFileDialog(editor.window(), said(editor.declared.label), start)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.fileSelected.connect(chosen)
    dialog.open()
