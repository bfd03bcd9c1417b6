"""One session of the desktop portal org.freedesktop.portal.GlobalShortcuts, on a thread of its own. Without Qt."""

from __future__ import annotations

import logging
import secrets
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from app.gui.hotkeys.dbus import REPLY_SECONDS, BusConnection, BusSignal, CallFailed
from app.settings.paths import APP_ID

if sys.platform.startswith("linux"):  # elsewhere the library is not installed
    from jeepney.io.threading import ReceiveStopped

PORTAL = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
REQUEST = "org.freedesktop.portal.Request"
SESSION = "org.freedesktop.portal.Session"
REGISTRY = "org.freedesktop.host.portal.Registry"

CLOSE_SECONDS = 1.5

Report = Literal[
    "pressed", "released", "granted", "keyless", "cancelled", "ended", "refused", "no answer", "not supported"
]
"""The first four concern one key; the others say why the session is over."""

_log = logging.getLogger(__name__)


class Shortcut(NamedTuple):
    """A shortcut that the portal is asked for; `trigger` is written as in "CTRL+ALT+space"."""

    name: str
    description: str
    trigger: str


class _Ended(Exception):
    """The session is over; `str(error)` has the details."""

    def __init__(self, report: Report, details: str = "") -> None:
        super().__init__(details)
        self.report = report


class PortalSession(threading.Thread):
    """Asks for shortcuts and reports their presses.

    `report` is called on this thread with the kind of report, the key's name or the details, and for "granted" the
    desktop's words for the keys that it uses.
    """

    def __init__(self, address: str, shortcuts: list[Shortcut], report: Callable[[Report, str, str], None]) -> None:
        super().__init__(name="hotkeys", daemon=True)
        self._bus = BusConnection(address)
        self._shortcuts = shortcuts
        self._report = report
        self._session = ""
        self._ending = False

    def end(self) -> None:
        """Closes the session, and waits for that for `CLOSE_SECONDS` at most."""
        self._ending = True
        self._bus.interrupt()
        if self.is_alive():
            self.join(CLOSE_SECONDS)

    def run(self) -> None:
        """Connects, binds the shortcuts, and reports signals until the session ends."""
        ended: _Ended | None = None
        try:
            self._bus.open()
            self._bind()
            while True:
                self._handle(self._bus.next_signal(None))
        except ReceiveStopped:
            pass  # `end`
        except _Ended as error:
            ended = error
        except CallFailed as error:
            ended = _Ended("not supported" if error.absent else "refused", str(error))
        except TimeoutError:
            ended = _Ended("no answer")
        except Exception as error:  # no bus, or one that was lost; the library raises many kinds
            ended = _Ended("ended" if self._session else "not supported", repr(error))
        if self._session:
            self._bus.send(PORTAL, self._session, f"{SESSION}.Close")
        self._bus.close()
        if ended is not None and not self._ending:
            self._report(ended.report, str(ended), "")

    def _bind(self) -> None:
        for interface in (REQUEST, SHORTCUTS, SESSION):
            self._bus.subscribe(PORTAL, interface)
        self._bus.subscribe("org.freedesktop.DBus", member="NameOwnerChanged", argument=PORTAL)
        try:  # newer portals require an app id, whose menu entry is installed
            self._bus.call(PORTAL, PATH, f"{REGISTRY}.Register", "sa{sv}", (APP_ID, {}))
        except CallFailed as error:  # an older portal, one without the menu entry, or a sandbox, which needs none
            _log.info("hotkeys: the portal does not register the app: %s", error)
        token = "kame" + secrets.token_hex(8)
        options = {"handle_token": ("s", token), "session_handle_token": ("s", token)}
        results = self._request("CreateSession", "a{sv}", (options,), REPLY_SECONDS)
        self._session = str(results.get("session_handle", ("s", ""))[1])
        if not self._session:
            raise _Ended("refused", "no session")
        shortcuts = [
            (name, {"description": ("s", description), "preferred_trigger": ("s", trigger)})
            for name, description, trigger in self._shortcuts
        ]
        body = (self._session, shortcuts, "", {"handle_token": ("s", token + "b")})
        # The desktop may show a dialog, so there is no time limit.
        results = self._request("BindShortcuts", "oa(sa{sv})sa{sv}", body, None)
        if "shortcuts" in results:
            bound = dict(results["shortcuts"][1])
            for shortcut in self._shortcuts:
                if shortcut.name not in bound:
                    self._report("keyless", shortcut.name, "")
            self._report_granted(bound)

    def _request(
        self, method: str, signature: str, body: tuple[Any, ...], timeout: float | None
    ) -> Mapping[str, tuple[str, Any]]:
        """Makes a request and waits for its response. Raises _Ended, CallFailed, TimeoutError."""
        handle = self._bus.call(PORTAL, PATH, f"{SHORTCUTS}.{method}", signature, body)[0]
        postponed: list[BusSignal] = []
        try:
            while True:
                signal = self._bus.next_signal(timeout)
                if signal[:3] == (handle, REQUEST, "Response"):
                    code, results = signal.body
                    if code:
                        raise _Ended("cancelled" if code == 1 else "refused", f"response {code}")
                    return results
                self._check_open(signal)
                postponed.append(signal)
        finally:
            for signal in postponed:
                self._handle(signal)

    def _check_open(self, signal: BusSignal) -> None:
        closed = bool(self._session) and signal[:3] == (self._session, SESSION, "Closed")
        gone = (
            signal.member == "NameOwnerChanged" and signal.body[0] == PORTAL and signal.body[1] and not signal.body[2]
        )
        if closed or gone:
            self._session = ""
            raise _Ended("ended", signal.member)

    def _handle(self, signal: BusSignal) -> None:
        self._check_open(signal)
        if signal.interface != SHORTCUTS or signal.body[0] != self._session:
            return
        match signal.member:
            case "Activated":
                self._report("pressed", signal.body[1], "")
            case "Deactivated":
                self._report("released", signal.body[1], "")
            case "ShortcutsChanged":
                self._report_granted(dict(signal.body[1]))

    def _report_granted(self, shortcuts: Mapping[str, Mapping[str, tuple[str, Any]]]) -> None:
        for name, properties in shortcuts.items():
            if "trigger_description" in properties:
                self._report("granted", name, str(properties["trigger_description"][1]))
