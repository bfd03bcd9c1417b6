"""The line below the transcript to type in: what is sent is a turn like a spoken one.

What is sent before a conversation runs waits here.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from app.gui.state.talk_state import Phase
from app.gui.widgets.slim_button import SlimButton

MOST_KEPT = 50
"""So many of the texts that were sent can be recalled with the arrow keys."""


class TypeBox(QWidget):
    """A field and a button. Enter sends; the arrow keys up and down recall what was sent before."""

    sent = Signal(str)
    talk_wanted = Signal()
    """Something was sent while no conversation ran or was being prepared."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._phase: Phase = "stopped"
        self._waiting: list[str] = []
        self._history: list[str] = []
        self._place = 0  # in the history; its length while something new is being typed
        self._draft = ""
        self.field = QLineEdit(self)
        self.field.setAccessibleName(self.tr("Type instead of talking"))
        self.field.setClearButtonEnabled(True)
        self.field.installEventFilter(self)
        self.button = SlimButton(self.tr("&Send"), self)
        self.button.setAccessibleName(self.tr("Send what you typed"))
        self.button.setEnabled(False)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.field, 1)
        row.addWidget(self.button)
        self.field.textChanged.connect(lambda text: self.button.setEnabled(bool(text.strip())))
        self.field.returnPressed.connect(self.send)
        self.button.clicked.connect(self.send)
        self._show()

    def set_phase(self, phase: Phase) -> None:
        """Sets whether the conversation is being prepared, runs, or is over; what waited is sent once it runs."""
        if phase == self._phase:
            return
        self._phase = phase
        if phase == "running":
            waiting, self._waiting = self._waiting, []
            for text in waiting:
                self.sent.emit(text)
        self._show()

    def put(self, text: str) -> None:
        """Sends a text as if it had been typed; what is in the field stays there."""
        draft = self.field.text()
        self.field.setText(text)
        self.send()
        self.field.setText(draft)

    def take_back(self) -> None:
        """Puts what waits back into the field: it was meant for another conversation."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self.field.setText(" ".join(filter(None, (*waiting, self.field.text().strip()))))
            self._show()

    def forget(self) -> None:
        """Forgets what was sent: another conversation is shown."""
        self._history, self._place, self._draft = [], 0, ""

    def send(self) -> None:
        """Sends what is in the field, or keeps it until a conversation runs."""
        text = self.field.text().strip()
        if not text:
            return
        if not self._history or self._history[-1] != text:
            self._history = [*self._history[1 - MOST_KEPT :], text]
        self._place, self._draft = len(self._history), ""
        self.field.clear()
        if self._phase == "running":
            self.sent.emit(text)
        else:
            self._waiting.append(text)
            self._show()
            if self._phase == "stopped":
                self.talk_wanted.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Recalls what was sent with the arrow keys."""
        if watched is self.field and event.type() == QEvent.Type.KeyPress:
            assert isinstance(event, QKeyEvent)
            step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
            if step and event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier):
                self._recall(self._place + step)
                return True
        return super().eventFilter(watched, event)

    def _recall(self, place: int) -> None:
        if not 0 <= place <= len(self._history):
            return
        if self._place == len(self._history):
            self._draft = self.field.text()
        self._place = place
        self.field.setText(self._draft if place == len(self._history) else self._history[place])

    def _show(self) -> None:
        if self._waiting:
            hint = self.tr("Sent once KAME is ready")
        elif self._phase == "stopped":
            hint = self.tr("Or type here, and press Enter: the conversation goes on")
        else:
            hint = self.tr("Or type here, and press Enter")
        self.field.setPlaceholderText(hint)
        self.field.setAccessibleDescription(hint)
