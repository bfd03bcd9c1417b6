"""Hotkeys on Wayland, where only the desktop can grab keys: its portal is asked for them. Linux only.

The desktop may show its user a dialog, in which the user may choose other keys.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from PySide6.QtCore import QObject

from app.gui.hotkeys.grabber import ThreadedGrabber
from app.gui.hotkeys.hotkey import Hotkey
from app.gui.hotkeys.portal_session import PortalSession, Report, Shortcut

_MODIFIERS = {"ctrl": "CTRL", "alt": "ALT", "shift": "SHIFT", "meta": "LOGO"}

_log = logging.getLogger(__name__)


class PortalHotkeys(ThreadedGrabber):
    """Keeps one session of the portal for each set of keys. `address`: the message bus, None for the user's own."""

    grabs_exclusively = False  # giving keys back ends the session, and the next one may ask the user again

    def __init__(self, parent: QObject | None = None, *, address: str | None = None) -> None:
        super().__init__(parent)
        self._address = address or "SESSION"
        self._session: PortalSession | None = None
        self._texts: dict[str, str] = {}

    def bind(self, keys: Mapping[str, Hotkey]) -> None:
        """Opens a session for the keys and returns at once; the desktop's user may be asked first."""
        self.close()
        self._texts = {name: key.text for name, key in keys.items()}
        if keys:
            descriptions = {"talk": self.tr("Talk to KAME"), "mute": self.tr("Mute the microphone for KAME")}
            shortcuts = [Shortcut(name, descriptions.get(name, name), trigger(key)) for name, key in keys.items()]
            current = self._generation
            self._session = PortalSession(
                self._address, shortcuts, lambda *report: self.post(current, lambda: self._on_report(*report))
            )
            self._session.start()

    def close(self) -> None:
        """Ends the session."""
        self._generation += 1
        session, self._session = self._session, None
        if session is not None:
            session.end()

    def _on_report(self, report: Report, detail: str, words: str) -> None:
        match report:
            case "pressed" | "released" | "granted" | "keyless" if detail not in self._texts:
                pass
            case "pressed":
                self.pressed.emit(detail)
            case "released":
                self.released.emit(detail)
            case "granted":
                self.granted.emit(detail, words)
            case "keyless":
                sentence = self.tr("The desktop gave “{0}” no key. Choose one in its settings for keyboard shortcuts.")
                self.failed.emit(detail, sentence.format(self._texts[detail]))
            case _:
                _log.warning("hotkeys: %s (%s)", report, detail)
                self.failed.emit("", self._reason(report, detail))

    def _reason(self, report: Report, detail: str) -> str:
        match report:
            case "cancelled":
                return self.tr("The desktop's dialog for hotkeys was cancelled, so there are none.")
            case "ended":
                return self.tr("The desktop ended the app's hotkeys, so there are none any more.")
            case "refused":
                return self.tr("The desktop refuses this app hotkeys ({0}), so there are none.").format(detail)
            case "no answer":
                return self.tr("The desktop did not answer when asked for hotkeys, so there are none.")
        return self.tr("This desktop offers programs no hotkeys, so there are none.")


def trigger(key: Hotkey) -> str:
    """Writes a hotkey as the XDG shortcuts specification does: "CTRL+ALT+space"."""
    name = key.name
    if not name:
        from Xlib import XK

        # Characters have names too (“comma”); a few have an older one besides, and any will do.
        names = (word[3:] for word, number in vars(XK).items() if word.startswith("XK_") and number == key.keysym)
        name = next(names, key.character)
    return "+".join((*(word for modifier, word in _MODIFIERS.items() if modifier in key.modifiers), name))
