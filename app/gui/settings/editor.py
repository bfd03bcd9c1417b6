"""The base of all editors of settings."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.gui.widgets.translation import said
from app.settings.setting import Setting


class Editor(QWidget):
    """Edits one value. `value` is the present one; `submitted` emits another that the user has entered."""

    submitted = Signal(object)
    rejected = Signal(str)
    """Why the input is invalid, as a sentence; empty when it is valid."""
    wide = False
    """Whether it needs a line of its own below the label."""
    letters = 36, 14
    """Its preferred and its least width next to the label, in average letters."""

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
        """Sets the value; input that is being typed stays."""
        being_typed = self.dirty
        self.value = value
        if not being_typed:
            self.revert()

    @property
    def dirty(self) -> bool:
        """Whether there is input that is not the value yet."""
        return False

    def commit(self) -> None:
        """Takes the input as the value."""

    def revert(self) -> None:
        """Shows the value, and drops any input."""

    def describe(self, words: str) -> None:
        """Explains the control to screen readers."""
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
        """Makes `control` the widget for the focus and for screen readers, with `more` to its right."""
        control.setAccessibleName(said(self.declared.label))
        self.setFocusProxy(control)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(control, 1)
        for widget in more:
            row.addWidget(widget)

    def _submit(self, value: Any) -> None:
        if value != self.value:
            self.value = value
            self.submitted.emit(value)
