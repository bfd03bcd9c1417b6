"""The foot of the settings dialog that resets all settings: asks first, and can undo it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.gui.widgets.form import push_button
from app.gui.widgets.panel import Quiet


class ResetBar(QWidget):
    """`asked` when the user is asked, `confirmed` to reset all settings, `undone` to restore what they were."""

    asked = Signal()
    confirmed = Signal()
    undone = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.asking = False
        self._changed = self._undoable = 0
        self.note = Quiet(parent=self)
        self.note.setAccessibleName(self.tr("Effect of changes"))
        self.reset_button = push_button(self.tr("&Reset all…"), self.tr("Reset all settings"), self)
        self.confirm_button = push_button(self.tr("&Reset them"), self.tr("Reset all settings now"), self)
        self.keep_button = push_button(self.tr("&Keep them"), self.tr("Keep the settings as they are"), self)
        self.undo_button = push_button(self.tr("&Undo"), self.tr("Undo the reset"), self)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.reset_button)
        layout.addWidget(self.note, 1)
        for button in (self.confirm_button, self.keep_button, self.undo_button):
            layout.addWidget(button)
        self.reset_button.clicked.connect(self._ask)
        self.confirm_button.clicked.connect(self._confirm)
        self.keep_button.clicked.connect(self.decline)
        self.undo_button.clicked.connect(self._undo)

    def show_state(self, changed: int, undoable: int) -> None:
        """`changed`: how many settings differ from their default; `undoable`: how many were just reset."""
        self._changed, self._undoable = changed, undoable
        if self.asking:
            words = self.tr("Settings that are not at their defaults: {0}. Reset them?").format(changed)
        elif undoable:
            words = self.tr("Settings that are back at their defaults: {0}.").format(undoable)
        else:
            words = self.tr("Changes take effect at once, unless it says otherwise.")
        self.note.setText(words)
        self.reset_button.setVisible(not self.asking)
        self.reset_button.setEnabled(changed > 0)
        self.confirm_button.setVisible(self.asking)
        self.keep_button.setVisible(self.asking)
        self.undo_button.setVisible(undoable > 0 and not self.asking)

    def decline(self) -> None:
        """Closes the question without a reset."""
        self._set_asking(False)
        self.reset_button.setFocus()

    def _set_asking(self, asking: bool) -> None:
        self.asking = asking
        self.show_state(self._changed, self._undoable)

    def _ask(self) -> None:
        self.asked.emit()
        self._set_asking(True)
        self.confirm_button.setFocus()

    def _confirm(self) -> None:
        self.asking = False
        self.confirmed.emit()
        self.undo_button.setFocus()

    def _undo(self) -> None:
        self.undone.emit()
        self.reset_button.setFocus()
