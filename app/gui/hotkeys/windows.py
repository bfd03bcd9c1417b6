"""Hotkeys on Windows: the system tells when they go down, and is asked when they go up.

Knows nothing of what the keys do.
"""

from __future__ import annotations

import ctypes
import logging
import threading
from collections.abc import Mapping
from typing import Protocol

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.gui.hotkeys.hotkey import Grabber, Hotkey

POLL_MS = 15
"""How often a key that is down is asked whether it still is."""

CLOSE_SECONDS = 1.0
ALREADY_REGISTERED = 1409
MODIFIERS = {"alt": 0x1, "ctrl": 0x2, "shift": 0x4, "meta": 0x8}
NO_REPEAT = 0x4000
_WM_QUIT = 0x0012
_WM_HOTKEY = 0x0312
_VK_SHIFT, _VK_CONTROL, _VK_ALT = 0x10, 0x11, 0x12
_LEAVE_ALONE = 0x1 | 0x4
"""For ToUnicodeEx: no codes from the number pad, and no change to an accent that waits for its letter."""

_log = logging.getLogger(__name__)


class System(Protocol):
    """What is asked of Windows. All but `down`, `key_of`, `writes` and `quit` belong to the thread that called
    `prepare`.
    """

    def prepare(self) -> None:
        """Gives the calling thread a queue of messages."""

    def register(self, number: int, modifiers: int, virtual_key: int) -> int:
        """Takes a key; 0, or the number of an error."""

    def unregister(self, number: int) -> None:
        """Gives a key back."""

    def wait(self) -> int | None:
        """Waits for a key to go down: its number; None when the thread is to end."""

    def quit(self, thread: int) -> None:
        """Has `wait` of that thread return None."""

    def down(self, virtual_key: int) -> bool:
        """Whether the key is down right now."""

    def key_of(self, character: str) -> tuple[int, bool]:
        """The virtual key that writes `character` on this layout (0: none), and whether it takes Shift."""

    def writes(self, virtual_key: int, shifted: bool) -> bool:
        """Whether the key writes something other than a space on this layout with Ctrl and Alt, which are AltGr."""


class WindowsHotkeys(Grabber):
    """A thread waits for the keys, since messages of hotkeys go to the thread that took them."""

    _came = Signal(int, int)
    _refused = Signal(int, str, int)

    def __init__(self, parent: QObject | None = None, *, system: System | None = None) -> None:
        super().__init__(parent)
        self._system = system or User32()
        self._thread: threading.Thread | None = None
        self._round = 0
        self._names: dict[int, tuple[str, int]] = {}
        self._texts: dict[str, str] = {}
        self._down: dict[str, int] = {}
        self._came.connect(self._key_down, Qt.ConnectionType.QueuedConnection)
        self._refused.connect(self._tell_refused, Qt.ConnectionType.QueuedConnection)
        self._poll = QTimer(self, interval=POLL_MS)
        self._poll.timeout.connect(self._look)

    def bind(self, keys: Mapping[str, Hotkey]) -> None:
        """See Grabber."""
        self._end()
        self._round += 1
        self._names = {}
        self._texts = {name: key.text for name, key in keys.items()}
        wanted: list[tuple[int, str, int, int]] = []
        for number, (name, key) in enumerate(keys.items(), 1):
            modifiers = NO_REPEAT
            for modifier in key.modifiers:
                modifiers |= MODIFIERS[modifier]
            virtual_key, shifted = key.virtual_key, False
            if key.character:
                virtual_key, shifted = self._system.key_of(key.character)
            if not virtual_key:
                sentence = self.tr("Your keyboard's layout has no “{0}”, so it can't be a hotkey. Choose another.")
                self.failed.emit(name, sentence.format(key.text))
                continue
            modifiers |= MODIFIERS["shift"] if shifted else 0
            if same := next((other for _, other, *taken in wanted if taken == [modifiers, virtual_key]), ""):
                self.failed.emit(name, self.same_keys(key, keys[same]))
                continue
            altgr = {"ctrl", "alt"} <= key.modifiers and "meta" not in key.modifiers
            if altgr and self._system.writes(virtual_key, bool(modifiers & MODIFIERS["shift"])):
                sentence = self.tr("“{0}” writes a character on your keyboard (AltGr). Choose other keys.")
                self.failed.emit(name, sentence.format(key.text))
                continue
            self._names[number] = (name, virtual_key)
            wanted.append((number, name, modifiers, virtual_key))
        if wanted:
            ready = threading.Event()
            self._thread = threading.Thread(
                target=self._run, args=(self._round, wanted, ready), name="hotkeys", daemon=True
            )
            self._thread.start()
            ready.wait(CLOSE_SECONDS)

    def close(self) -> None:
        """See Grabber."""
        self._round += 1
        self._end()

    def _end(self) -> None:
        self._poll.stop()
        thread, self._thread = self._thread, None
        if thread is not None and thread.native_id is not None:
            self._system.quit(thread.native_id)
            thread.join(CLOSE_SECONDS)  # Windows frees the keys of a thread that ends
        down, self._down = self._down, {}
        for name in down:
            self.released.emit(name)

    def _run(self, round: int, wanted: list[tuple[int, str, int, int]], ready: threading.Event) -> None:
        """The thread: takes the keys, waits for them, gives them back."""
        system = self._system
        system.prepare()
        ready.set()
        taken = []
        try:
            for number, name, modifiers, virtual_key in wanted:
                if error := system.register(number, modifiers, virtual_key):
                    self._refused.emit(round, name, error)
                else:
                    taken.append(number)
            while (number := system.wait()) is not None:
                self._came.emit(round, number)
        except RuntimeError as error:  # the window has gone, and this object with it
            _log.info("hotkeys: %s", error)
        finally:
            for number in taken:
                system.unregister(number)

    def _key_down(self, round: int, number: int) -> None:
        if round != self._round or number not in self._names:
            return
        name, virtual_key = self._names[number]
        if name not in self._down:
            self._down[name] = virtual_key
            self._poll.start()
            self.pressed.emit(name)

    def _look(self) -> None:
        """Finds the keys that have gone up."""
        for name, virtual_key in tuple(self._down.items()):
            if not self._system.down(virtual_key):
                del self._down[name]
                self.released.emit(name)
        if not self._down:
            self._poll.stop()

    def _tell_refused(self, round: int, name: str, error: int) -> None:
        if round != self._round:
            return
        if error == ALREADY_REGISTERED:
            sentence = self.tr("“{0}” is another program's hotkey already, so it can't be had. Choose another.")
        else:
            sentence = self.tr("Windows refuses “{0}” as a hotkey (error {1}). Choose another.")
        self.failed.emit(name, sentence.format(self._texts[name], error))


