"""The connection to a voice server, on a thread with its own event loop. It reconnects after network failures.

`Losses` decides when to reconnect and when to give up. `Incoming` buffers everything the server sends, across
connections, until it is played. The server's revisions are renumbered so that they differ from this machine's and from
those of earlier conversations.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import threading
import time
from collections import deque
from typing import Any

import numpy as np

from app.audio.io.opus import OpusDecoder, OpusEncoder
from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS
from app.frontend.base import FrontEndError
from app.frontend.remote.address import BROKEN, ServerAddress, explain, not_ready
from app.frontend.remote.playout import Playout, PlayoutFull, Received
from app.frontend.remote.protocol import (
    AUDIO,
    EVENTS,
    READY,
    RESUME_SECONDS,
    TEXT,
    Welcome,
    read_text_message,
    words_of,
)
from app.untrusted.limits import VOICE_EVENT
from app.untrusted.proxies import proxy_for


def connect_to(address: ServerAddress, key: str, session: str, after: int) -> Any:
    """Returns a context manager that opens and closes a WebSocket.

    - `address`: the server.
    - `key`: the bearer token, or empty.
    - `session`: the token of the conversation to resume, or empty.
    - `after`: how many of its events have been received.

    The connection sends no pings, because Moshi's server doesn't read, and so can't reply, until it is ready.
    """
    from websockets.asyncio.client import connect

    class Connect(connect):  # type: ignore[misc,unused-ignore]
        """A connection that follows no redirects, which could send the key to another server."""

        def process_redirect(self, exc: Exception) -> Exception | str:
            return exc

    return Connect(
        address.url(session, after),
        subprotocols=[EVENTS],
        additional_headers={"Authorization": f"Bearer {key}"} if key else None,
        user_agent_header="KAME Desktop",
        proxy=proxy_for(address.url(session, after)) if address.secure else None,  # without TLS it would see the key
        compression=None,
        max_size=VOICE_EVENT.bytes,
        open_timeout=10,
        ping_interval=None,
        close_timeout=1,
    )


PAUSES = (0.1, 0.25, 0.5, 1.0, 2.0)
"""Backoff in seconds before each attempt to reconnect; the last value repeats."""
STEADY_SECONDS = 5.0
"""A connection counts as restored once it has been ready for this long. Losing it earlier counts as another failure."""
MOST_UNSTEADY = 5
"""The number of consecutive connections lost that early after which to give up."""


class Losses:
    """Decides when to reconnect. `seconds`: how long to keep trying after a steady connection was lost."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds
        """Seconds left for further attempts."""
        self._seconds = seconds
        self._lost_at: float | None = None
        self._attempts = self._unsteady = 0

    def lost(self, now: float, ready_at: float | None) -> float | None:
        """Records the end of a connection or attempt at `now`; returns the pause before the next, or None to give up.

        `ready_at`: when the connection became ready, or None if it never did.
        """
        if self._lost_at is None or (ready_at is not None and now - ready_at >= STEADY_SECONDS):
            self._lost_at, self._attempts, self._unsteady = now, 0, 0
        elif ready_at is not None:
            self._unsteady += 1
        self.left = self._seconds - (now - self._lost_at)
        if self.left <= 0 or self._unsteady >= MOST_UNSTEADY:
            return None
        pause = PAUSES[min(self._attempts, len(PAUSES) - 1)]
        self._attempts += 1
        return pause


