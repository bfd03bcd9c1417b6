"""A field for a key combination that works while another window has the focus, and a button for having none.

Knows nothing of what the keys do, nor of whether the system grants them.
"""

from __future__ import annotations

import contextlib

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QKeySequenceEdit, QLineEdit, QPushButton, QWidget

_KEYS = QKeySequence.SequenceFormat


class _Edit(QKeySequenceEdit):
    """Takes combinations; leaves bare Escape and Enter to the dialog, and bare Backspace and Delete mean none."""

    emptied = Signal()
    padded = Signal(str)
    """A key of the number pad was pressed, which `QKeySequenceEdit` takes for another of the same character."""
    entered = Signal(bool)
    let_go = Signal()
    """Nothing is being pressed any more: what is shown is to be what is kept."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keeps the dialog's own keys out."""
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
        """Modifiers alone are no combination."""
        super().keyReleaseEvent(event)
        if self.keySequence().isEmpty() and not event.isAutoRepeat():
            self.let_go.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Keys that are pressed from now on are meant for here."""
        super().focusInEvent(event)
        self.entered.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """As when the keys are let go, of which nothing may be heard here."""
        super().focusOutEvent(event)
        self.let_go.emit()
        self.entered.emit(False)


class KeyField(QWidget):
    """`keys`: what is kept, like `Ctrl+Alt+M`, or empty. What is pressed is `wanted`: whoever listens keeps it with
    `show_keys`, or puts back what there was.
    """

    wanted = Signal(str)
    entered = Signal(bool)
    """Whether keys that are pressed now are typed into this field: meanwhile no hotkey should take them."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.keys = ""
        self.edit = _Edit(self)
        self.edit.setMaximumSequenceLength(1)
        self.edit.setAccessibleName(name)
        self.edit.setToolTip(self.tr("Click here, or come here with Tab, and press the keys."))
        self._line = self.edit.findChild(QLineEdit)
        if self._line is not None:
            self._line.setAccessibleName(name)
        self.none_button = QPushButton(self.tr("None"), self)
        self.none_button.setAutoDefault(False)
        self.none_button.setAccessibleName(self.tr("{0}: none").format(name))
        self.setFocusProxy(self.edit)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.edit, 1)
        row.addWidget(self.none_button)
        self.edit.keySequenceChanged.connect(self._pressed)
        self.edit.let_go.connect(self._restore)
        self.edit.entered.connect(self.entered)
        self.edit.padded.connect(self._want)
        self.edit.emptied.connect(lambda: self._want(""))
        self.none_button.clicked.connect(lambda: self._want(""))
        self.show_keys("")

    def show_keys(self, keys: str) -> None:
        """Shows what is kept now."""
        self.keys = keys
        blocked = self.edit.blockSignals(True)
        self.edit.setKeySequence(QKeySequence(keys, _KEYS.PortableText))
        self.edit.blockSignals(blocked)
        if self._line is not None:
            self._line.setPlaceholderText(self.tr("none: press keys here"))
        self.none_button.setEnabled(bool(keys))

    def _pressed(self, sequence: QKeySequence) -> None:
        if keys := sequence.toString(_KEYS.PortableText):
            self._want(keys)

    def _restore(self) -> None:
        with contextlib.suppress(RuntimeError):  # the dialog is being taken down
            self.show_keys(self.keys)

    def _want(self, keys: str) -> None:
        focused = self.none_button.hasFocus()
        if keys != self.keys:
            self.wanted.emit(keys)
        if focused and not self.none_button.isEnabled():
            self.edit.setFocus()
