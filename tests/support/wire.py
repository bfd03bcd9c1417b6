"""A scripted HTTP server on loopback that speaks each provider's protocol, with the faults of a network. A script is a
list of replies, one for each request. All must be used."""

from __future__ import annotations

import asyncio
import contextlib
import json
import select
import socket
import ssl
import struct
import threading
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Fault = Literal["", "reset", "cut", "hang"]


@dataclass(frozen=True)
class Reply:
    """The response to one request. `parts` are written one by one as chunks of a stream, `pause` seconds apart, `burst`
    of them together, `wait` seconds after the request came; without `parts`, `body` goes out whole. `repeat` follows
    over and over until the client leaves. `fault`, behind all that: `reset` (RST), `cut` (a clean end in mid-message),
    `hang` (silence until the client leaves). `status` 0: nothing at all before the fault."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    parts: tuple[bytes, ...] = ()
    repeat: bytes = b""
    wait: float = 0.0
    pause: float = 0.0
    burst: int = 1
    fault: Fault = ""


@dataclass(frozen=True)
class Seen:
    """A request that was received `at` a time of the monotonic clock; `body` as JSON."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    at: float


class _Gone(Exception):
    """The client has left, or the test is over."""


class Wire:
    """`async with Wire([reply, …], standing={path: reply}) as wire`: `wire.url` answers as the script says. A path in
    `standing` is always answered so and is not part of the script: what an adapter asks beside the conversation. `seen`
    and `beside` keep the requests. The end fails the test when replies are left, requests found none, or a connection
    is still open. `left` is set when a client closed before its answer's end."""

    def __init__(
        self,
        script: Sequence[Reply] = (),
        *,
        standing: Mapping[str, Reply] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.seen: list[Seen] = []
        self.beside: list[Seen] = []
        self.left = threading.Event()
        self.troubles: list[str] = []
        self._script = list(script)
        self._standing = dict(standing or {})
        self._tls = tls
        self._over = threading.Event()
        self._change = threading.Condition()
        self._threads: set[threading.Thread] = set()
        self.url = ""
        self._accepting = threading.Thread(target=self._accept, name="wire", daemon=True)

    async def __aenter__(self) -> Wire:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http{'s' if self._tls else ''}://127.0.0.1:{self._listener.getsockname()[1]}"
        self._accepting.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None and not await self.closed():
            self.troubles.append("a connection is still open")
        await asyncio.to_thread(self._stop)
        if kind is None:
            if self._script:
                self.troubles.append(f"{len(self._script)} replies were not asked for")
            assert not self.troubles, "; ".join(self.troubles)

    def reply(self, body: Any) -> Reply | None:
        """What the next request gets; a wire that answers by what it is asked overrides this."""
        return self._script.pop(0) if self._script else None

    async def closed(self, seconds: float = 3.0) -> bool:
        """Waits until no client is connected; whether that came."""

        def wait() -> bool:
            with self._change:
                return self._change.wait_for(lambda: not self._threads, seconds)

        return await asyncio.to_thread(wait)

    async def client_left(self, seconds: float = 5.0) -> bool:
        """Waits until a client has closed before its answer's end; whether one did."""
        return await asyncio.to_thread(self.left.wait, seconds)

    def _stop(self) -> None:
        self._over.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes `accept`
        self._listener.close()
        self._accepting.join(5)
        with self._change:
            self._change.wait_for(lambda: not self._threads, 5)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(sock,), daemon=True)
            with self._change:
                self._threads.add(thread)
            thread.start()

    def _serve(self, sock: socket.socket) -> None:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                sock.settimeout(2)
                sock = self._tls.wrap_socket(sock, server_side=True)
            while self._one(sock):
                pass
        except (_Gone, OSError):
            pass
        finally:
            sock.close()
            with self._change:
                self._threads.discard(threading.current_thread())
                self._change.notify_all()

    def _one(self, sock: socket.socket) -> bool:
        """Answers one request; returns whether the connection may carry another."""
        request = self._read(sock)
        if request is None:
            return False
        if (reply := self._standing.get(request.path)) is not None:
            self.beside.append(request)
        else:
            self.seen.append(request)
            with self._change:
                reply = self.reply(request.body)
            if reply is None:
                self.troubles.append(f"one request too many: {request.method} {request.path}")
                reply = Reply(599, body=b"{}")
        try:
            self._answer(sock, reply)
        except (_Gone, OSError):
            self.left.set()
            raise _Gone from None
        return not reply.fault

    def _read(self, sock: socket.socket) -> Seen | None:
        data = b""
        while b"\r\n\r\n" not in data:
            self._sleep(sock, None)
            more = sock.recv(65536)
            if not more:
                return None
            data += more
            if not data[:1].isalpha():  # TLS to a server without it
                sock.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
                return None
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        while len(body) < int(headers.get("content-length", 0)):
            body += sock.recv(65536)
        method, path, _ = first.split(" ", 2)
        return Seen(method, path, headers, json.loads(body) if body else None, time.monotonic())

    def _answer(self, sock: socket.socket, reply: Reply) -> None:
        self._sleep(sock, reply.wait)
        if reply.status:
            streams = bool(reply.parts or reply.repeat)
            size = {"transfer-encoding": "chunked"} if streams else {"content-length": str(len(reply.body))}
            headers = {"content-type": "application/json", **size, **reply.headers}
            lines = [f"HTTP/1.1 {reply.status} Said", *(f"{k}: {v}" for k, v in headers.items())]
            sock.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
            if not streams:
                sock.sendall(reply.body)
            for place in range(0, len(reply.parts), reply.burst):
                if place and reply.pause:
                    self._sleep(sock, reply.pause)
                sock.sendall(b"".join(map(_chunk, reply.parts[place : place + reply.burst])))
            many = _chunk(reply.repeat) * (20 if reply.pause == 0 else 1)
            while reply.repeat:
                self._sleep(sock, reply.pause)
                sock.sendall(many)
            if streams and not reply.fault:
                sock.sendall(b"0\r\n\r\n")
        if reply.fault == "hang":
            self._sleep(sock, None)
            raise _Gone
        if reply.fault == "reset":
            # What was written must have arrived: a reset throws away what the peer has not read yet.
            self._sleep(sock, 0.02)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _sleep(self, sock: socket.socket, seconds: float | None) -> None:
        """Waits for `seconds`; None: until the client writes. Raises _Gone when it leaves meanwhile."""
        if isinstance(sock, ssl.SSLSocket) and sock.pending():
            return
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            if self._over.is_set():
                raise _Gone
            rest = 0.05 if end is None else min(0.05, max(0.0, end - time.monotonic()))
            if select.select([sock], [], [], rest)[0]:
                if end is None and (isinstance(sock, ssl.SSLSocket) or sock.recv(1, socket.MSG_PEEK)):
                    return
                raise _Gone
            if end is not None and time.monotonic() >= end:
                return


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def endless_gzip(head: bytes, megabytes: int) -> bytes:
    """Returns a packed answer that has no end: `head` and so many MB of the digit 0, packed once and repeated."""
    packer = zlib.compressobj(wbits=31)
    begun = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    return begun + megabytes * (packer.compress(b"0" * 1_000_000) + packer.flush(zlib.Z_FULL_FLUSH))
