"""Hotkeys on Wayland, where only the desktop may take keys: it is asked for them.

Speaks to the portal org.freedesktop.portal.GlobalShortcuts. The desktop may show its user a dialog, and the user may
choose other keys there. Each set of keys is one session of the portal, on a thread and a connection of its own. Knows
nothing of what the keys do. Linux only.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from app.gui.hotkeys.hotkey import Grabber, Hotkey
from app.settings.paths import APP_ID

PORTAL = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
REQUEST = "org.freedesktop.portal.Request"
SESSION = "org.freedesktop.portal.Session"
REGISTRY = "org.freedesktop.host.portal.Registry"

ANSWER_SECONDS = 30.0
"""The portal may have to be started first."""

CLOSE_SECONDS = 1.5
_MODIFIERS = {"ctrl": "CTRL", "alt": "ALT", "shift": "SHIFT", "meta": "LOGO"}

_log = logging.getLogger(__name__)


class PortalHotkeys(Grabber):
    """Has a `_Binding` for the keys in force. `address`: the message bus, None for the user's own."""

    takes_from_fields = False  # to give keys back ends the session, and the next may ask the user anew
    _told = Signal(int, str, str, str)

    def __init__(self, parent: QObject | None = None, *, address: str | None = None) -> None:
        super().__init__(parent)
        self._address = address or "SESSION"
        self._binding: _Binding | None = None
        self._round = 0
        self._down: set[str] = set()
        self._texts: dict[str, str] = {}
        self._told.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def bind(self, keys: Mapping[str, Hotkey]) -> None:
        """See Grabber. Returns at once; the desktop's user may be asked first."""
        self._end()
        self._round += 1
        self._texts = {name: key.text for name, key in keys.items()}
        if keys:
            words = {"talk": self.tr("Talk to KAME"), "mute": self.tr("Mute the microphone for KAME")}
            wanted = [(name, words.get(name, name), trigger(key)) for name, key in keys.items()]
            current = self._round
            self._binding = _Binding(self._address, wanted, lambda *said: self._told.emit(current, *said))
            self._binding.start()

    def close(self) -> None:
        """See Grabber."""
        self._round += 1
        self._end()

    def _end(self) -> None:
        binding, self._binding = self._binding, None
        if binding is not None:
            binding.end()
        self._release_all()

    def _release_all(self) -> None:
        down, self._down = self._down, set()
        for name in down:
            self.released.emit(name)

    def _take(self, round: int, what: str, word: str, more: str) -> None:
        """On the window's thread: something that the binding told."""
        if round != self._round:
            return
        if what == "down":
            if word in self._texts and word not in self._down:
                self._down.add(word)
                self.pressed.emit(word)
        elif what == "up":
            if word in self._down:
                self._down.remove(word)
                self.released.emit(word)
        elif what == "granted":
            if word in self._texts:
                self.granted.emit(word, more)
        elif what == "keyless":
            sentence = self.tr("The desktop gave “{0}” no key. Choose one in its settings for keyboard shortcuts.")
            self.failed.emit(word, sentence.format(self._texts.get(word, word)))
        else:
            self._release_all()
            _log.warning("hotkeys: %s (%s)", what, word)
            reasons = {
                "cancelled": self.tr("The desktop's dialog for hotkeys was cancelled, so there are none."),
                "ended": self.tr("The desktop ended the app's hotkeys, so there are none any more."),
                "refused": self.tr("The desktop refuses this app hotkeys ({0}), so there are none.").format(word),
                "silent": self.tr("The desktop did not answer when asked for hotkeys, so there are none."),
            }
            absent = self.tr("This desktop offers programs no hotkeys, so there are none.")
            self.failed.emit("", reasons.get(what, absent))


def trigger(key: Hotkey) -> str:
    """A hotkey as the specification for shortcuts writes it: "CTRL+ALT+space"."""
    name = key.name
    if not name:
        from Xlib import XK

        # Characters have names too (“comma”); a few have an older one besides, and any will do.
        names = [word[3:] for word, number in vars(XK).items() if word.startswith("XK_") and number == key.keysym]
        name = names[0] if names else key.character
    return "+".join((*(word for modifier, word in _MODIFIERS.items() if modifier in key.modifiers), name))


