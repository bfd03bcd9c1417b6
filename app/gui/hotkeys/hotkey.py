"""Hotkeys, parsed from Qt's portable text ("Ctrl+Alt+Space") and checked for suitability; the grabber interface."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal
from PySide6.QtGui import QKeySequence

_log = logging.getLogger(__name__)


class Grabber(QObject):
    """Grabs keys system-wide and emits their names when they are `pressed` and `released`.

    Implementations may emit the same press or release more than once; `Hotkeys` filters out duplicates. They need not
    emit `released` for keys that are held during `bind` or `close`.
    """

    pressed = Signal(str)
    released = Signal(str)
    failed = Signal(str, str)
    """Emits a key's name, empty if all keys are affected, and a message explaining why it can't be grabbed."""
    granted = Signal(str, str)
    """Emits a key's name and the desktop's description of its keys. Only on desktops that let users choose keys."""
    rebinding = Signal()
    """Emitted before the grabber regrabs all keys on its own initiative. Earlier failures no longer apply."""

    grabs_exclusively = True
    """Whether grabbed keys never reach the app's own text fields, and can be grabbed and released at any time."""

    def bind(self, keys: Mapping[str, Hotkey]) -> None:
        """Replaces the grabbed keys with these, keyed by name. Never raises; emits `failed` instead."""
        raise NotImplementedError

    def close(self) -> None:
        """Permanently ungrabs all keys. Blocks for at most two seconds."""
        raise NotImplementedError

    def fail_missing(self, name: str, key: Hotkey) -> None:
        """Emits `failed` because the keyboard layout lacks the key."""
        sentence = self.tr("Your keyboard's layout has no “{0}”, so it can't be a hotkey. Choose another.")
        self.failed.emit(name, sentence.format(key.text))

    def fail_taken(self, name: str, key: Hotkey) -> None:
        """Emits `failed` because another program has grabbed the key."""
        sentence = self.tr("“{0}” is another program's hotkey already, so it can't be used. Choose another.")
        self.failed.emit(name, sentence.format(key.text))

    def fail_duplicate(self, name: str, key: Hotkey, other: Hotkey) -> None:
        """Emits `failed` because the key is the same as `other` on this keyboard."""
        sentence = self.tr(
            "“{0}” is the same as “{1}” on your keyboard, which has another use here already. Choose other keys."
        )
        self.failed.emit(name, sentence.format(key.text, other.text))


class ThreadedGrabber(Grabber):
    """Base class for grabbers that start a thread per set of keys. Ignores reports from threads of earlier sets."""

    _posted = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._generation = 0
        self._posted.connect(self._on_posted, Qt.ConnectionType.QueuedConnection)

    def post(self, generation: int, action: Callable[[], None]) -> None:
        """Calls `action` on the GUI thread, unless the keys of `generation` have been replaced by then. Thread-safe."""
        try:
            self._posted.emit(generation, action)
        except RuntimeError as error:  # the window has been destroyed, and this object with it
            _log.info("hotkeys: %s", error)

    def _on_posted(self, generation: int, action: Callable[[], None]) -> None:
        if generation == self._generation:
            action()


_MODIFIERS = {
    Qt.KeyboardModifier.ControlModifier: "ctrl",
    Qt.KeyboardModifier.AltModifier: "alt",
    Qt.KeyboardModifier.ShiftModifier: "shift",
    Qt.KeyboardModifier.MetaModifier: "meta",
}
_K = Qt.Key
_NAMED = {
    _K.Key_Space: (0x20, "space", 0x20),
    _K.Key_Escape: (0xFF1B, "Escape", 0x1B),
    _K.Key_Tab: (0xFF09, "Tab", 0x09),
    _K.Key_Backspace: (0xFF08, "BackSpace", 0x08),
    _K.Key_Return: (0xFF0D, "Return", 0x0D),
    _K.Key_Insert: (0xFF63, "Insert", 0x2D),
    _K.Key_Delete: (0xFFFF, "Delete", 0x2E),
    _K.Key_Pause: (0xFF13, "Pause", 0x13),
    _K.Key_Print: (0xFF61, "Print", 0x2C),
    _K.Key_ScrollLock: (0xFF14, "Scroll_Lock", 0x91),
    _K.Key_Menu: (0xFF67, "Menu", 0x5D),
    _K.Key_Home: (0xFF50, "Home", 0x24),
    _K.Key_End: (0xFF57, "End", 0x23),
    _K.Key_PageUp: (0xFF55, "Page_Up", 0x21),
    _K.Key_PageDown: (0xFF56, "Page_Down", 0x22),
    _K.Key_Left: (0xFF51, "Left", 0x25),
    _K.Key_Up: (0xFF52, "Up", 0x26),
    _K.Key_Right: (0xFF53, "Right", 0x27),
    _K.Key_Down: (0xFF54, "Down", 0x28),
    _K.Key_MediaPlay: (0x1008FF14, "XF86AudioPlay", 0xB3),
    _K.Key_MediaTogglePlayPause: (0x1008FF14, "XF86AudioPlay", 0xB3),
    _K.Key_MicMute: (0x1008FFB2, "XF86AudioMicMute", 0),
    **{_K(_K.Key_F1.value + n): (0xFFBE + n, f"F{n + 1}", 0x70 + n) for n in range(24)},
}
"""Keys without a character, mapped to the X keysym, the keysym's name, and the Windows virtual-key code (0 if none)."""

