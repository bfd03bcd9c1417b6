"""Hotkeys on X11, grabbed on the root window over a separate connection to the X server. Linux only."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from PySide6.QtCore import QObject, QSocketNotifier

from app.gui.design.motion import timer
from app.gui.hotkeys.hotkey import Grabber, Hotkey

REPEAT_MS = 40
"""A held key repeats as pairs of release and press, so a release counts only if no press follows within this time."""

_ALT = (0xFFE9, 0xFFEA)
_META = (0xFFEB, 0xFFEC, 0xFFE7, 0xFFE8)
_LOCKS = (0xFF7F, 0xFF14)
"""The keysyms of Num Lock and Scroll Lock. Caps Lock always has a fixed modifier."""

_log = logging.getLogger(__name__)


class X11Hotkeys(Grabber):
    """Grabs keys on `display`, by default the one named in the environment variable DISPLAY."""

    def __init__(self, parent: QObject | None = None, *, display: str | None = None) -> None:
        super().__init__(parent)
        self._name = display
        self._display: Any = None
        self._notifier: QSocketNotifier | None = None
        self._keys: Mapping[str, Hotkey] = {}
        self._names: dict[tuple[int, int], str] = {}
        self._grabbed: list[tuple[int, int]] = []
        self._plan: object = None
        self._modifiers = 0
        self._down: dict[int, str] = {}
        self._released: set[int] = set()
        self._remapped = False
        self._release_timer = timer(self, REPEAT_MS, self._flush_releases)

    def bind(self, keys: Mapping[str, Hotkey]) -> None:
        """Grabs the keys; blocks until the X server has replied."""
        self._keys = dict(keys)
        if self._display is None and not (keys and self._open()):
            return
        self._guarded(self._grab)

    def close(self) -> None:
        """Ungrabs the keys and disconnects."""
        self._keys = {}
        if self._display is not None:
            self._guarded(self._ungrab)
        self._drop()

    # -- the connection

    def _open(self) -> bool:
        try:
            from Xlib import display, error
        except ImportError as problem:
            self._fail_all(problem)
            return False
        try:
            self._display = display.Display(self._name)
        except (error.DisplayError, error.ConnectionClosedError, error.XauthError, OSError) as problem:
            self._fail_all(problem)
            return False
        self._display.set_error_handler(lambda problem, _request: _log.warning("X: %s", problem))
        self._notifier = QSocketNotifier(self._display.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._readable)
        return True

    def _readable(self) -> None:
        self._guarded(self._drain)

    def _guarded(self, work: Callable[[], None]) -> None:
        """Calls `work`. If the X connection fails, disconnects and emits `failed`."""
        from Xlib import error

        try:
            work()
            if self._display is not None:
                self._drain()  # reading replies may have queued events for which the notifier doesn't fire
        except (error.ConnectionClosedError, error.XError, OSError) as problem:
            self._drop()
            self._fail_all(problem)

    def _drop(self) -> None:
        self._release_timer.stop()
        if self._notifier is not None:
            self._notifier.setEnabled(False)
            self._notifier.deleteLater()
            self._notifier = None
        if self._display is not None:
            display, self._display = self._display, None
            try:
                display.close()
            except Exception as problem:  # may already be lost, for which the library raises various exceptions
                _log.info("X: %r", problem)
        self._names, self._grabbed, self._plan = {}, [], None
        self._forget_pressed()

    def _fail_all(self, problem: Exception) -> None:
        _log.warning("X: %s", repr(problem))  # not the exception itself, because its traceback references a socket
        sentence = self.tr("The X server can't be asked for hotkeys ({0}), so they don't work.")
        self.failed.emit("", sentence.format(type(problem).__name__))

    # -- grabbing

    def _grab(self) -> None:
        self._ungrab()
        self._plan = self._make_plan()
        codes, masks, locks = self._plan
        self._modifiers = masks["shift"] | masks["ctrl"] | masks["alt"] | masks["meta"]
        for name, key in self._keys.items():
            mine = codes[name]
            if not mine:
                self.fail_missing(name, key)
                continue
            if same := next((self._names[code] for code in mine if code in self._names), ""):
                self.fail_duplicate(name, key, self._keys[same])
                continue
            combinations = [(code, mask | lock) for code, mask in mine for lock in locks]
            granted = [self._grab_one(*combination) for combination in combinations]
            if not all(granted):
                for combination in combinations:
                    self._ungrab_one(*combination)
                self._display.sync()
                self.fail_taken(name, key)
                continue
            self._names.update(dict.fromkeys(mine, name))
            self._grabbed += combinations

    def _grab_one(self, code: int, mask: int) -> bool:
        from Xlib import X, error

        caught = error.CatchError(error.BadAccess)
        self._display.screen().root.grab_key(code, mask, False, X.GrabModeAsync, X.GrabModeAsync, onerror=caught)
        self._display.sync()
        return caught.get_error() is None

    def _ungrab(self) -> None:
        from Xlib import X

        for code, mask in self._grabbed:
            self._ungrab_one(code, mask)
        if self._down:
            self._display.ungrab_keyboard(X.CurrentTime)  # while a hotkey is held, the whole keyboard is grabbed
        self._names, self._grabbed = {}, []
        self._display.sync()
        self._forget_pressed()

    def _ungrab_one(self, code: int, mask: int) -> None:
        self._display.screen().root.ungrab_key(code, mask)

    def _make_plan(self) -> tuple[dict[str, list[tuple[int, int]]], dict[str, int], list[int]]:
        """Returns the (keycode, modifier mask) pairs to grab, keyed by name; the modifier masks; and all combinations
        of the lock modifiers, including none.
        """
        from Xlib import X

        of_code: dict[int, int] = {}
        for index, keycodes in enumerate(self._display.get_modifier_mapping()):
            for code in keycodes:
                if code:
                    of_code[code] = of_code.get(code, 0) | 1 << index

        def mask_of(keysyms: tuple[int, ...], default: int) -> int:
            for keysym in keysyms:
                for code, _ in self._display.keysym_to_keycodes(keysym):
                    if found := of_code.get(code, 0) & ~(X.ShiftMask | X.LockMask | X.ControlMask):
                        return found & -found
            return default

        masks = {
            "shift": X.ShiftMask,
            "ctrl": X.ControlMask,
            "alt": mask_of(_ALT, X.Mod1Mask),
            "meta": mask_of(_META, X.Mod4Mask),
        }
        locks = [0]
        for lock in dict.fromkeys((X.LockMask, *(mask_of((keysym,), 0) for keysym in _LOCKS))):
            if lock and lock not in masks.values():
                locks += [other | lock for other in locks]
        return {name: list(self._codes(key, masks)) for name, key in self._keys.items()}, masks, locks

    def _codes(self, key: Hotkey, masks: dict[str, int]) -> Iterator[tuple[int, int]]:
        """Yields the keycodes that produce this key in the first layout that has it, each with its modifier mask."""
        base = 0
        for modifier in key.modifiers:
            base |= masks[modifier]
        places = list(self._display.keysym_to_keycodes(key.keysym))
        # The columns of the keyboard map: unshifted and shifted for the first layout, then for the second, and so on.
        first = min((index for _, index in places), default=0)
        for code, index in places:
            if index == first:
                yield code, base | (masks["shift"] if index % 2 else 0)

    # -- events

    def _drain(self) -> None:
        from Xlib import X

        while self._display is not None and self._display.pending_events():
            event = self._display.next_event()
            if event.type == X.KeyPress:
                self._key_down(event.detail, event.state)
            elif event.type == X.KeyRelease:
                self._key_up(event.detail)
            elif event.type == X.MappingNotify:
                self._display.refresh_keyboard_mapping(event)
                self._remapped = True
        # This event is also sent when another keyboard is used, even if its layout is the same.
        if self._remapped and self._display is not None:
            self._remapped = False
            if self._make_plan() != self._plan:
                self.rebinding.emit()
                self._grab()

    def _key_down(self, code: int, state: int) -> None:
        if code in self._down:
            self._released.discard(code)  # an auto-repeat
            return
        if name := self._names.get((code, state & self._modifiers)):
            self._down[code] = name
            self.pressed.emit(name)

    def _key_up(self, code: int) -> None:
        if code in self._down:
            self._released.add(code)
            self._release_timer.start()

    def _flush_releases(self) -> None:
        if self._display is not None:
            self._guarded(self._drain)  # a press may already be waiting in the queue
        if self._release_timer.isActive():
            return  # another release has restarted the timer
        for code in tuple(self._released):
            self._released.discard(code)
            self.released.emit(self._down.pop(code))

    def _forget_pressed(self) -> None:
        self._released.clear()
        self._down.clear()
