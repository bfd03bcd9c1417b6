"""Routes the key presses in a window.

Printable characters go to the message field, unless a text field or a control focused with Tab handles them. The space
bar presses the button that was focused with Tab, if any. Otherwise, it inserts a space while the user is typing a
message, and acts as the push-to-talk key at all other times. Similarly, a question mark opens the shortcut overview
only while no message is being typed. The window handles Escape unless a control uses it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QWindow
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from app.gui.hotkeys.push_to_talk import PushToTalk
from app.gui.sound.talk_button import TalkButton
from app.gui.widgets.popover import Popover

TYPING_SECONDS = 2.0
"""How long after the last edit of the message the user is still considered to be typing."""

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_MODIFIERS = Qt.KeyboardModifier
_PLAIN = _MODIFIERS.ShiftModifier | _MODIFIERS.KeypadModifier | _MODIFIERS.GroupSwitchModifier
_ALT_GR = _MODIFIERS.ControlModifier | _MODIFIERS.AltModifier
"""The modifiers that Windows reports for AltGr."""


class KeyRouting(QObject):
    """Routes the key presses in `window`.

    `push`: push-to-talk, which the space bar activates. `field`: the message field; if None, text goes to the focused
    widget.

    `eventFilter` receives each key event from the native window before any widget does. If no widget handles a key
    press, the window must pass it to `take_unclaimed`. The default focus is the message field, or the window if there
    is no field. The focus returns there after a click on a button, or when the focused widget is hidden or disabled.
    """

    sheet_wanted = Signal()
    """Emitted to request the shortcut overview."""
    escaped = Signal()
    """Emitted when Escape is pressed and no control handles it."""

    def __init__(self, push: PushToTalk, window: QWidget, field: QPlainTextEdit | None = None) -> None:
        super().__init__(window)
        self._push = push
        self._window = window
        self._field = field
        self.swap: Callable[[int], bool] = lambda number: False
        """Takes a digit that is pressed while no message is being typed; returns whether it was of use."""
        self._clicked: QWidget | None = None
        """The widget that had the focus after the last click, or None if Tab has been pressed since."""
        self._fled_to: QWidget | None = None
        self._typed_at = -math.inf
        self._digit = "", -math.inf  # the last one that has swapped the model, any spaces since, and when
        if field is not None:
            field.textChanged.connect(self._note_typing)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus_changed)

    def watch(self, handle: QWindow) -> None:
        """Starts filtering key events. `handle`: the window's native window."""
        handle.installEventFilter(self)

    def go_home(self) -> None:
        """Returns the focus to the message field, or to the window if there is no field."""
        (self._field or self._window).setFocus()

    @property
    def typing(self) -> bool:
        """Whether the user is typing a message: the field contains text or was edited within `TYPING_SECONDS`."""
        if self._field is None:
            return False
        return bool(self._field.toPlainText().strip()) or time.monotonic() - self._typed_at < TYPING_SECONDS

    def end_typing(self) -> None:
        """Ends the typing state. Must be called after a message is sent."""
        self._typed_at = -math.inf

    def _note_typing(self) -> None:
        if self._field is not None and not self._field.document().isEmpty():
            self._typed_at = time.monotonic()

    # -- keys

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handles keys for the talk button and the message field before the focused widget receives them."""
        kinds = QEvent.Type
        if isinstance(event, QKeyEvent):
            if event.type() == kinds.KeyPress:
                return self._key_down(event)
            if event.type() == kinds.KeyRelease and event.key() == Qt.Key.Key_Space:
                return self._push.release_space(event.isAutoRepeat())
        elif event.type() == kinds.MouseButtonPress:
            QTimer.singleShot(0, self, self._note_click)
        elif event.type() == kinds.MouseButtonRelease:
            QTimer.singleShot(0, self, self._leave_button)
        return False

    def take_unclaimed(self, event: QKeyEvent) -> bool:
        """Handles a key press that no widget has handled.

        Returns True for Escape and for keys passed on to the message field, else False.
        """
        if event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
            self.go_home()
            return True
        field = self._field
        if field is None or self._window.focusWidget() is field:
            return False
        if event.matches(QKeySequence.StandardKey.Paste):
            self.go_home()
            field.paste()
        elif is_text(event) and event.key() != Qt.Key.Key_Space:
            self.go_home()
            QApplication.sendEvent(field, event)
        elif Qt.Key.Key_Dead_Grave <= event.key() <= Qt.Key.Key_Dead_Longsolidusoverlay:
            self.go_home()  # so that the field receives the letter that follows the dead key
        else:
            return False
        return True

    def _key_down(self, event: QKeyEvent) -> bool:
        if QApplication.activePopupWidget() is not None:
            return False
        focus = self._window.focusWidget()
        if event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            self._clicked = None
        if event.modifiers() & ~_PLAIN == _MODIFIERS.AltModifier and event.text().isascii() and event.text().isalnum():
            return True  # a shortcut that isn't in use, which text fields would take for text
        if event.key() == Qt.Key.Key_Space and not event.modifiers() & ~_PLAIN:
            return self._space_down(focus, event.isAutoRepeat())
        if event.key() in _ENTER and not event.modifiers() & ~_PLAIN:
            return self._enter_down(focus, event.isAutoRepeat())
        if self._field is None or not is_text(event) or (takes_text(focus) and focus is not self._field):
            return False
        if event.text() == "?" and not self.typing:
            self.sheet_wanted.emit()
            return True
        if event.text() in "123456789" and not self.typing and self.swap(int(event.text())):
            self._digit = event.text(), time.monotonic()
            return True
        self._restore_digit()
        if focus is not self._field and focus is self._clicked:
            self.go_home()  # so that Qt delivers the key to the message field
        return False

    def _restore_digit(self) -> None:
        """Puts a digit that has swapped the model, and spaces after it, into the field if a message turns out to begin
        with them."""
        (digit, at), self._digit = self._digit, ("", -math.inf)
        if (
            self._field is not None
            and self._field.document().isEmpty()
            and digit
            and time.monotonic() - at < TYPING_SECONDS
        ):
            self._field.insertPlainText(digit)

    def _space_down(self, focus: QWidget | None, repeated: bool) -> bool:
        if self._push.space_held:
            self._push.press_space(repeated)
            return True
        if takes_text(focus) and focus is not self._field:
            return False
        if _uses_space(focus) and focus is not self._clicked:
            return False
        on_talk_button = isinstance(focus, TalkButton) and focus is not self._clicked
        if self.typing and not on_talk_button:
            self.go_home()
            return False
        if self._digit[0] and not repeated:
            self._digit = self._digit[0] + " ", self._digit[1]
        self._push.press_space(repeated)
        return True

    def _enter_down(self, focus: QWidget | None, repeated: bool) -> bool:
        """Clicks the button that was focused with Tab, if any. Returns whether the key was handled."""
        if not isinstance(focus, QAbstractButton):
            return False
        if focus is self._clicked:
            self.go_home()
            return False
        if not repeated:
            focus.click()
        return True

    # -- the focus

    def _note_click(self) -> None:
        self._clicked = self._window.focusWidget()

    def _leave_button(self) -> None:
        """Returns the focus to its default after a click on a button outside popovers."""
        self._note_click()
        focus = self._clicked
        if isinstance(focus, QAbstractButton) and not _in_popover(focus):
            self.go_home()

    def _on_focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:
        if old is None or old.window() is not self._window:
            return
        if not old.isVisibleTo(self._window) or not old.isEnabledTo(self._window):
            self._fled_to = new
            QTimer.singleShot(0, self, self._end_flight)

    def _end_flight(self) -> None:
        """Returns the focus to its default if Qt has moved it from a hidden or disabled widget to the next one."""
        focus = self._window.focusWidget()
        if focus is self._fled_to and not takes_text(focus):
            self.go_home()
        self._fled_to = None


def is_text(event: QKeyEvent) -> bool:
    """Returns whether a key press produces printable text."""
    strange = event.modifiers() & ~_PLAIN
    return strange in (Qt.KeyboardModifier.NoModifier, _ALT_GR) and event.text() != "" and event.text().isprintable()


def takes_text(widget: QWidget | None) -> bool:
    """Returns whether `widget` accepts typed text."""
    if isinstance(widget, QLineEdit | QTextEdit | QPlainTextEdit):
        return widget.isEnabled() and not widget.isReadOnly()
    if isinstance(widget, QComboBox):
        return widget.isEditable()
    return isinstance(widget, QAbstractSpinBox)


def _uses_space(widget: QWidget | None) -> bool:
    """Returns whether `widget` handles the space bar itself. The talk button does so only if no session is running."""
    if isinstance(widget, TalkButton):
        return widget.word == "stopped"
    return isinstance(widget, QAbstractButton | QComboBox | QAbstractItemView)


def _in_popover(widget: QWidget) -> bool:
    parent = widget.parentWidget()
    while parent is not None and not isinstance(parent, Popover):
        parent = parent.parentWidget()
    return parent is not None
