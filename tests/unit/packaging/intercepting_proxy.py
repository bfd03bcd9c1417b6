"""A proxy that opens every HTTPS connection with certificates of its own, as those of companies do."""

import select
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import trustme

IDLE_SECONDS = 60.0


class InterceptingProxy(socketserver.ThreadingTCPServer):
    """`hosts`: the names of the servers whose connections were opened; `refused`: how many clients did not trust it."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, authority: trustme.CA, connect: Callable[[str, int], socket.socket]) -> None:
        super().__init__(("127.0.0.1", 0), _Tunnel)
        self.authority, self.connect = authority, connect
        self.hosts: list[str] = []
        self.refused = 0

    @property
    def url(self) -> str:
        """The value for HTTPS_PROXY."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Tunnel(socketserver.StreamRequestHandler):
    server: InterceptingProxy

    def handle(self) -> None:
        words = self.rfile.readline(4096).split()
        while self.rfile.readline(4096).strip():
            pass  # headers
        if len(words) < 2 or words[0] != b"CONNECT":
            return
        host, _, port = words[1].decode().rpartition(":")
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server.authority.issue_cert(host).configure_cert(context)
        try:
            opened = context.wrap_socket(self.connection, server_side=True)
            # A client that distrusts the certificate says so after the handshake, in place of a request.
            first = opened.recv(65_536)
        except OSError:
            first = b""
        if not first:
            self.server.refused += 1
            return
        self.server.hosts.append(host)
        with suppress(OSError), self.server.connect(host, int(port)) as there, opened:
            there.sendall(first)
            _pass_on(opened, there)


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    partner = {one: other, other: one}
    while True:
        waiting = [side for side in partner if isinstance(side, ssl.SSLSocket) and side.pending()]
        ready = waiting or select.select(list(partner), [], [], IDLE_SECONDS)[0]
        if not ready:
            return
        for side in ready:
            data = side.recv(65_536)
            if not data:
                return
            partner[side].sendall(data)


@contextmanager
def intercepting_proxy(
    authority: trustme.CA, connect: Callable[[str, int], socket.socket]
) -> Iterator[InterceptingProxy]:
    """Runs a proxy; `connect` opens a connection to a server's name and port."""
    with InterceptingProxy(authority, connect) as proxy:
        threading.Thread(target=proxy.serve_forever, name="proxy", daemon=True).start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
