"""The server for clients that speak Moshi's protocol. Each client gets its own session, by default one at a time.

Clients are accepted or rejected based on the HTTP request that opens the connection.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import ssl
from collections.abc import Callable
from types import TracebackType
from typing import Any

from websockets.protocol import State

from app.frontend.remote.protocol import AGAIN_LATER, EVENTS, RESUME_SECONDS
from app.server.admission import (
    HANDSHAKE_SECONDS,
    Door,
    GuardedSocket,
    Purse,
    Request,
    address_of,
    read_request,
    refusal,
)
from app.server.connection import ClientConnection
from app.server.served_talk import MakeTalk, ServedTalk
from app.untrusted.limits import VOICE_MESSAGE

_log = logging.getLogger("app.server.websockets")
_log.addFilter(lambda record: record.msg != "opening handshake failed")  # a flood would fill the log

TURN_SECONDS = 10.0
"""How long a client may wait for a session slot, since the previous session takes a moment to end."""
FAILED = 1011
"""The WebSocket close code "internal error"."""


class VoiceServer:
    """A WebSocket server for conversations; an async context manager.

    - `make`: creates a session.
    - `port`: 0 selects a free one.
    - `key`: the key that clients must send; empty if none is required.
    - `at_once`: the maximum number of concurrent sessions.
    - `purse`: what conversations may cost; no limit by default.
    - `tell`: called with a status message whenever a client connects or disconnects, and for each failure.
    - `errors`: exception types that, if raised when a session starts, are reported instead of propagated.

    Entering the context binds the port, and raises OSError if it is in use; `start` begins accepting clients.
    """

    def __init__(
        self,
        make: MakeTalk,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        key: str = "",
        at_once: int = 1,
        purse: Purse | None = None,
        tls: ssl.SSLContext | None = None,
        tell: Callable[[str], object] = lambda line: None,
        errors: tuple[type[Exception], ...] = (),
    ) -> None:
        self.host, self.port = host, port
        self._make = make
        self._key = key
        self._tls = tls
        self._tell = tell
        self._errors = errors
        self._door = Door(tell)
        self._purse = purse or Purse()
        self._places = asyncio.Semaphore(at_once)
        self._resumable: dict[str, ServedTalk] = {}  # keyed by token
        self._servers: list[Any] = []

    async def __aenter__(self) -> VoiceServer:
        from websockets.asyncio.server import ServerConnection, serve

        door, tls = self._door, self._tls

        class Connection(ServerConnection):
            """A connection that is counted before its handshakes, that of TLS, too."""

            counted: Any = None
            begun = False

            def connection_made(self, transport: Any) -> None:
                if (refusal := door.enter(transport)) is not None:
                    transport.write(refusal)
                    transport.close()
                    return
                self.counted = transport
                if tls is None:
                    self._begin(transport)
                    return
                transport.pause_reading()  # what comes now is for TLS
                self._securing = asyncio.create_task(self._secure(transport, tls))

            async def _secure(self, transport: Any, tls: ssl.SSLContext) -> None:
                try:
                    secured = await asyncio.get_running_loop().start_tls(
                        transport, self, tls, server_side=True, ssl_handshake_timeout=HANDSHAKE_SECONDS
                    )
                except (OSError, ssl.SSLError):
                    transport.abort()
                    door.leave(transport)
                    return
                self._begin(secured)

            def _begin(self, transport: Any) -> None:
                self.begun = True
                super().connection_made(transport)

            def connection_lost(self, exc: Exception | None) -> None:
                if self.counted is not None:
                    door.leave(self.counted)
                if self.begun:
                    super().connection_lost(exc)

        arguments: dict[str, Any] = dict(
            subprotocols=[EVENTS],
            select_subprotocol=lambda connection, offered: EVENTS if EVENTS in offered else None,
            process_request=self._admit,
            create_connection=Connection,
            open_timeout=HANDSHAKE_SECONDS,
            compression=None,
            server_header=None,
            max_size=VOICE_MESSAGE.bytes,
            ping_interval=5,
            ping_timeout=10,
            close_timeout=1,
            logger=_log,
            start_serving=False,
        )
        for listening in await self._bind():
            self._servers.append(await serve(self._serve, sock=listening, **arguments))
        return self

    async def _bind(self) -> list[GuardedSocket]:
        """Binds the port at all addresses of the host. Raises OSError."""
        found = await asyncio.get_running_loop().getaddrinfo(
            self.host or None, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        bound: list[GuardedSocket] = []
        try:
            for family, kind, protocol, _, address in dict.fromkeys(found):
                listening = GuardedSocket(family, kind, protocol)
                bound.append(listening)
                listening.door = self._door
                if os.name == "posix":
                    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                listening.bind((address[0], self.port, *address[2:]))
                self.port = listening.getsockname()[1]
        except BaseException:
            for listening in bound:
                listening.close()
            raise
        return bound

    async def start(self) -> None:
        """Starts accepting clients. Raises OSError."""
        for server in self._servers:
            await server.start_serving()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self._servers:
            server.close()
        for server in self._servers:
            await server.wait_closed()  # also waits for the handlers of all clients, which end their sessions

    async def _admit(self, connection: Any, request: Any) -> Any:
        """Returns an HTTP response that rejects the request, or None to accept the client."""
        refused = refusal(read_request(request.path, request.headers), request.headers, self._key)
        if refused is None:
            self._door.admit(connection.counted)
            return None
        if refused.status == 401:
            await self._door.pause(connection.counted)
        return connection.respond(refused.status, f"{refused.sentence}\n")

    async def _serve(self, connection: Any) -> None:
        asked = read_request(connection.request.path, connection.request.headers)
        known = self._resumable.get(asked.session)
        if known is not None:
            await self._go_on(known, connection, asked)
            return
        try:
            async with asyncio.timeout(TURN_SECONDS):
                await self._places.acquire()
        except TimeoutError:
            await connection.close(AGAIN_LATER, "Another conversation is going on here.")
            return
        try:
            if _is_open(connection):  # the client may have given up while waiting
                await self._hold_talk(connection)
        finally:
            self._places.release()

    async def _hold_talk(self, connection: Any) -> None:
        """Runs a new session for a client, and keeps the session alive while the client may reconnect."""
        payer = address_of(connection)
        if self._purse.left(payer) == 0.0:
            await connection.close(AGAIN_LATER, "This server has spent as much as it may.")
            return
        self._tell("A client has come.")
        talk = ServedTalk(self._make, self._tell, self._purse, payer)
        try:
            await talk.begin()
        except self._errors as error:
            self._tell(f"A conversation could not begin. {error}")
            await connection.close(FAILED, "No conversation can be held here now.")
            return
        try:
            client = ClientConnection(connection)
            if client.wants_events:
                self._resumable[talk.token] = talk
            if _is_open(connection) and not await client.hold(talk, resumed=False) and client.wants_events:
                await self._wait_for_return(talk)
        finally:
            self._resumable.pop(talk.token, None)
            await talk.end()
            cost = f" It cost ${talk.cost:.2f}; all of them, ${self._purse.spent:.2f}." if talk.cost else ""
            self._tell(f"The conversation is over.{cost}")

    async def _go_on(self, talk: ServedTalk, connection: Any, asked: Request) -> None:
        """Resumes a session whose client has reconnected."""
        self._tell("A client has come back.")
        if await ClientConnection(connection, asked.after).hold(talk, resumed=True):
            self._resumable.pop(talk.token, None)

    async def _wait_for_return(self, talk: ServedTalk) -> None:
        """Waits until the client of `talk` leaves intentionally or fails to reconnect in time, or the session ends."""
        now = asyncio.get_running_loop().time
        while talk.token in self._resumable and not talk.over and self._servers[0].is_serving():
            if talk.left_at is not None and now() - talk.left_at >= RESUME_SECONDS:
                return
            await asyncio.sleep(0.1)


def _is_open(connection: Any) -> bool:
    return bool(connection.state is State.OPEN)
