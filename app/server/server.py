"""Listens for clients of Moshi's protocol, and gives each its session: one at a time unless told otherwise."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from types import TracebackType
from typing import Any

from websockets.protocol import State

from app.frontend.remote.protocol import AGAIN_LATER, EVENTS, RESUME_SECONDS
from app.server.admission import Request, read_request, refusal
from app.server.connection import ClientConnection
from app.server.served_talk import MakeTalk, ServedTalk
from app.untrusted.limits import VOICE_MESSAGE

TURN_SECONDS = 10.0
"""How long a client waits for the one before it: a conversation takes a moment to end."""
FAILED = 1011
"""The WebSocket status "internal error"."""


class VoiceServer:
    """A context manager. `make` makes a session; `key`: what clients must give, or empty; `at_once`: how many talk at
    the same time. `tell` gets a line on each client that comes or goes, and on each failure; `port` 0 takes a free one.

    Entering takes the port, and raises OSError where that is taken; `start` lets clients in.
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
        self._resumable: dict[str, ServedTalk] = {}  # by token
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
        """Lets clients in. Raises OSError."""
        await self._server.start_serving()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        await self._server.wait_closed()  # also until the handler of each client has ended its talk

    def _admit(self, connection: Any, request: Any) -> Any:
        """Returns the HTTP response of a refusal, None for who may come in."""
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
            if _is_open(socket):  # who waits for a place may give up
                await self._hold_talk(socket)
        finally:
            self._places.release()

    async def _hold_talk(self, socket: Any) -> None:
        """Holds a new talk with a client, until it has left and does not come back."""
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
        """Goes on with a talk whose client has come back."""
        self._tell("A client has come back.")
        if await ClientConnection(socket, asked.after).hold(talk, resumed=True):
            self._resumable.pop(talk.token, None)

    async def _wait_for_return(self, talk: ServedTalk) -> None:
        """Waits until the client of `talk` has left for good or been away for too long, or the talk is over."""
        now = asyncio.get_running_loop().time
        while talk.token in self._resumable and not talk.over and self._server.is_serving():
            if talk.left_at is not None and now() - talk.left_at >= RESUME_SECONDS:
                return
            await asyncio.sleep(0.1)


def _is_open(socket: Any) -> bool:
    return bool(socket.state is State.OPEN)
