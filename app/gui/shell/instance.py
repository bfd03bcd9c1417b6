"""Lets one window of the app run per user, and hears what other processes have to tell it.

A word a line comes in at a local socket, with the time when it was given; one line of JSON goes back. No other
user can give orders through it. Knows nothing of what the words do.
"""

from __future__ import annotations

import errno
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

LONGEST_WORD = 256
"""Bytes that a line may have."""

SPEAK_MS = 3_000
"""A process that has connected and says nothing is sent away after this, as is one that nobody answers."""

LISTENERS = 16
"""Connections at a time; more are sent away."""

_HANGS_UP = sys.platform != "win32"
"""Whether this side ends a connection once it has answered. Windows would throw away what was not read yet."""

_TAKEN = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
"""Errors that say that another process has the lock."""

_log = logging.getLogger(__name__)


class Order:
    """Something that another process wants: one of `single_instance.WORDS`, but “raise”. To be answered once.

    `at`: when its user gave it, by `time.monotonic()`.
    """

    def __init__(self, command: str, reply: Callable[[str], None], at: float) -> None:
        self.command = command
        self.at = at
        self._reply: Callable[[str], None] | None = reply

    def answer(self, sentence: str = "") -> None:
        """Done; or not, for the reason that `sentence` tells. Later answers count for nothing."""
        reply, self._reply = self._reply, None
        if reply is not None:
            reply(sentence)


class Instance(QObject):
    """`listen` first; then `raised` asks for the window to be shown, `commanded` brings an `Order` to be answered."""

    raised = Signal()
    commanded = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = -1
        self._server: QLocalServer | None = None
        self._lines: dict[QLocalSocket, bytearray | None] = {}  # None: it has said its line

    def listen(self) -> bool:
        """Begins to listen; False when another window of this user's does already.

        Raises OSError when neither is so: then the app works, but nobody can reach it.
        """
        folder = single_instance.make_folder()
        # The lock goes with its process, however that ends; a socket stays, and would look alive.
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
        server.newConnection.connect(self._meet)
        self._lock, self._server = lock, server
        return True

    def close(self) -> None:
        """Listens no more; the next window may."""
        for connection in tuple(self._lines):
            connection.abort()
        self._lines.clear()
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _meet(self) -> None:
        while self._server is not None and (connection := self._server.nextPendingConnection()) is not None:
            if len(self._lines) >= LISTENERS or not _is_ours(connection):
                connection.abort()
                connection.deleteLater()
                continue
            self._lines[connection] = bytearray()
            connection.setReadBufferSize(2 * LONGEST_WORD)
            connection.readyRead.connect(self._hear)
            connection.disconnected.connect(self._part)
            patience = QTimer(connection, singleShot=True, interval=SPEAK_MS)
            patience.timeout.connect(lambda one=connection: one.abort())
            patience.start()
            if connection.bytesAvailable():
                self._listen_to(connection)

    def _hear(self) -> None:
        for connection in tuple(self._lines):
            if connection.bytesAvailable():
                self._listen_to(connection)

    def _part(self) -> None:
        for connection in tuple(self._lines):
            if connection.state() == QLocalSocket.LocalSocketState.UnconnectedState:
                del self._lines[connection]
                connection.deleteLater()

    def _listen_to(self, connection: QLocalSocket) -> None:
        line = self._lines[connection]
        if line is None:
            connection.readAll()  # one line a connection
            return
        line += bytes(connection.read(LONGEST_WORD + 1 - len(line)).data())
        if b"\n" not in line and len(line) <= LONGEST_WORD:
            return  # the rest is to come
        self._lines[connection] = None
        self._take(connection, bytes(line.partition(b"\n")[0]))

    def _take(self, connection: QLocalSocket, line: bytes) -> None:
        word, at = _read(line) if len(line) <= LONGEST_WORD else ("", 0.0)

        def reply(sentence: str) -> None:
            if connection not in self._lines:
                return  # gone meanwhile
            document = {"ok": False, "error": sentence} if sentence else {"ok": True}
            connection.write(json.dumps(document).encode() + b"\n")
            if _HANGS_UP:
                connection.disconnectFromServer()  # once it is written

        if word == "raise":  # also late: whoever has started the app once more still wants to see it
            reply("")
            self.raised.emit()
        elif (
            word in single_instance.WORDS
            and word != "release"
            and time.monotonic() - at > single_instance.TIMEOUT_SECONDS
        ):
            # Whoever wanted it has been told that nobody answers, and may have tried again. But what was let go of is
            # let go of: else the talk would hear on.
            _log.warning("“%s” came too late", word)
            reply(self.tr("KAME was busy for too long, so this was not done. Try again."))
        elif word in single_instance.WORDS:
            self.commanded.emit(Order(word, reply, at))
        else:
            words = ", ".join(f"“{known}”" for known in single_instance.WORDS)
            reply(self.tr("KAME does not know this word. It knows {0}.").format(words))


def _read(line: bytes) -> tuple[str, float]:
    """The word of a line, and when it was given: now, where it does not say. No word when it is not of this kind."""
    word, _, stamp = line.decode("ascii", "replace").strip().partition(" ")
    try:
        at = float(stamp) if stamp else math.inf
    except ValueError:
        return "", 0.0
    return ("", 0.0) if math.isnan(at) else (word, min(at, time.monotonic()))


def _locked(file: int) -> bool:
    """Locks `file` until it is closed, or this process has ended; False when another process has.

    True also where files can't be locked at all.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _TAKEN:
            return False
        _log.warning("the window's lock can't be had: %s", error)
    return True


def _is_ours(connection: QLocalSocket) -> bool:
    """Whether a process of this user's is at the other end. Linux can tell; elsewhere the access rights must do."""
    if not sys.platform.startswith("linux"):
        return True
    try:
        with socket.socket(fileno=os.dup(connection.socketDescriptor())) as same:
            _, user, _ = struct.unpack("3i", same.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    except OSError as error:
        _log.info("a peer can't be told: %s", error)
        return False
    if user != os.getuid():
        _log.warning("user %s is not let in", user)
    return user == os.getuid()
