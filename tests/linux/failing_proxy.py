"""A proxy whose connections all break once a number of bytes has gone through, as when a network goes away."""

from __future__ import annotations

import select
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

CONNECT_SECONDS, IDLE_SECONDS, POLL_SECONDS = 20.0, 120.0, 0.2


class FailingProxy(socketserver.ThreadingTCPServer):
    """Passes on what HTTPS clients ask it to CONNECT to. `left`: bytes until it fails."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, left: int) -> None:
        super().__init__(("127.0.0.1", 0), _Tunnel)
        self._left = left
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """For HTTPS_PROXY."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def has_failed(self) -> bool:
        """Whether nothing goes through any more."""
        return self._left <= 0

    def count(self, size: int) -> None:
        """Takes into account what has been passed on."""
        with self._lock:
            self._left -= size


class _Tunnel(socketserver.StreamRequestHandler):
    server: FailingProxy

    def handle(self) -> None:
        words = self.rfile.readline(4096).split()
        while self.rfile.readline(4096).strip():
            pass  # headers
        if self.server.has_failed or len(words) < 2 or words[0] != b"CONNECT":
            return
        host, _, port = words[1].decode().rpartition(":")
        with suppress(OSError), socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS) as there:
            self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            self._pass_on(there)

    def _pass_on(self, there: socket.socket) -> None:
        other = {self.connection: there, there: self.connection}
        quiet = 0.0
        while quiet < IDLE_SECONDS and not self.server.has_failed:
            ready, _, _ = select.select(list(other), [], [], POLL_SECONDS)
            quiet = 0.0 if ready else quiet + POLL_SECONDS
            for one in ready:
                data = one.recv(65_536)
                if not data:
                    return
                other[one].sendall(data)
                self.server.count(len(data))


@contextmanager
def failing_proxy(size: int) -> Iterator[FailingProxy]:
    """A running proxy that fails after `size` bytes."""
    with FailingProxy(size) as proxy:
        threading.Thread(target=proxy.serve_forever, name="proxy", daemon=True).start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
