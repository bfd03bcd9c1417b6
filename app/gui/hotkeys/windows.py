"""Hotkeys on Windows, which only reports presses. Releases are detected by polling."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QObject

from app.gui.design.motion import timer
from app.gui.hotkeys.hotkey import Hotkey, ThreadedGrabber

POLL_MS = 15
"""How often to poll whether a key is still down."""

CLOSE_SECONDS = 1.0
ALREADY_REGISTERED = 1409
MODIFIERS = {"alt": 0x1, "ctrl": 0x2, "shift": 0x4, "meta": 0x8}
NO_REPEAT = 0x4000
_WM_QUIT = 0x0012
_WM_HOTKEY = 0x0312
_VK_SHIFT, _VK_CONTROL, _VK_ALT = 0x10, 0x11, 0x12
_LEAVE_ALONE = 0x1 | 0x4
"""Flags for ToUnicodeEx: ignore number-pad (Alt) codes, and keep the state of a pending dead key."""


class _Grab(NamedTuple):
    """A key to grab, with the ID (`number`) under which it is registered."""

    number: int
    name: str
    modifiers: int
    virtual_key: int


class WindowsHotkeys(ThreadedGrabber):
    """Grabs keys on a separate thread, because Windows posts a hotkey's messages to the thread that registered it."""

    def __init__(self, parent: QObject | None = None, *, system: User32 | None = None) -> None:
        super().__init__(parent)
        self._system = system or User32()
        self._thread: threading.Thread | None = None
        self._keys: Mapping[str, Hotkey] = {}
        self._down: dict[str, int] = {}
        self._poll = timer(self, POLL_MS, self._check_released, repeats=True)

    def bind(self, keys: Mapping[str, Hotkey]) -> None:
        """Grabs the keys on a new thread, after rejecting those that don't work on this keyboard layout."""
        self.close()
        self._keys = dict(keys)
        grabs: list[_Grab] = []
        for number, (name, key) in enumerate(keys.items(), 1):
            virtual_key, shifted = key.virtual_key, "shift" in key.modifiers
            if key.character:
                virtual_key, needs_shift = self._system.key_of(key.character)
                shifted |= needs_shift
            modifiers = NO_REPEAT | sum(MODIFIERS[modifier] for modifier in key.modifiers - {"shift"})
            modifiers |= MODIFIERS["shift"] if shifted else 0
            altgr = {"ctrl", "alt"} <= key.modifiers and "meta" not in key.modifiers
            if not virtual_key:
                self.fail_missing(name, key)
            elif same := next((grab.name for grab in grabs if grab[2:] == (modifiers, virtual_key)), ""):
                self.fail_duplicate(name, key, keys[same])
            elif altgr and self._system.writes(virtual_key, shifted):
                sentence = self.tr("“{0}” writes a character on your keyboard (AltGr). Choose other keys.")
                self.failed.emit(name, sentence.format(key.text))
            else:
                grabs.append(_Grab(number, name, modifiers, virtual_key))
        if grabs:
            ready = threading.Event()
            self._thread = threading.Thread(
                target=self._run, args=(self._generation, grabs, ready), name="hotkeys", daemon=True
            )
            self._thread.start()
            ready.wait(CLOSE_SECONDS)

    def close(self) -> None:
        """Stops the thread, which ungrabs its keys."""
        self._generation += 1
        self._poll.stop()
        self._down.clear()
        thread, self._thread = self._thread, None
        if thread is not None and thread.native_id is not None:
            self._system.quit(thread.native_id)
            thread.join(CLOSE_SECONDS)

    def _run(self, generation: int, grabs: list[_Grab], ready: threading.Event) -> None:
        """The thread's main function. Grabs the keys, posts presses until it gets a quit message, then ungrabs them."""
        self._system.prepare()
        ready.set()
        grabbed: dict[int, _Grab] = {}
        for grab in grabs:
            if error := self._system.register(grab.number, grab.modifiers, grab.virtual_key):
                self.post(generation, partial(self._on_refused, grab.name, error))
            else:
                grabbed[grab.number] = grab
        while (number := self._system.wait()) is not None:
            if number in grabbed:
                self.post(generation, partial(self._on_pressed, grabbed[number]))
        for number in grabbed:
            self._system.unregister(number)

    def _on_pressed(self, grab: _Grab) -> None:
        self._down[grab.name] = grab.virtual_key
        self._poll.start()
        self.pressed.emit(grab.name)

    def _on_refused(self, name: str, error: int) -> None:
        key = self._keys[name]
        if error == ALREADY_REGISTERED:
            self.fail_taken(name, key)
        else:
            sentence = self.tr("Windows refuses “{0}” as a hotkey (error {1}). Choose another.")
            self.failed.emit(name, sentence.format(key.text, error))

    def _check_released(self) -> None:
        for name, virtual_key in tuple(self._down.items()):
            if not self._system.down(virtual_key):
                del self._down[name]
                self.released.emit(name)
        if not self._down:
            self._poll.stop()


