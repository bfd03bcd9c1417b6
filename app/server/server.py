"""The server for clients that speak Moshi's protocol. Each client gets its own session, by default one at a time.

Clients are accepted or rejected based on the HTTP request that opens the connection.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.protocol import State

from app.frontend.remote.protocol import AFTER_PARAMETER, AGAIN_LATER, EVENTS, PATH, RESUME_SECONDS, SESSION_PARAMETER
from app.server.connection import ClientConnection
from app.server.served_talk import MakeTalk, ServedTalk
from app.untrusted.limits import VOICE_MESSAGE

KEY_PARAMETER = "key"
"""The URL query parameter that carries the key, for clients that can't set headers."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A rejection of a request: the HTTP status and a message for the client."""

    status: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Request:
    """The relevant parts of a request: the path, the token of the session to resume (if any), and the key.

    `after`: the number of that session's events that the client already has; None if unspecified.
    """

    path: str
    session: str
    key: str
    after: int | None = None


def read_request(target: str, headers: Mapping[str, str]) -> Request:
    """Parses a request's target and headers."""
    try:
        parts = urlsplit(target)
        query = parse_qs(parts.query, max_num_fields=16)
    except ValueError:
        return Request("", "", "")
    scheme, _, bearer = (_only(headers, "Authorization") or "").partition(" ")
    key = bearer.strip() if scheme.lower() == "bearer" else ""
    after = _first(query, AFTER_PARAMETER)
    return Request(
        parts.path,
        _first(query, SESSION_PARAMETER)[:200],
        key or _first(query, KEY_PARAMETER),
        int(after) if re.fullmatch("[0-9]{1,15}", after) else None,
    )


def refusal(request: Request, headers: Mapping[str, str], key: str) -> Refusal | None:
    """Returns the reason to reject a request, or None to accept it. `key`: the required key; empty if none is required.

    Any web page opened in a browser on this machine can also reach the loopback interface. If no key is required, a
    request is therefore accepted only if its Host and Origin headers refer to this machine.
    """
    if any(_only(headers, name) is None for name in ("Authorization", "Host", "Origin")):
        return Refusal(400, "This request has a header twice that must be there once.")
    if request.path.rstrip("/") != PATH:
        return Refusal(404, f"There is nothing here. Conversations are held at {PATH}.")
    if key:
        if hmac.compare_digest(request.key.encode(errors="surrogatepass"), key.encode()):
            return None
        return Refusal(401, "This server wants a key. Send it as a bearer token, or as “key” in the address.")
    if not is_this_machine(_only(headers, "Host") or "") or not is_this_machine(headers.get("Origin", "localhost")):
        return Refusal(403, "Without a key this server talks with programs and pages of its own machine only.")
    return None


def is_this_machine(address: str) -> bool:
    """Returns whether a host or URL, with or without a port, is a loopback address."""
    try:
        host = urlsplit(address if "://" in address else f"//{address}").hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _first(query: Mapping[str, list[str]], name: str) -> str:
    return query.get(name, [""])[0]


def _only(headers: Mapping[str, str], name: str) -> str | None:
    """Returns the value of a header, "" if it is missing, or None if it occurs more than once."""
    try:
        return headers.get(name, "")
    except LookupError:  # raised by `websockets.datastructures.Headers`
        return None


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
        self._places = asyncio.Semaphore(at_once)
        self._resumable: dict[str, ServedTalk] = {}  # keyed by token
        self._server: Any = None

    async def __aenter__(self) -> VoiceServer:
        from websockets.asyncio.server import serve

        self._server = await serve(
            self._serve,
            self.host,
            self.port,
            subprotocols=[EVENTS],
            select_subprotocol=lambda connection, offered: EVENTS if EVENTS in offered else None,
            process_request=self._admit,
            compression=None,
            server_header=None,
            max_size=VOICE_MESSAGE.bytes,
            ping_interval=5,
            ping_timeout=10,
            close_timeout=1,
            ssl=self._tls,
            logger=logging.getLogger("app.server.websockets"),
            start_serving=False,
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def start(self) -> None:
        """Starts accepting clients. Raises OSError."""
        await self._server.start_serving()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        await self._server.wait_closed()  # also waits for the handlers of all clients, which end their sessions

    def _admit(self, connection: Any, request: Any) -> Any:
        """Returns an HTTP response that rejects the request, or None to accept the client."""
        refused = refusal(read_request(request.path, request.headers), request.headers, self._key)
        return connection.respond(refused.status, f"{refused.sentence}\n") if refused is not None else None

    async def _serve(self, socket: Any) -> None:
        asked = read_request(socket.request.path, socket.request.headers)
        known = self._resumable.get(asked.session)
        if known is not None:
            await self._go_on(known, socket, asked)
            return
        try:
            async with asyncio.timeout(TURN_SECONDS):
                await self._places.acquire()
        except TimeoutError:
            await socket.close(AGAIN_LATER, "Another conversation is going on here.")
            return
        try:
            if _is_open(socket):  # the client may have given up while waiting
                await self._hold_talk(socket)
        finally:
            self._places.release()

    async def _hold_talk(self, socket: Any) -> None:
        """Runs a new session for a client, and keeps the session alive while the client may reconnect."""
        self._tell("A client has come.")
        talk = ServedTalk(self._make, self._tell)
        try:
            await talk.begin()
        except self._errors as error:
            self._tell(f"A conversation could not begin. {error}")
            await socket.close(FAILED, "No conversation can be held here now.")
            return
        try:
            client = ClientConnection(socket)
            if client.wants_events:
                self._resumable[talk.token] = talk
            if _is_open(socket) and not await client.hold(talk, resumed=False) and client.wants_events:
                await self._wait_for_return(talk)
        finally:
            self._resumable.pop(talk.token, None)
            await talk.end()
            self._tell("The conversation is over.")

    async def _go_on(self, talk: ServedTalk, socket: Any, asked: Request) -> None:
        """Resumes a session whose client has reconnected."""
        self._tell("A client has come back.")
        if await ClientConnection(socket, asked.after).hold(talk, resumed=True):
            self._resumable.pop(talk.token, None)

    async def _wait_for_return(self, talk: ServedTalk) -> None:
        """Waits until the client of `talk` leaves intentionally or fails to reconnect in time, or the session ends."""
        now = asyncio.get_running_loop().time
        while talk.token in self._resumable and not talk.over and self._server.is_serving():
            if talk.left_at is not None and now() - talk.left_at >= RESUME_SECONDS:
                return
            await asyncio.sleep(0.1)


def _is_open(socket: Any) -> bool:
    return bool(socket.state is State.OPEN)