class User32:
    """The `System` that Windows itself is."""

    def __init__(self) -> None:
        from ctypes import wintypes as w

        self._user32 = user32 = ctypes.WinDLL("user32", use_last_error=True)  # type: ignore[attr-defined]
        self._message = w.MSG
        user32.RegisterHotKey.argtypes = (w.HWND, ctypes.c_int, w.UINT, w.UINT)
        user32.UnregisterHotKey.argtypes = (w.HWND, ctypes.c_int)
        user32.GetMessageW.argtypes = (ctypes.POINTER(w.MSG), w.HWND, w.UINT, w.UINT)
        user32.PeekMessageW.argtypes = (ctypes.POINTER(w.MSG), w.HWND, w.UINT, w.UINT, w.UINT)
        user32.PostThreadMessageW.argtypes = (w.DWORD, w.UINT, w.WPARAM, w.LPARAM)
        user32.GetAsyncKeyState.argtypes, user32.GetAsyncKeyState.restype = (ctypes.c_int,), w.SHORT
        user32.VkKeyScanW.argtypes, user32.VkKeyScanW.restype = (w.WCHAR,), w.SHORT
        user32.GetKeyboardLayout.argtypes, user32.GetKeyboardLayout.restype = (w.DWORD,), w.HKL
        user32.ToUnicodeEx.argtypes = (
            w.UINT,
            w.UINT,
            ctypes.c_char_p,
            ctypes.c_wchar_p,
            ctypes.c_int,
            w.UINT,
            w.HKL,
        )
        user32.ToUnicodeEx.restype = ctypes.c_int

    def prepare(self) -> None:
        self._user32.PeekMessageW(ctypes.byref(self._message()), None, 0, 0, 0)

    def register(self, number: int, modifiers: int, virtual_key: int) -> int:
        if self._user32.RegisterHotKey(None, number, modifiers, virtual_key):
            return 0
        return ctypes.get_last_error() or -1  # type: ignore[attr-defined]

    def unregister(self, number: int) -> None:
        self._user32.UnregisterHotKey(None, number)

    def wait(self) -> int | None:
        message = self._message()
        while self._user32.GetMessageW(ctypes.byref(message), None, 0, 0) > 0:  # 0: to end; -1: an error
            if message.message == _WM_HOTKEY:
                return int(message.wParam)
        return None

    def quit(self, thread: int) -> None:
        self._user32.PostThreadMessageW(thread, _WM_QUIT, 0, 0)

    def down(self, virtual_key: int) -> bool:
        return self._user32.GetAsyncKeyState(virtual_key) < 0  # its highest bit is the sign

    def key_of(self, character: str) -> tuple[int, bool]:
        found = self._user32.VkKeyScanW(character)
        if found == -1 or found >> 8 & ~1:  # no key, or one that takes Ctrl or Alt (AltGr) already
            return 0, False
        return found & 0xFF, bool(found >> 8 & 1)

    def writes(self, virtual_key: int, shifted: bool) -> bool:
        held = bytearray(256)
        for modifier in (_VK_CONTROL, _VK_ALT, *((_VK_SHIFT,) if shifted else ())):
            held[modifier] = 0x80
        written = ctypes.create_unicode_buffer(8)
        layout = self._user32.GetKeyboardLayout(0)
        found = self._user32.ToUnicodeEx(virtual_key, 0, bytes(held), written, len(written), _LEAVE_ALONE, layout)
        if found < 0:
            return True  # an accent, for the letter that follows
        return any(character > " " and character != "\x7f" for character in written[: max(0, found)])
