"""A connection to a D-Bus message bus for one thread that calls methods and reads signals. Linux only."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections import deque
from typing import Any, NamedTuple

if sys.platform.startswith("linux"):  # elsewhere the library is not installed
    from jeepney import DBusAddress, HeaderFields, MatchRule, Message, MessageType, new_method_call
    from jeepney.bus_messages import message_bus
    from jeepney.io.threading import ReceiveStopped, open_dbus_connection

REPLY_SECONDS = 30.0
"""The called service may have to be started first."""

_ABSENT = ("ServiceUnknown", "NameHasNoOwner", "UnknownMethod", "UnknownInterface", "UnknownObject")
_log = logging.getLogger(__name__)


class BusSignal(NamedTuple):
    """A signal on the bus."""

    path: str
    interface: str
    member: str
    body: tuple[Any, ...]


class CallFailed(Exception):
    """A method call was answered with an error. `absent`: what was called does not exist."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text or name)
        self.absent = name.rpartition(".")[2] in _ABSENT or name.startswith("org.freedesktop.DBus.Error.Spawn")


class BusConnection:
    """Only `interrupt` may be called on another thread."""

    def __init__(self, address: str) -> None:
        """`address`: as D-Bus writes it, or "SESSION" for the user's own bus. Opened by `open`."""
        self._address = address
        self._connection: Any = None
        self._unread: deque[Message] = deque()
        self._lock = threading.Lock()
        self._interrupted = False

    def open(self) -> None:
        """Connects. Raises OSError and more where there is no bus, ReceiveStopped if `interrupt` came first."""
        connection = open_dbus_connection(self._address)
        with self._lock:
            self._connection = connection
            if self._interrupted:
                raise ReceiveStopped

    def interrupt(self) -> None:
        """Makes the present or next waiting call raise ReceiveStopped."""
        with self._lock:
            self._interrupted = True
            if self._connection is not None:
                self._connection.interrupt()

    def close(self) -> None:
        """Disconnects."""
        with self._lock:  # `interrupt` must not write to a pipe whose number belongs to another file by then
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
            for pipe in (connection._stop_r, connection._stop_w):  # which the connection leaves open
                os.close(pipe)

    def subscribe(self, sender: str, interface: str = "", member: str = "", argument: str = "") -> None:
        """Subscribes to signals; `argument` is the value of their first argument. Raises CallFailed, TimeoutError."""
        rule = MatchRule(type="signal", sender=sender, interface=interface or None, member=member or None)
        if argument:
            rule.add_arg_condition(0, argument)
        self._request(message_bus.AddMatch(rule))

    def call(self, service: str, path: str, method: str, signature: str, body: tuple[Any, ...]) -> tuple[Any, ...]:
        """Calls `method`, written "interface.Method", and returns the reply. Raises CallFailed, TimeoutError."""
        return self._request(_method_call(service, path, method, signature, body))

    def send(self, service: str, path: str, method: str) -> None:
        """Calls a method without arguments and does not wait for the reply."""
        if self._connection is not None:
            try:
                self._connection.send(_method_call(service, path, method))
            except OSError as error:
                _log.info("D-Bus: %r", error)

    def next_signal(self, timeout: float | None) -> BusSignal:
        """Waits for the next signal. Raises TimeoutError after `timeout` seconds."""
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
