"""Manages the hotkeys for talking and muting, using the grabber for the current desktop (X11, Windows or Wayland)."""

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
    """Emits `talk_pressed` and `talk_released` alternately, and `mute_pressed` once per press.

    `make` creates the grabber, or returns None if none supports this desktop. It is called when keys are first set.
    """

    talk_pressed = Signal()
    talk_released = Signal()
    mute_pressed = Signal()
    failed = Signal(str)
    """Emits a message explaining why a hotkey doesn't work."""
    granted = Signal(str, str)
    """Emits "talk" or "mute" and the desktop's description of its keys, which is empty once those are gone."""
    rebinding = Signal()
    """Emitted when the keyboard layout has changed, before the keys are regrabbed. Earlier failures no longer apply."""

    def __init__(self, parent: QObject | None = None, *, make: Callable[[], Grabber | None] | None = None) -> None:
        super().__init__(parent)
        self._make = make or grabber_here
        self._grabber: Grabber | None = None
        self._bound: Mapping[str, Hotkey] = {}
        self._set: set[str] = set()
        self._failed: set[str] = set()
        self._refused: dict[str, str] = {}
        self._granted: set[str] = set()
        self._down: set[str] = set()
        self._closed = False

    @property
    def none_work(self) -> bool:
        """Whether keys are set and all of them have failed."""
        return bool(self._set) and self._set <= self._failed

    @property
    def grabs_exclusively(self) -> bool:
        """Whether grabbed keys never reach the app's own text fields. False until keys are set for the first time."""
        return self._grabber is not None and self._grabber.grabs_exclusively

    def set_keys(self, talk: str, mute: str) -> None:
        """Replaces the grabbed keys with these, in Qt's portable text or empty for none. Never raises.

        If neither key has changed, they are regrabbed only if one of them had failed.
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
        self._set, self._refused = {*keys, *refused}, refused
        bind = keys != self._bound or bool(self._failed)
        self._failed = set(refused)
        if bind:
            self._bind(keys)
        self._emit_refused()

    def stop_reporting(self) -> None:
        """Stops emitting key events, after emitting the release of held keys. The keys stay grabbed until `close`."""
        self._closed = True
        self._release_all()

    def close(self) -> None:
        """Emits the release of held keys, then permanently ungrabs all keys. Blocks for at most two seconds."""
        self.stop_reporting()
        if self._grabber is not None:
            self._grabber.close()

    def _bind(self, keys: Mapping[str, Hotkey]) -> None:
        self._release_all()
        for name in tuple(self._granted):
            self._on_granted(name, "")
        self._bound = keys
        if self._grabber is None:
            if not keys:
                return
            self._grabber = self._make()
            if self._grabber is None:
                return
            self._grabber.setParent(self)
            self._grabber.pressed.connect(self._on_pressed)
            self._grabber.released.connect(self._on_released)
            self._grabber.failed.connect(self._on_failed)
            self._grabber.granted.connect(self._on_granted)
            self._grabber.rebinding.connect(self._on_rebinding)
        self._grabber.bind(keys)

    def _on_pressed(self, name: str) -> None:
        if self._closed or name in self._down or name not in self._bound:
            return
        self._down.add(name)
        (self.talk_pressed if name == "talk" else self.mute_pressed).emit()

    def _on_released(self, name: str) -> None:
        if name in self._down:
            self._down.remove(name)
            if name == "talk":
                self.talk_released.emit()

    def _on_failed(self, name: str, sentence: str) -> None:
        if self._closed:
            return
        names = {name} if name else set(self._bound)
        self._failed |= names
        for failed in names:
            self._on_released(failed)
            if failed in self._granted:
                self._on_granted(failed, "")
        self.failed.emit(sentence)

    def _on_rebinding(self) -> None:
        if not self._closed:
            self._release_all()
            self._failed = set(self._refused)
            self.rebinding.emit()
            self._emit_refused()

    def _emit_refused(self) -> None:
        for sentence in self._refused.values():
            self.failed.emit(sentence)

    def _on_granted(self, name: str, words: str) -> None:
        if not self._closed:
            (self._granted.add if words else self._granted.discard)(name)
            if words:
                self._failed.discard(name)  # the user has since assigned keys
            self.granted.emit(name, words)

    def _release_all(self) -> None:
        for name in tuple(self._down):
            self._on_released(name)


def grabber_here() -> Grabber | None:
    """Returns the grabber for the current desktop, or None if there is none, as on macOS and in offscreen tests."""
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
    """Returns the kind of grabber to use: "windows", "portal", "x11", or "" for none.

    `system`: the value of `sys.platform`. `qt`: the name of Qt's platform plugin.

    In a Wayland session, an X11 client (under XWayland) only receives keys typed into X11 windows, so it needs the
    portal as well.
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