class Incoming:
    """Messages from the server. `take` is called on the frame thread, everything else on the connection's thread."""

    def __init__(self) -> None:
        self.welcome: Welcome | None = None
        """The self-description of our own server; None for other servers."""
        self.events = 0
        """The number of events of the current conversation received so far, as counted by the server."""
        self._conversations = 0  # started by the server
        self._playout = Playout()
        self._lock = threading.Lock()

    def take(self) -> Received:
        """Returns the next frame of the server's voice to play."""
        with self._lock:
            return self._playout.take()

    def new_connection(self) -> None:
        """Discards queued audio, since the audio of a new connection doesn't continue it."""
        with self._lock:
            self._playout.clear()

    def sound(self, samples: np.ndarray) -> None:
        """Queues audio, float32 (n,)."""
        with self._lock:
            self._playout.push_sound(samples)

    def words(self, payload: bytes) -> None:
        """Queues the words of a TEXT message. Raises PlayoutFull."""
        with self._lock:
            self._playout.push_words(words_of(payload))

    def text(self, message: str) -> None:
        """Processes a welcome or an event; skips invalid messages, as newer servers may send. Raises PlayoutFull."""
        self.events += 1
        try:
            found = read_text_message(message)
            if isinstance(found, Welcome):
                self._conversations += not found.resumed or not self._conversations
                self.welcome, self.events = found, found.events
            elif found is not None:
                event = renumbered(found, max(1, self._conversations))
                with self._lock:
                    self._playout.push_event(event)
        except PlayoutFull:
            raise
        except ValueError as error:
            log.debug("a message of the voice server was left out: %s", error)


FIRST_REVISION = 1_000_000
"""Offset added to a server's revision numbers in its first conversation, twice this in its second, and so on."""


def renumbered(event: e.Event, conversation: int) -> e.Event:
    """Returns an event of a server's n-th `conversation` (from 1) with its revisions renumbered.

    Words without a revision keep their 0. Raises ValueError for an invalid revision number.
    """
    match event:
        case e.OracleSuperseded(revision=old, by=new):
            return dataclasses.replace(event, revision=_number(old, conversation), by=_number(new, conversation))
        case e.AssistantSaid(revision=0):
            return event
        case (
            e.OracleRequested(revision=revision)
            | e.OraclePromoted(revision=revision)
            | e.OracleDelta(revision=revision)
            | e.OracleEnded(revision=revision)
            | e.OracleCounted(revision=revision)
            | e.AssistantSaid(revision=revision)
        ):
            return dataclasses.replace(event, revision=_number(revision, conversation))
    return event


def _number(revision: int, conversation: int) -> int:
    if not 1 <= revision < FIRST_REVISION:
        raise ValueError(f"no revision has the number {revision}")
    return conversation * FIRST_REVISION + revision


OPEN_SECONDS = 30.0
"""How long to wait for a server, which may first load its models or finish another conversation."""
HELD_FRAMES = round(5.0 / FRAME_SECONDS)
"""Frames of the user's audio that are buffered during a network failure and sent afterwards."""
ALIVE_SECONDS = 5.0
"""A server that doesn't answer a ping for this long counts as lost."""

log = logging.getLogger(__name__)


