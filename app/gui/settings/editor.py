"""What all editors of settings have in common. Knows one value at a time, and nothing of the settings around it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.gui.shell.translation import said
from app.settings.setting import Setting


class Editor(QWidget):
    """`value` is what is kept, which `keep` sets; what the user wants instead is `wanted`, and kept from then on."""

    wanted = Signal(object)
    refused = Signal(str)
    """Why what was typed can't be kept, as a sentence; empty when it can."""
    wide = False
    """It wants a line of its own below the label."""
    letters = 28, 14
    """How wide it is beside its label, in average letters: as a rule, and at least."""

    def __init__(self, declared: Setting, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.declared = declared
        self.value: Any = declared.default
        if not self.wide:
            self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """As wide as its kind is as a rule."""
        return self._in_letters(super().sizeHint(), self.letters[0])

    def minimumSizeHint(self) -> QSize:
        """Where text is large or the dialog narrow."""
        return self._in_letters(super().minimumSizeHint(), self.letters[1])

    def keep(self, value: Any) -> None:
        """Shows what is kept now; words that are being typed stay."""
        being_typed = self.dirty
        self.value = value
        if not being_typed:
            self.revert()

    @property
    def dirty(self) -> bool:
        """Whether something is typed that isn't kept yet."""
        return False

    def commit(self) -> None:
        """Takes over what is typed."""

    def revert(self) -> None:
        """Shows what is kept."""

    def in_words(self, value: Any) -> str:
        """A value as the user knows it."""
        return str(value) or self.tr("empty")

    def _in_letters(self, size: QSize, letters: int) -> QSize:
        if letters and not self.wide:
            size.setWidth(self.fontMetrics().averageCharWidth() * letters)
        return size

    def _adopt(self, control: QWidget, *more: QWidget) -> None:
        """Is `control` for the keyboard and for screen readers, with `more` beside it."""
        control.setAccessibleName(said(self.declared.label))
        self.setFocusProxy(control)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(control, 1)
        for widget in more:
            row.addWidget(widget)

    def _want(self, value: Any) -> None:
        if value != self.value:
            self.value = value
            self.wanted.emit(value)
