"""Limits the app to one instance per user, and receives commands from other processes.

Each connection to a local socket sends a single line with a command and optionally the time it was given, and receives
a single line of JSON in reply. Other users can't connect.
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

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from app.platform import single_instance
from app.platform.files import try_lock
from app.untrusted.limits import COMMAND, COMMAND_CLIENTS

TIMEOUT_MS = round(COMMAND.seconds * 1000)
"""A connection is aborted after this time, even if it hasn't sent a command or received a reply."""

_CLOSES_AFTER_REPLY = sys.platform != "win32"
"""Whether the server closes the connection after its reply. Windows would drop an unread reply."""

_log = logging.getLogger(__name__)


class Order:
    """A command from another process: one of `single_instance.WORDS` except "raise". Must be answered once.

    `at`: when the user gave it, in terms of `time.monotonic()`.
    """

    def __init__(self, command: str, reply: Callable[[str], None], at: float) -> None:
        self.command = command
        self.at = at
        self._reply: Callable[[str], None] | None = reply

    def answer(self, sentence: str = "") -> None:
        """Reports success, or a failure if `sentence` gives a reason. Further calls have no effect."""
        reply, self._reply = self._reply, None
        if reply is not None:
            reply(sentence)


class Instance(QObject):
    """The server for commands from other processes.

    Emits `raised` if the window should be shown, and `commanded` with an `Order` to be answered.
    """

    raised = Signal()
    commanded = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = -1
        self._server: QLocalServer | None = None
        self._lines: dict[QLocalSocket, bytearray | None] = {}  # None once the line is complete

    def listen(self) -> bool:
        """Starts listening. Returns False if another instance of this user is already listening.

        Raises OSError if listening is impossible; the app still works, but other processes can't reach it.
        """
        folder = single_instance.make_folder()
        # The lock is always released when its process ends; a stale socket file would look alive.
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
            timeout = QTimer(connection, singleShot=True, interval=TIMEOUT_MS)
            timeout.timeout.connect(lambda one=connection: one.abort())
            timeout.start()
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
            connection.readAll()  # one line per connection
            return
        line += bytes(connection.read(COMMAND.bytes + 1 - len(line)).data())
        if b"\n" not in line and len(line) <= COMMAND.bytes:
            return  # incomplete
        self._lines[connection] = None
        self._handle(connection, bytes(line.partition(b"\n")[0]))

    def _handle(self, connection: QLocalSocket, line: bytes) -> None:
        word, at = _parse(line) if len(line) <= COMMAND.bytes else ("", 0.0)

        def reply(sentence: str) -> None:
            if connection not in self._lines:
                return  # closed meanwhile
            document = {"ok": False, "error": sentence} if sentence else {"ok": True}
            connection.write(json.dumps(document).encode() + b"\n")
            if _CLOSES_AFTER_REPLY:
                connection.disconnectFromServer()  # after the reply has been written

        if word == "raise":  # even if late: a user who starts the app again still wants to see it
            reply("")
            self.raised.emit()
        elif (
            word in single_instance.WORDS
            and word != "release"
            and time.monotonic() - at > single_instance.TIMEOUT_SECONDS
        ):
            # The sender has already reported a timeout, and its user may have retried. A late release is still
            # executed, because otherwise the microphone would stay open.
            _log.warning("“%s” came too late", word)
            reply(self.tr("KAME was busy for too long, so this was not done. Try again."))
        elif word in single_instance.WORDS:
            self.commanded.emit(Order(word, reply, at))
        else:
            words = ", ".join(f"“{known}”" for known in single_instance.WORDS)
            reply(self.tr("KAME does not know this command. It knows {0}.").format(words))


def _parse(line: bytes) -> tuple[str, float]:
    """Returns a line's command (empty if malformed) and when it was given (now if unspecified)."""
    word, _, stamp = line.decode("ascii", "replace").strip().partition(" ")
    try:
        at = float(stamp) if stamp else math.inf
    except ValueError:
        return "", 0.0
    return ("", 0.0) if math.isnan(at) else (word, min(at, time.monotonic()))


def _locked(file: int) -> bool:
    """Locks `file` until it is closed or this process ends. Returns False if another process has locked it.

    Also returns True if locking isn't possible.
    """
    try:
        return try_lock(file)
    except OSError as error:
        _log.warning("the window's lock file can't be locked: %s", error)
    return True


def _is_ours(connection: QLocalSocket) -> bool:
    """Returns whether the peer belongs to this user. Only checked on Linux; elsewhere, socket permissions suffice."""
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