class _Refused(Exception):
    """The portal won't: `what` for the sentence, `str(error)` for the details."""

    def __init__(self, what: str, details: str = "") -> None:
        super().__init__(details)
        self.what = what


class _Binding(threading.Thread):
    """One session of the portal.

    `tell` is called on this thread: "down" and "up" with a key's name, "granted" with its name and the desktop's words
    for the keys that it uses, or how it ended and details; the third word is empty otherwise.

    `wanted`: name, description and trigger of each key.
    """

    def __init__(self, address: str, wanted: list[tuple[str, str, str]], tell: Callable[[str, str, str], None]) -> None:
        super().__init__(name="hotkeys", daemon=True)
        self._address = address
        self._wanted = wanted
        self._tell = tell
        self._connection: Any = None
        self._session = ""
        self._backlog: deque[Any] = deque()
        self._lock = threading.Lock()
        self._ending = False

    def end(self) -> None:
        """Has the thread close the session, and waits for it for `CLOSE_SECONDS` at most."""
        with self._lock:
            self._ending = True
            if self._connection is not None:
                self._connection.interrupt()
        if self.is_alive():
            self.join(CLOSE_SECONDS)

    def run(self) -> None:
        """Connects, binds, listens until it is ended."""
        from jeepney.io.threading import ReceiveStopped

        what, details = "", ""
        try:
            self._open()
            self._bind()
            self._listen()
        except ReceiveStopped:
            pass  # `end`
        except _Refused as refused:
            what, details = refused.what, str(refused)
        except TimeoutError:
            what = "silent"
        except Exception as error:  # no bus, or one that was lost; it says so in many ways
            what, details = ("ended" if self._session else "absent"), repr(error)
        self._close()
        if what and not self._ending:
            self._say(what, details)

    def _say(self, what: str, word: str, more: str = "") -> None:
        try:
            self._tell(what, word, more)
        except RuntimeError as error:  # the window has gone
            _log.info("hotkeys: %s", error)

    # -- the connection

    def _open(self) -> None:
        from jeepney.io.threading import ReceiveStopped, open_dbus_connection

        connection = open_dbus_connection(self._address)
        with self._lock:
            self._connection = connection
            if self._ending:
                raise ReceiveStopped

    def _close(self) -> None:
        with self._lock:  # `end` must not write to a pipe whose number is someone else's by then
            connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if self._session:
                connection.send(self._call(self._session, SESSION, "Close"))
        except OSError as error:
            _log.info("hotkeys: %r", error)
        connection.close()
        for pipe in (connection._stop_r, connection._stop_w):  # which the connection leaves open
            os.close(pipe)

    def _call(self, path: str, interface: str, method: str, signature: str = "", body: tuple[Any, ...] = ()) -> Any:
        from jeepney import DBusAddress, new_method_call

        return new_method_call(DBusAddress(path, PORTAL, interface), method, signature or None, body)

    def _ask(self, message: Any) -> tuple[Any, ...]:
        """Sends a call and waits for its answer. Raises _Refused, TimeoutError."""
        from jeepney import HeaderFields, MessageType

        serial = next(self._connection.outgoing_serial)
        self._connection.send(message, serial=serial)
        while True:
            answer = self._connection.receive(timeout=ANSWER_SECONDS)
            if answer.header.fields.get(HeaderFields.reply_serial) != serial:
                self._backlog.append(answer)
                continue
            if answer.header.message_type is MessageType.error:
                name = answer.header.fields.get(HeaderFields.error_name, "")
                text = next((word for word in answer.body if isinstance(word, str)), "") or name
                absent = name.rpartition(".")[2] in (
                    "ServiceUnknown",
                    "NameHasNoOwner",
                    "UnknownMethod",
                    "UnknownInterface",
                    "UnknownObject",
                )
                raise _Refused(
                    "absent" if absent or name.startswith("org.freedesktop.DBus.Error.Spawn") else "refused", text
                )
            return answer.body

    def _signal(self, timeout: float | None) -> tuple[str, str, str, tuple[Any, ...]]:
        """The next signal: path, interface, name, body. Raises TimeoutError after `timeout` seconds."""
        from jeepney import HeaderFields, MessageType

        while True:
            message = self._backlog.popleft() if self._backlog else self._connection.receive(timeout=timeout)
            if message.header.message_type is MessageType.signal:
                fields = message.header.fields
                return (
                    fields.get(HeaderFields.path, ""),
                    fields.get(HeaderFields.interface, ""),
                    fields.get(HeaderFields.member, ""),
                    message.body,
                )

    # -- the portal

    def _bind(self) -> None:
        from jeepney import MatchRule
        from jeepney.bus_messages import message_bus

        for interface in (REQUEST, SHORTCUTS, SESSION):
            self._ask(message_bus.AddMatch(MatchRule(type="signal", sender=PORTAL, interface=interface)))
        owner = MatchRule(type="signal", sender="org.freedesktop.DBus", member="NameOwnerChanged")
        owner.add_arg_condition(0, PORTAL)
        self._ask(message_bus.AddMatch(owner))
        try:  # newer portals want a menu entry of this name to be installed
            self._ask(self._call(PATH, REGISTRY, "Register", "sa{sv}", (APP_ID, {})))
        except _Refused as refused:  # an older portal, one without the desktop entry, or a sandbox, which needs none
            _log.info("hotkeys: the portal does not register the app: %s", refused)
        token = "kame" + secrets.token_hex(8)
        options = {"handle_token": ("s", token), "session_handle_token": ("s", token)}
        results = self._respond(self._call(PATH, SHORTCUTS, "CreateSession", "a{sv}", (options,)), ANSWER_SECONDS)
        self._session = str(results.get("session_handle", ("s", ""))[1])
        if not self._session:
            raise _Refused("refused", "no session")
        shortcuts = [
            (name, {"description": ("s", words), "preferred_trigger": ("s", keys)})
            for name, words, keys in self._wanted
        ]
        options = {"handle_token": ("s", token + "b")}
        call = self._call(PATH, SHORTCUTS, "BindShortcuts", "oa(sa{sv})sa{sv}", (self._session, shortcuts, "", options))
        results = self._respond(call, None)  # the user may be asked, and take their time
        bound = dict(results["shortcuts"][1]) if "shortcuts" in results else None
        for name, *_ in self._wanted:
            if bound is not None and name not in bound:
                self._say("keyless", name)
        self._say_granted(bound or {})

    def _say_granted(self, shortcuts: Mapping[str, Mapping[str, tuple[str, Any]]]) -> None:
        for name, about in shortcuts.items():
            if "trigger_description" in about:
                self._say("granted", name, str(about["trigger_description"][1]))

    def _respond(self, call: Any, timeout: float | None) -> Mapping[str, tuple[str, Any]]:
        """Makes a request and waits for its response. Raises _Refused; TimeoutError after `timeout` seconds."""
        handle = self._ask(call)[0]
        other = []
        try:
            while True:
                path, interface, name, body = signal = self._signal(timeout)
                if (path, interface, name) == (handle, REQUEST, "Response"):
                    code, results = body
                    if code:
                        raise _Refused("cancelled" if code == 1 else "refused", f"response {code}")
                    return results
                self._check_alive(*signal)
                other.append(signal)
        finally:
            for path, interface, name, body in other:
                self._pass_on(path, interface, name, body)

    def _listen(self) -> None:
        while True:
            signal = self._signal(None)
            self._check_alive(*signal)
            self._pass_on(*signal)

    def _check_alive(self, path: str, interface: str, name: str, body: tuple[Any, ...]) -> None:
        closed = bool(self._session) and (path, interface, name) == (self._session, SESSION, "Closed")
        gone = name == "NameOwnerChanged" and body[0] == PORTAL and body[1] and not body[2]
        if closed or gone:
            self._session = ""
            raise _Refused("ended", name)

    def _pass_on(self, path: str, interface: str, name: str, body: tuple[Any, ...]) -> None:
        if interface == SHORTCUTS and name in ("Activated", "Deactivated") and body[0] == self._session:
            self._say("down" if name == "Activated" else "up", body[1])
        elif (interface, name) == (SHORTCUTS, "ShortcutsChanged") and body[0] == self._session:
            self._say_granted(dict(body[1]))