class User32:
    """The calls to the Windows API.

    All except `down`, `key_of`, `writes` and `quit` must be called on the thread that called `prepare`.
    """

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
        user32.ToUnicodeEx.argtypes = (w.UINT, w.UINT, ctypes.c_char_p, ctypes.c_wchar_p, ctypes.c_int, w.UINT, w.HKL)
        user32.ToUnicodeEx.restype = ctypes.c_int

    def prepare(self) -> None:
        """Creates a message queue for the calling thread."""
        self._user32.PeekMessageW(ctypes.byref(self._message()), None, 0, 0, 0)

    def register(self, number: int, modifiers: int, virtual_key: int) -> int:
        """Registers a hotkey with the ID `number`; returns 0, or a Windows error code."""
        if self._user32.RegisterHotKey(None, number, modifiers, virtual_key):
            return 0
        return ctypes.get_last_error() or -1  # type: ignore[attr-defined]

    def unregister(self, number: int) -> None:
        """Unregisters a hotkey."""
        self._user32.UnregisterHotKey(None, number)

    def wait(self) -> int | None:
        """Waits for a hotkey to be pressed and returns its ID, or None if the thread should end."""
        message = self._message()
        while self._user32.GetMessageW(ctypes.byref(message), None, 0, 0) > 0:  # 0: quit; -1: error
            if message.message == _WM_HOTKEY:
                return int(message.wParam)
        return None

    def quit(self, thread: int) -> None:
        """Makes `wait` return None on the thread with this native ID."""
        self._user32.PostThreadMessageW(thread, _WM_QUIT, 0, 0)

    def down(self, virtual_key: int) -> bool:
        """Returns whether the key is currently down."""
        return self._user32.GetAsyncKeyState(virtual_key) < 0  # the highest bit is the sign

    def key_of(self, character: str) -> tuple[int, bool]:
        """Returns the virtual-key code that types `character` in this layout, or 0, and whether it needs Shift."""
        found = self._user32.VkKeyScanW(character)
        if found == -1 or found >> 8 & ~1:  # no key, or one that needs Ctrl or Alt (AltGr)
            return 0, False
        return found & 0xFF, bool(found >> 8 & 1)

    def writes(self, virtual_key: int, shifted: bool) -> bool:
        """Returns whether the key together with Ctrl+Alt (AltGr) types a visible character in the current layout."""
        held = bytearray(256)
        for modifier in (_VK_CONTROL, _VK_ALT, *((_VK_SHIFT,) if shifted else ())):
            held[modifier] = 0x80
        written = ctypes.create_unicode_buffer(8)
        layout = self._user32.GetKeyboardLayout(0)
        found = self._user32.ToUnicodeEx(virtual_key, 0, bytes(held), written, len(written), _LEAVE_ALONE, layout)
        if found < 0:
            return True  # a dead key
        return any(character > " " and character != "\x7f" for character in written[: max(0, found)])
