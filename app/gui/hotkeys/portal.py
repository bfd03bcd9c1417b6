"""Hotkeys on Wayland, where only the desktop can grab keys and apps request them through its portal. Linux only.

The desktop may show a dialog in which the user can choose other keys. Each session of the portal
org.freedesktop.portal.GlobalShortcuts runs on its own thread, independent of Qt, over a minimal D-Bus connection.
"""

from __future__ import annotations

import logging
import os
import secrets
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from PySide6.QtCore import QObject

from app.gui.hotkeys.hotkey import Hotkey, ThreadedGrabber
from app.settings.paths import APP_ID

if sys.platform.startswith("linux"):  # the library isn't installed on other systems
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
"""The kinds of reports. The first four concern a single key; the others state why the session has ended."""


class Shortcut(NamedTuple):
    """A shortcut to request from the portal; `trigger` has the form "CTRL+ALT+space"."""

    name: str
    description: str
    trigger: str


class _Ended(Exception):
    """The session has ended. `str(error)` contains the details."""

    def __init__(self, report: Report, details: str = "") -> None:
        super().__init__(details)
        self.report = report


class PortalSession(threading.Thread):
    """A thread that requests shortcuts from the portal and reports their presses and releases.

    `report` is called on this thread with three arguments: the kind of report; the key's name, or details of an error;
    and for "granted", the desktop's description of the assigned keys.
    """

    def __init__(self, address: str, shortcuts: list[Shortcut], report: Callable[[Report, str, str], None]) -> None:
        super().__init__(name="hotkeys", daemon=True)
        self._bus = BusConnection(address)
        self._shortcuts = shortcuts
        self._report = report
        self._session = ""
        self._ending = False

    def end(self) -> None:
        """Closes the session and waits up to `CLOSE_SECONDS` for the thread to end."""
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
            pass  # `end` was called
        except _Ended as error:
            ended = error
        except CallFailed as error:
            ended = _Ended("not supported" if error.absent else "refused", str(error))
        except TimeoutError:
            ended = _Ended("no answer")
        except Exception as error:  # no bus or a lost connection, for which the library raises various exceptions
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
        try:  # newer portals require an app ID with an installed menu entry
            self._bus.call(PORTAL, PATH, f"{REGISTRY}.Register", "sa{sv}", (APP_ID, {}))
        except CallFailed as error:  # an older portal, no menu entry, or a sandbox, where this isn't needed
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
        # No timeout, because the desktop may show a dialog.
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
        """Sends a request to the portal and waits for the response. Signals received meanwhile are handled afterwards.

        Raises _Ended, CallFailed or TimeoutError.
        """
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


if sys.platform.startswith("linux"):  # the library isn't installed on other systems
    from jeepney import DBusAddress, HeaderFields, MatchRule, Message, MessageType, new_method_call
    from jeepney.bus_messages import message_bus
    from jeepney.io.threading import ReceiveStopped, open_dbus_connection

REPLY_SECONDS = 30.0
"""The timeout for replies, which is long because the service may have to be started first."""

_ABSENT = ("ServiceUnknown", "NameHasNoOwner", "UnknownMethod", "UnknownInterface", "UnknownObject")


class BusSignal(NamedTuple):
    """A D-Bus signal."""

    path: str
    interface: str
    member: str
    body: tuple[Any, ...]


