"""Enforces a single instance of the app per user, and receives commands from other processes.

A client connects to a local socket, sends one line with a command and, optionally, the time when it was issued, and
receives one line of JSON in reply. Other users can't connect.
"""

from __future__ import annotations

import json
import logging
import math
import os
import socket
import struct
import sys
import time
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from app.gui.design.motion import timer
from app.platform import single_instance
from app.platform.files import try_lock
from app.untrusted.limits import COMMAND, COMMAND_CLIENTS

TIMEOUT_MS = round(COMMAND.seconds * 1000)
"""Maximum lifetime of a connection. After this time, it is aborted even if no reply has been sent."""

_CLOSES_AFTER_REPLY = sys.platform != "win32"
"""Whether the server closes the connection after replying. On Windows, that would discard an unread reply."""

_log = logging.getLogger(__name__)


class Order:
    """A command from another process: one of `single_instance.WORDS` except "raise". Must be answered exactly once.

    `at`: when the user issued it, as a `time.monotonic()` timestamp.
    """

    def __init__(self, command: str, reply: Callable[[str], None], at: float) -> None:
        self.command = command
        self.at = at
        self._reply: Callable[[str], None] | None = reply

    def answer(self, sentence: str = "") -> None:
        """Reports success, or failure if `sentence` contains an error message. Further calls are no-ops."""
        reply, self._reply = self._reply, None
        if reply is not None:
            reply(sentence)


class Instance(QObject):
    """The server for commands from other processes.

    Emits `raised` on the command "raise", which brings the window to the front, and `commanded` with an `Order` on any
    other command.
    """

    raised = Signal()
    commanded = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = -1
        self._server: QLocalServer | None = None
        self._lines: dict[QLocalSocket, bytearray | None] = {}  # the data received so far; None once a line is complete

    def listen(self) -> bool:
        """Starts listening. Returns False if this user already has another instance running.

        Raises OSError if listening fails. In that case, the app still works, but other processes can't reach it.
        """
        folder = single_instance.make_folder()
        # The lock is always released when its process exits, whereas a stale socket file would suggest a live instance.
        lock = os.open(os.path.join(folder, "window.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        if not _locked(lock):
            os.close(lock)
            return False
        address = single_instance.address()
        QLocalServer.removeServer(address)
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        if not server.listen(address):
            os.close(lock)
            raise OSError(server.errorString())
        server.newConnection.connect(self._on_connection)
        self._lock, self._server = lock, server
        return True

    def close(self) -> None:
        """Stops listening, so that another instance can start."""
        for connection in tuple(self._lines):
            connection.abort()
        self._lines.clear()
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _on_connection(self) -> None:
        while self._server is not None and (connection := self._server.nextPendingConnection()) is not None:
            if len(self._lines) >= COMMAND_CLIENTS or not _is_ours(connection):
                connection.abort()
                connection.deleteLater()
                continue
            self._lines[connection] = bytearray()
            connection.setReadBufferSize(2 * COMMAND.bytes)
            connection.readyRead.connect(self._on_readable)
            connection.disconnected.connect(self._on_disconnected)
            timer(connection, TIMEOUT_MS, partial(QLocalSocket.abort, connection)).start()
            if connection.bytesAvailable():
                self._read_from(connection)

    def _on_readable(self) -> None:
        for connection in tuple(self._lines):
            if connection.bytesAvailable():
                self._read_from(connection)

    def _on_disconnected(self) -> None:
        for connection in tuple(self._lines):
            if connection.state() == QLocalSocket.LocalSocketState.UnconnectedState:
                del self._lines[connection]
                connection.deleteLater()

    def _read_from(self, connection: QLocalSocket) -> None:
        line = self._lines[connection]
        if line is None:
            connection.readAll()  # discard everything after the first line
            return
        line += bytes(connection.read(COMMAND.bytes + 1 - len(line)).data())
        if b"\n" not in line and len(line) <= COMMAND.bytes:
            return  # the line is incomplete
        self._lines[connection] = None
        self._handle(connection, bytes(line.partition(b"\n")[0]))

    def _handle(self, connection: QLocalSocket, line: bytes) -> None:
        word, at = _parse(line) if len(line) <= COMMAND.bytes else ("", 0.0)

        def reply(sentence: str) -> None:
            if connection not in self._lines:
                return  # closed in the meantime
            document = {"ok": False, "error": sentence} if sentence else {"ok": True}
            connection.write(json.dumps(document).encode() + b"\n")
            if _CLOSES_AFTER_REPLY:
                connection.disconnectFromServer()  # after the reply has been written

        if word == "raise":  # even if late: a user who started the app again still wants to see it
            reply("")
            self.raised.emit()
        elif (
            word in single_instance.WORDS
            and word != "release"
            and time.monotonic() - at > single_instance.TIMEOUT_SECONDS
        ):
            # The sender has already reported a timeout, and the user may have retried. Only a late release is still
            # executed, because otherwise the microphone would stay open.
            _log.warning("“%s” came too late", word)
            reply(self.tr("KAME was busy for too long, so this was not done. Try again."))
        elif word in single_instance.WORDS:
            self.commanded.emit(Order(word, reply, at))
        else:
            words = ", ".join(f"“{known}”" for known in single_instance.WORDS)
            reply(self.tr("KAME does not know this command. It knows {0}.").format(words))


def _parse(line: bytes) -> tuple[str, float]:
    """Parses a line into the command (empty if malformed) and the time it was issued (now if unspecified)."""
    word, _, stamp = line.decode("ascii", "replace").strip().partition(" ")
    try:
        at = float(stamp) if stamp else math.inf
    except ValueError:
        return "", 0.0
    return ("", 0.0) if math.isnan(at) else (word, min(at, time.monotonic()))


def _locked(file: int) -> bool:
    """Locks `file` until it is closed or this process exits. Returns False if another process holds the lock.

    If locking isn't supported, logs a warning and returns True.
    """
    try:
        return try_lock(file)
    except OSError as error:
        _log.warning("the window's lock file can't be locked: %s", error)
    return True


def _is_ours(connection: QLocalSocket) -> bool:
    """Returns whether the peer runs as this user. Only checked on Linux; elsewhere, socket permissions suffice."""
    if not sys.platform.startswith("linux"):
        return True
    try:
        with socket.socket(fileno=os.dup(connection.socketDescriptor())) as same:
            _, user, _ = struct.unpack("3i", same.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    except OSError as error:
        _log.info("a peer's user is unknown: %s", error)
        return False
    if user != os.getuid():
        _log.warning("user %s may not connect", user)
    return user == os.getuid()
