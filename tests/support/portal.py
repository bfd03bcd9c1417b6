"""A fake of the desktop portal for global shortcuts, with the documented API, on a test's message bus."""

import os
import queue
import threading
from typing import Any

from jeepney import DBusAddress, HeaderFields, Message, MessageType, new_error, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.threading import DBusRouter, Proxy, ReceiveStopped, open_dbus_connection

NAME = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
REQUEST = "org.freedesktop.portal.Request"
SESSION = "org.freedesktop.portal.Session"


class Portal:
    """Replies on the bus at `address`. `response`: the user's response to BindShortcuts (0 yes, 1 cancelled), None to
    leave the dialog open. `wants_id`: only apps with a registered id get a session. `has_registry`: whether they can
    register one. `bound`: whether shortcuts get a key. `shortcuts`: whether the interface exists."""

    def __init__(
        self,
        address: str,
        *,
        response: int | None = 0,
        wants_id: bool = False,
        has_registry: bool = True,
        bound: bool = True,
        shortcuts: bool = True,
    ) -> None:
        self.response, self.wants_id, self.has_registry, self.bound = response, wants_id, has_registry, bound
        self.shortcuts = shortcuts
        self.calls: queue.Queue[tuple[str, Any]] = queue.Queue()
        self.sessions: dict[str, dict[str, dict[str, Any]]] = {}
        self.closed: list[str] = []
        self._ids: dict[str, str] = {}
        self._owners: dict[str, str] = {}
        self._connection = open_dbus_connection(address)
        self._thread = threading.Thread(target=self._serve, name="portal", daemon=True)
        self._ask_for_name()
        self._thread.start()

    def close(self) -> None:
        """Leaves the bus."""
        self._connection.interrupt()
        self._thread.join(5)
        self._connection.close()
        self._forget_pipes(self._connection)

    def activate(self, name: str, session: str = "") -> None:
        """Presses a shortcut's key."""
        self._emit_shortcut("Activated", name, session)

    def deactivate(self, name: str, session: str = "") -> None:
        """Releases a shortcut's key."""
        self._emit_shortcut("Deactivated", name, session)

    def close_session(self) -> None:
        """Ends the newest session, as the desktop may."""
        session = list(self.sessions)[-1]
        self._emit(session, SESSION, "Closed", "", (), self._owners[session])

    @staticmethod
    def _forget_pipes(connection: Any) -> None:
        for pipe in (connection._stop_r, connection._stop_w):
            os.close(pipe)

    def _ask_for_name(self) -> None:
        with DBusRouter(self._connection) as router:
            assert Proxy(message_bus, router, timeout=5).RequestName(NAME) == (1,)

    def _emit_shortcut(self, member: str, name: str, session: str) -> None:
        session = session or list(self.sessions)[-1]
        owner = self._owners.get(session, "")
        self._emit(PATH, SHORTCUTS, member, "osta{sv}", (session, name, 1, {}), owner)

    def _emit(self, path: str, interface: str, member: str, signature: str, body: tuple, to: str) -> None:
        signal = new_signal(DBusAddress(path, interface=interface), member, signature or None, body)
        if to:
            signal.header.fields[HeaderFields.destination] = to
        self._connection.send(signal)

    def _serve(self) -> None:
        try:
            while True:
                message = self._connection.receive()
                if message.header.message_type is MessageType.method_call:
                    self._answer(message)
        except ReceiveStopped:
            pass

    def _answer(self, call: Message) -> None:
        fields = call.header.fields
        interface, member = fields.get(HeaderFields.interface, ""), fields[HeaderFields.member]
        sender = fields[HeaderFields.sender]
        self.calls.put((member, call.body))
        match interface.rpartition(".")[2], member:
            case "Registry", "Register" if self.has_registry:
                self._ids[sender] = call.body[0]
                self._connection.send(new_method_return(call))
            case "GlobalShortcuts", "CreateSession" if self.shortcuts:
                self._create(call, sender)
            case "GlobalShortcuts", "BindShortcuts" if self.shortcuts:
                self._bind(call, sender)
            case "Session", "Close":
                path = fields[HeaderFields.path]
                self.sessions.pop(path, None)
                self.closed.append(path)
            case _:
                self._connection.send(new_error(call, "org.freedesktop.DBus.Error.UnknownMethod", "s", (member,)))

    def _create(self, call: Message, sender: str) -> None:
        if self.wants_id and sender not in self._ids:
            error = new_error(call, "org.freedesktop.portal.Error.NotAllowed", "s", ("An app id is required",))
            self._connection.send(error)
            return
        options = call.body[0]
        session = f"{PATH}/session/{_of(sender)}/{options['session_handle_token'][1]}"
        self.sessions[session] = {}
        self._owners[session] = sender
        self._respond(call, sender, options, 0, {"session_handle": ("s", session)})

    def _bind(self, call: Message, sender: str) -> None:
        session, shortcuts, _, options = call.body
        if self.sessions.get(session) != {}:
            error = "org.freedesktop.portal.Error.Failed"
            self._connection.send(new_error(call, error, "s", ("no such session, or bound already",)))
            return
        self.sessions[session] = {name: {key: value for key, (_, value) in about.items()} for name, about in shortcuts}
        given = (
            [
                (name, {"description": ("s", about["description"]), "trigger_description": ("s", "a key")})
                for name, about in self.sessions[session].items()
            ]
            if self.bound
            else []
        )
        self._respond(call, sender, options, self.response, {"shortcuts": ("a(sa{sv})", given)})

    def _respond(self, call: Message, sender: str, options: dict, code: int | None, results: dict) -> None:
        path = f"{PATH}/request/{_of(sender)}/{options['handle_token'][1]}"
        if code is None:
            self._connection.send(new_method_return(call, "o", (path,)))
            return
        # The order is not specified: the response may come before the call returns.
        self._emit(path, REQUEST, "Response", "ua{sv}", (code, results if code == 0 else {}), sender)
        self._connection.send(new_method_return(call, "o", (path,)))


def _of(sender: str) -> str:
    return sender.removeprefix(":").replace(".", "_")