_STANDALONE = {
    _K.Key_Pause,
    _K.Key_ScrollLock,
    _K.Key_MediaPlay,
    _K.Key_MediaTogglePlayPause,
    _K.Key_MicMute,
    *(_K(_K.Key_F1.value + n) for n in range(24)),
}
"""Keys that type nothing and are therefore allowed as hotkeys without Ctrl, Alt or Meta."""

_RESERVED = {
    *((frozenset({"ctrl"}), _K(ord(letter))) for letter in "CXVZASQW"),
    (frozenset({"ctrl"}), _K.Key_Tab),
    (frozenset({"alt"}), _K.Key_F4),
    (frozenset({"alt"}), _K.Key_Tab),
    (frozenset({"ctrl", "alt"}), _K.Key_Delete),
}
"""Combinations with a standard meaning in nearly every program, such as copy, save or close."""


class HotkeyRefused(ValueError):
    """The key can't be used as a hotkey; `str(error)` is a user-facing message."""


@dataclass(frozen=True, slots=True)
class Hotkey:
    """A key with its modifiers.

    - `modifiers`: a subset of "ctrl", "alt", "shift" and "meta"
    - `keysym`: the X keysym
    - `name`: the keysym's name, empty for a character
    - `virtual_key`: the Windows virtual-key code, 0 for a character because it depends on the layout
    - `text`: the combination as shown to the user
    """

    modifiers: frozenset[str]
    keysym: int
    name: str
    virtual_key: int
    text: str

    @property
    def character(self) -> str:
        """The key's character, in lower case; empty for a named key."""
        return "" if self.name else chr(self.keysym)


def read_hotkey(text: str) -> Hotkey | None:
    """Parses Qt's portable text; returns None if it is empty. Raises HotkeyRefused if the hotkey is unsuitable."""
    text = text.strip()
    if not text:
        return None
    keys = QKeySequence(text, QKeySequence.SequenceFormat.PortableText)
    shown = keys.toString(QKeySequence.SequenceFormat.NativeText) or text
    if keys.count() != 1:
        raise HotkeyRefused(_tr("“{0}” is not one key, so it can't be a hotkey. Choose a single combination.", shown))
    combination = keys[0]  # type: ignore[index]  # the stubs lack __getitem__
    key, flags = combination.key(), combination.keyboardModifiers()
    modifiers = frozenset(name for flag, name in _MODIFIERS.items() if flags & flag)
    if flags & Qt.KeyboardModifier.KeypadModifier:
        raise HotkeyRefused(_tr("“{0}” is on the number pad, whose keys can't be hotkeys. Choose another key.", shown))
    if key in _NAMED:
        keysym, name, virtual_key = _NAMED[key]
    elif 0x21 <= key.value <= 0x7E or 0xA1 <= key.value <= 0xFF:  # Latin-1, where the codes of Qt and X equal Unicode's
        keysym, name, virtual_key = ord(chr(key.value).lower()), "", 0
    else:
        raise HotkeyRefused(
            _tr("“{0}” can't be a hotkey. Choose a letter, a digit or a function key, with Ctrl or Alt.", shown)
        )
    if key not in _STANDALONE and not modifiers - {"shift"}:
        raise HotkeyRefused(
            _tr("“{0}” would be taken from every program, so it can't be a hotkey. Add Ctrl, Alt or both.", shown)
        )
    if (modifiers, key) in _RESERVED:
        raise HotkeyRefused(_tr("“{0}” is needed in every program, so it can't be a hotkey. Choose other keys.", shown))
    return Hotkey(modifiers, keysym, name, virtual_key, shown)


def hotkey_fault(text: str) -> str:
    """Returns why keys in Qt's portable text are unsuitable as a hotkey, or an empty string if they aren't."""
    try:
        read_hotkey(text)
    except HotkeyRefused as error:
        return str(error)
    return ""


def _tr(sentence: str, *words: str) -> str:
    return QCoreApplication.translate("", sentence).format(*words)