class ServerConnection:
    """A connection to a voice server that reconnects after losses.

    `open` and `close` are called on one thread, `send` and `take` on the frame thread; the latter two never block.
    `key`: the bearer token, if any.
    """

    def __init__(self, address: ServerAddress, key: str = "") -> None:
        self.address = address
        self.failed = ""
        """The message explaining why the connection has failed permanently; empty otherwise."""
        self.lost = False
        self._key = key
        self._incoming = Incoming()
        self._outgoing: deque[np.ndarray] = deque(maxlen=HELD_FRAMES)
        self._settled = threading.Event()  # ready or failed
        self._was_ready = self._closing = False
        self._ready_at = 0.0
        self._limit: asyncio.Timeout | None = None  # until it is ready
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._ready = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="voice server", daemon=True)

    @property
    def welcome(self) -> Welcome | None:
        """The self-description of our own server; None for other servers."""
        return self._incoming.welcome

    def open(self) -> None:
        """Connects and waits until the server is ready. Raises FrontEndError."""
        self._thread.start()
        if not self._settled.wait(OPEN_SECONDS):
            self.failed = not_ready(self.address, OPEN_SECONDS)
        if self.failed:
            self.close()
            raise FrontEndError(self.failed)

    def close(self) -> None:
        """Closes the connection and stops its thread."""
        self._closing = True
        if self._task is not None:
            self._call(self._task.cancel)
        if self._thread.is_alive():
            self._thread.join(5.0)

    def send(self, samples: np.ndarray) -> None:
        """Sends a frame of the user's audio, float32 (1920,)."""
        self._outgoing.append(samples)
        self._call(self._wake.set)

    def take(self) -> Received:
        """Returns the next frame of the server's voice to play."""
        return self._incoming.take()

    def _call(self, function: Any) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(function)

    def _run(self) -> None:  # everything from here on runs on the connection's thread
        try:
            asyncio.run(self._connect_again_and_again())
        except asyncio.CancelledError:
            pass  # closed
        except Exception as error:
            log.exception("the connection to the voice server broke")
            self.failed = f"The connection to the voice server broke ({type(error).__name__}); the log says more."
        finally:
            self._settled.set()

    async def _connect_again_and_again(self) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        losses = Losses(RESUME_SECONDS)
        left: float | None = None  # how long the next connection may take to be ready; `open` bounds the first one
        while not self._closing:
            self._ready.clear()
            sentence = await self._connect_once(left)
            if self._closing:
                return
            if not self._was_ready:
                self.failed = sentence
                return
            self.lost = True
            pause = losses.lost(time.monotonic(), self._ready_at if self._ready.is_set() else None)
            if pause is None:
                self.failed = f"{sentence} The conversation continues with the built-in voice."
                return
            await asyncio.sleep(pause)
            left = losses.left

    async def _connect_once(self, seconds: float | None) -> str:
        """Runs one connection, which must be ready within `seconds`. Returns the message explaining why it ended."""
        from websockets.exceptions import WebSocketException

        error: Exception | None = None
        token = self.welcome.token if self.welcome is not None else ""
        connecting = connect_to(self.address, self._key, token, self._incoming.events)
        try:
            async with asyncio.timeout(seconds) as self._limit, connecting as socket:
                try:
                    await self._exchange(socket)
                except BaseException:
                    if not self._closing:  # status 1000 would end the conversation
                        await socket.close(BROKEN)
                    raise
        except (OSError, WebSocketException, ValueError, ImportError) as caught:
            error = caught
            log.info("the connection to the voice server ended: %s", type(error).__name__)
        return explain(error, self.address, was_ready=self._was_ready)

    async def _exchange(self, socket: Any) -> None:
        """Sends and receives until the connection ends. Propagates the exception that ends it."""
        works = (self._receive, self._transmit, self._keep_alive)
        tasks = [asyncio.create_task(work(socket)) for work in works]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()

    async def _receive(self, socket: Any) -> None:
        decoder, has_events = OpusDecoder(), socket.subprotocol == EVENTS
        async for message in socket:
            if isinstance(message, str):
                if has_events:
                    self._incoming.text(message)
            elif message[:1] == bytes([READY]):
                self._server_ready()
            elif message[:1] == bytes([AUDIO]):
                self._incoming.sound(decoder.push(message[1:]))
            elif message[:1] == bytes([TEXT]) and not has_events:
                self._incoming.words(message[1:])

    def _server_ready(self) -> None:
        if self._ready.is_set():
            return
        if self._limit is not None:
            self._limit.reschedule(None)
        self.lost, self._was_ready = False, True
        self._ready_at = time.monotonic()
        self._incoming.new_connection()
        self._ready.set()
        self._settled.set()

    async def _transmit(self, socket: Any) -> None:
        await self._ready.wait()
        encoder = OpusEncoder()
        while not self._closing:
            self._wake.clear()
            while self._outgoing:
                await socket.send(bytes([AUDIO]) + encoder.push(self._outgoing.popleft()))
            await self._wake.wait()

    async def _keep_alive(self, socket: Any) -> None:
        """Pings the server once it is ready. Raises TimeoutError if it doesn't answer."""
        await self._ready.wait()
        while True:
            await asyncio.sleep(ALIVE_SECONDS)
            async with asyncio.timeout(ALIVE_SECONDS):
                await (await socket.ping())
