"""An input field that records a key combination, with a button to clear it."""

from __future__ import annotations

import contextlib

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QKeySequenceEdit, QLineEdit, QPushButton, QWidget

from app.gui.design.plain import named
from app.gui.widgets.form import row

_KEYS = QKeySequence.SequenceFormat


class _Edit(QKeySequenceEdit):
    """Records key combinations. Plain Escape and Enter go to the dialog; plain Backspace and Delete clear the field."""

    emptied = Signal()
    padded = Signal(str)
    """Emits a key on the number pad, which `QKeySequenceEdit` would record as the main key with the same character."""
    entered = Signal(bool)
    abandoned = Signal()
    """Emitted when the keys are released without a valid combination, or when focus is lost."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leaves Escape and Enter to the dialog, and handles clearing and number pad keys."""
        bare = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if bare and event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.ignore()
        elif bare and event.key() in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete):
            self.emptied.emit()
        elif event.modifiers() & Qt.KeyboardModifier.KeypadModifier:
            self.padded.emit(QKeySequence(event.keyCombination()).toString(_KEYS.PortableText))
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """Discards a combination that consists only of modifiers."""
        super().keyReleaseEvent(event)
        if self.keySequence().isEmpty() and not event.isAutoRepeat():
            self.abandoned.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.entered.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Discards an incomplete combination, since the key releases may go to another widget."""
        super().focusOutEvent(event)
        self.abandoned.emit()
        self.entered.emit(False)


class KeyField(QWidget):
    """An input field for a hotkey. `keys` is its value, e.g. `Ctrl+Alt+M`, or empty.

    `wanted` emits the new keys that the user enters. To accept them, the owner must call `show_keys`.
    """

    wanted = Signal(str)
    entered = Signal(bool)
    """Emits whether the field has focus and records key presses. Hotkeys should not be grabbed meanwhile."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.keys = ""
        self.edit = named(_Edit(self), name)
        self.edit.setMaximumSequenceLength(1)
        self.edit.setToolTip(self.tr("Click here, or come here with Tab, and press the keys."))
        self._line = self.edit.findChild(QLineEdit)
        if self._line is not None:
            self._line.setAccessibleName(name)
        self.none_button = named(QPushButton(self.tr("None"), self), self.tr("{0}: none").format(name))
        self.none_button.setAutoDefault(False)
        self.setFocusProxy(self.edit)
        row(self.edit, self.none_button, within=self, stretch=0)
        self.edit.keySequenceChanged.connect(self._pressed)
        self.edit.abandoned.connect(self._restore)
        self.edit.entered.connect(self.entered)
        self.edit.padded.connect(self._request)
        self.edit.emptied.connect(lambda: self._request(""))
        self.none_button.clicked.connect(lambda: self._request(""))
        self.show_keys("")

    def show_keys(self, keys: str) -> None:
        """Sets the value."""
        self.keys = keys
        blocked = self.edit.blockSignals(True)
        self.edit.setKeySequence(QKeySequence(keys, _KEYS.PortableText))
        self.edit.blockSignals(blocked)
        if self._line is not None:
            self._line.setPlaceholderText(self.tr("none: press keys here"))
        self.none_button.setEnabled(bool(keys))

    def _pressed(self, sequence: QKeySequence) -> None:
        if keys := sequence.toString(_KEYS.PortableText):
            self._request(keys)

    def _restore(self) -> None:
        with contextlib.suppress(RuntimeError):  # the dialog is being destroyed
            self.show_keys(self.keys)

    def _request(self, keys: str) -> None:
        focused = self.none_button.hasFocus()
        if keys != self.keys:
            self.wanted.emit(keys)
        if focused and not self.none_button.isEnabled():
            self.edit.setFocus()