class CallFailed(Exception):
    """A D-Bus method call returned an error. `absent`: the service, object or method does not exist."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text or name)
        self.absent = name.rpartition(".")[2] in _ABSENT or name.startswith("org.freedesktop.DBus.Error.Spawn")


class BusConnection:
    """A minimal D-Bus connection. Only `interrupt` may be called from another thread."""

    def __init__(self, address: str) -> None:
        """Creates an unconnected instance. `address`: a D-Bus address, or "SESSION" for the user's session bus."""
        self._address = address
        self._connection: Any = None
        self._unread: deque[Message] = deque()
        self._lock = threading.Lock()
        self._interrupted = False

    def open(self) -> None:
        """Connects to the bus. Raises OSError or an exception of the D-Bus library if there is no bus, and
        ReceiveStopped if `interrupt` has already been called.
        """
        connection = open_dbus_connection(self._address)
        with self._lock:
            self._connection = connection
            if self._interrupted:
                raise ReceiveStopped

    def interrupt(self) -> None:
        """Causes the current or next blocking call to raise ReceiveStopped."""
        with self._lock:
            self._interrupted = True
            if self._connection is not None:
                self._connection.interrupt()

    def close(self) -> None:
        """Disconnects from the bus."""
        with self._lock:  # prevents `interrupt` from writing to a closed pipe whose descriptor has been reused
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
            for pipe in (connection._stop_r, connection._stop_w):  # the library doesn't close them
                os.close(pipe)

    def subscribe(self, sender: str, interface: str = "", member: str = "", argument: str = "") -> None:
        """Subscribes to all matching signals. Empty values match anything; `argument` must equal a signal's first
        argument. Raises CallFailed or TimeoutError.
        """
        rule = MatchRule(type="signal", sender=sender, interface=interface or None, member=member or None)
        if argument:
            rule.add_arg_condition(0, argument)
        self._request(message_bus.AddMatch(rule))

    def call(self, service: str, path: str, method: str, signature: str, body: tuple[Any, ...]) -> tuple[Any, ...]:
        """Calls `method` ("interface.Method") and returns the body of the reply. Raises CallFailed or TimeoutError."""
        return self._request(_method_call(service, path, method, signature, body))

    def send(self, service: str, path: str, method: str) -> None:
        """Calls a method without arguments, without waiting for a reply. OSErrors are logged, not raised."""
        if self._connection is not None:
            try:
                self._connection.send(_method_call(service, path, method))
            except OSError as error:
                _log.info("D-Bus: %r", error)

    def next_signal(self, timeout: float | None) -> BusSignal:
        """Waits for the next signal. Raises TimeoutError after `timeout` seconds; None waits indefinitely."""
        while True:
            message = self._unread.popleft() if self._unread else self._connection.receive(timeout=timeout)
            if message.header.message_type is MessageType.signal:
                get = message.header.fields.get
                path, interface = get(HeaderFields.path, ""), get(HeaderFields.interface, "")
                return BusSignal(path, interface, get(HeaderFields.member, ""), message.body)

    def _request(self, message: Message) -> tuple[Any, ...]:
        serial = next(self._connection.outgoing_serial)
        self._connection.send(message, serial=serial)
        while True:
            reply = self._connection.receive(timeout=REPLY_SECONDS)
            if reply.header.fields.get(HeaderFields.reply_serial) != serial:
                self._unread.append(reply)
                continue
            if reply.header.message_type is MessageType.error:
                text = next((word for word in reply.body if isinstance(word, str)), "")
                raise CallFailed(reply.header.fields.get(HeaderFields.error_name, ""), text)
            return reply.body


def _method_call(service: str, path: str, method: str, signature: str = "", body: tuple[Any, ...] = ()) -> Message:
    interface, _, member = method.rpartition(".")
    return new_method_call(DBusAddress(path, service, interface), member, signature or None, body)


_MODIFIERS = {"ctrl": "CTRL", "alt": "ALT", "shift": "SHIFT", "meta": "LOGO"}

_log = logging.getLogger(__name__)


class PortalHotkeys(ThreadedGrabber):
    """Runs a portal session for each set of keys. `address` is a D-Bus address, or None for the user's session bus."""

    grabs_exclusively = False  # releasing keys ends the session, and the next session may prompt the user again

    def __init__(self, parent: QObject | None = None, *, address: str | None = None) -> None:
        super().__init__(parent)
        self._address = address or "SESSION"
        self._session: PortalSession | None = None
        self._texts: dict[str, str] = {}

    def bind(self, keys: Mapping[str, Hotkey]) -> None:
        """Opens a session for the keys in the background, since the desktop may prompt the user."""
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
    """Returns a hotkey in the format of the XDG shortcuts specification, e.g. "CTRL+ALT+space"."""
    name = key.name
    if not name:
        from Xlib import XK

        # Characters also have keysym names ("comma"). A few have two, either of which works.
        names = (word[3:] for word, number in vars(XK).items() if word.startswith("XK_") and number == key.keysym)
        name = next(names, key.character)
    return "+".join((*(word for modifier, word in _MODIFIERS.items() if modifier in key.modifiers), name))
