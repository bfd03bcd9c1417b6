"""Holding the talk button: with the mouse, or with the space bar anywhere in the window.

Turns both into one press and one release. Knows nothing of what they do.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

REPEAT_MS = 40
"""A keyboard repeats at most some 30 ms apart; a finger is never that quick."""


class PushToTalk(QObject):
    """`pressed` when the first holder holds, `released` when the last lets go.

    Installed as a filter on the window's `QWindow`, which sees its keys before any widget: the space bar
    talks wherever the focus is, unless that is a text field. Enter clicks a focused button in its place.
    """

    pressed = Signal()
    released = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._holders: set[str] = set()
        self._enabled = False
        # Some X servers repeat a held key as releases and presses that nothing marks as repeats: a release
        # only counts when no press follows at once.
        self._space_up = QTimer(self, singleShot=True, interval=REPEAT_MS)
        self._space_up.timeout.connect(lambda: self.let_go("space"))

    @property
    def held(self) -> bool:
        """Whether anything holds."""
        return bool(self._holders)

    def set_enabled(self, enabled: bool) -> None:
        """Whether holding has an effect; what is held is let go when it no longer has."""
        self._enabled = enabled
        if not enabled:
            self.let_go_all()

    def hold(self, holder: str) -> None:
        """`holder` ("mouse", "space") holds."""
        if not self._enabled:
            return
        first = not self._holders
        self._holders.add(holder)
        if first:
            self.pressed.emit()

    def let_go(self, holder: str) -> None:
        """`holder` lets go."""
        if holder in self._holders:
            self._holders.remove(holder)
            if not self._holders:
                self.released.emit()

    def let_go_all(self) -> None:
        """Nothing holds any more, for example since the window lost the focus."""
        self._space_up.stop()
        if self._holders:
            self._holders.clear()
            self.released.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Takes the space bar and, for buttons, Enter."""
        if isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.KeyPress:
                return self._key_down(event)
            if event.type() == QEvent.Type.KeyRelease:
                return self._key_up(event)
        return False

    def _key_down(self, event: QKeyEvent) -> bool:
        focus = QApplication.focusWidget()
        if QApplication.activePopupWidget() is not None or event.modifiers() & ~_SHIFT_AND_PAD:
            return False
        if event.key() == Qt.Key.Key_Space:
            if "space" in self._holders:
                self._space_up.stop()
                return True  # the keyboard repeats itself
            if takes_text(focus):
                return False
            if not event.isAutoRepeat():
                self.hold("space")
            return True
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(focus, QAbstractButton):
            if not event.isAutoRepeat():
                focus.click()
            return True
        return False

    def _key_up(self, event: QKeyEvent) -> bool:
        if event.key() != Qt.Key.Key_Space:
            return False
        if "space" not in self._holders:
            # Its press was taken here, so a button must not see only the release.
            return QApplication.activePopupWidget() is None and not takes_text(QApplication.focusWidget())
        if not event.isAutoRepeat():
            self._space_up.start()
        return True


_SHIFT_AND_PAD = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier


def takes_text(widget: QWidget | None) -> bool:
    """Whether a space typed into `widget` is text."""
    if isinstance(widget, QLineEdit | QTextEdit | QPlainTextEdit):
        return widget.isEnabled() and not widget.isReadOnly()
    if isinstance(widget, QComboBox):
        return widget.isEditable()
    return isinstance(widget, QAbstractSpinBox)
