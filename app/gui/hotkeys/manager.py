"""Hotkeys that work while another window has the focus: one to talk, one to mute.

Picks what the desktop offers: X11's key grabs, Windows' hotkeys or the desktop portal of Wayland. Knows nothing of
talks, and nothing of how keys are taken.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.gui.hotkeys.hotkey import Grabber, Hotkey, HotkeyRefused, read_hotkey

_log = logging.getLogger(__name__)


class Hotkeys(QObject):
    """`talk_pressed` and `talk_released` come in turns; `mute_pressed` once for each press.

    `failed` tells, in a sentence, why a hotkey can't be had. `make` gives what takes the keys, None for nothing;
    it is called when the first keys are set. `granted` tells for "talk" and "mute" which keys the desktop uses, in its
    own words: empty when it does not tell, or no longer uses any. `tried_anew`: the keyboard has changed, and the keys
    are taken once more; nothing holds that `failed` has told before.
    """

    talk_pressed = Signal()
    talk_released = Signal()
    mute_pressed = Signal()
    failed = Signal(str)
    granted = Signal(str, str)
    tried_anew = Signal()

    def __init__(self, parent: QObject | None = None, *, make: Callable[[], Grabber | None] | None = None) -> None:
        super().__init__(parent)
        self._make = make or grabber_here
        self._grabber: Grabber | None = None
        self._bound: Mapping[str, Hotkey] = {}
        self._well = True
        self._wanted: set[str] = set()
        self._failed: set[str] = set()
        self._refused: dict[str, str] = {}
        self._granted: set[str] = set()
        self._down: set[str] = set()
        self._closed = False

    @property
    def none_work(self) -> bool:
        """Whether keys are set, and not one of them can be had."""
        return bool(self._wanted) and self._wanted <= self._failed

    @property
    def takes_from_fields(self) -> bool:
        """Whether keys that are taken never reach the app's own fields."""
        return self._grabber is not None and self._grabber.takes_from_fields

    def set_keys(self, talk: str, mute: str) -> None:
        """Takes these keys in place of those before; Qt's portable text, empty for none. Never raises.

        The same keys again are tried anew only if they failed.
        """
        if self._closed:
            return
        keys: dict[str, Hotkey] = {}
        refused: dict[str, str] = {}
        for name, text in (("talk", talk), ("mute", mute)):
            try:
                key = read_hotkey(text)
            except HotkeyRefused as error:
                refused[name] = str(error)
                continue
            if key is not None:
                keys[name] = key
        if len(keys) == 2 and keys["talk"] == keys["mute"]:
            sentence = self.tr("“{0}” can't both talk and mute: it only talks. Choose another key to mute.")
            refused["mute"] = sentence.format(keys.pop("mute").text)
        self._wanted, self._refused = {*keys, *refused}, refused
        self._failed = self._failed & set(keys) | set(refused)
        if keys != self._bound or not self._well:
            self._failed = set(refused)
            self._bind(keys)
        self._tell_refused()

    def hush(self) -> None:
        """Tells of no key any more; one that is held counts as let go. They are still taken, until `close`."""
        self._closed = True
        self._let_go()

    def close(self) -> None:
        """Gives the keys back, for good; a key that is held counts as let go. Waits for two seconds at most."""
        self.hush()
        if self._grabber is not None:
            self._grabber.close()

    def _bind(self, keys: Mapping[str, Hotkey]) -> None:
        self._let_go()
        for name in tuple(self._granted):
            self._key_granted(name, "")
        self._bound, self._well = keys, True
        if self._grabber is None:
            if not keys:
                return
            self._grabber = self._make()
            if self._grabber is None:
                return
            self._grabber.setParent(self)
            self._grabber.pressed.connect(self._key_down)
            self._grabber.released.connect(self._key_up)
            self._grabber.failed.connect(self._key_failed)
            self._grabber.granted.connect(self._key_granted)
            self._grabber.anew.connect(self._try_anew)
        self._grabber.bind(keys)

    def _key_down(self, name: str) -> None:
        if self._closed or name in self._down:
            return
        self._down.add(name)
        (self.talk_pressed if name == "talk" else self.mute_pressed).emit()

    def _key_up(self, name: str) -> None:
        if name in self._down:
            self._down.remove(name)
            if name == "talk":
                self.talk_released.emit()

    def _key_failed(self, name: str, sentence: str) -> None:
        if self._closed:
            return
        self._well = False
        names = {name} if name else set(self._bound)
        self._failed |= names
        for lost in names & self._granted:
            self._key_granted(lost, "")
        self.failed.emit(sentence)

    def _try_anew(self) -> None:
        if not self._closed:
            self._failed, self._well = set(self._refused), True
            self.tried_anew.emit()
            self._tell_refused()

    def _tell_refused(self) -> None:
        """Keys that can be nobody's hotkey, whatever the keyboard is."""
        self._well = self._well and not self._refused
        for sentence in self._refused.values():
            self.failed.emit(sentence)

    def _key_granted(self, name: str, words: str) -> None:
        if not self._closed:
            (self._granted.add if words else self._granted.discard)(name)
            if words:
                self._failed.discard(name)  # it has come to have a key
            self.granted.emit(name, words)

    def _let_go(self) -> None:
        for name in tuple(self._down):
            self._key_up(name)


def grabber_here() -> Grabber | None:
    """What takes keys on this desktop; None where there is none to take them from (a test's screen, macOS)."""
    kind = platform_kind(sys.platform, QGuiApplication.platformName(), os.environ)
    _log.info("hotkeys by %s", kind or "nothing")
    if kind == "windows":
        from app.gui.hotkeys.windows import WindowsHotkeys

        return WindowsHotkeys()
    if kind == "portal":
        from app.gui.hotkeys.portal import PortalHotkeys

        return PortalHotkeys()
    if kind == "x11":
        from app.gui.hotkeys.x11 import X11Hotkeys

        return X11Hotkeys()
    return None


def platform_kind(system: str, qt: str, environment: Mapping[str, str]) -> str:
    """ "windows", "portal", "x11" or "": `system` is Python's name for it, `qt` that of Qt's platform plugin.

    A window of X11 inside a Wayland session (XWayland) would only see the keys of its own kind: the portal it is.
    """
    if system == "win32":
        return "windows" if qt == "windows" else ""
    if not system.startswith("linux"):
        return ""
    if qt.startswith("wayland"):
        return "portal"
    if qt != "xcb":
        return ""
    session = environment.get("XDG_SESSION_TYPE", "")
    wayland = session == "wayland" or (session != "x11" and bool(environment.get("WAYLAND_DISPLAY")))
    return "portal" if wayland else "x11"
