"""The connection to a voice server, on a thread with a loop of its own. It comes back when the network fails."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections import deque
from typing import Any

import numpy as np

from app.audio.io.opus import OpusDecoder, OpusEncoder
from app.conversation.frame import FRAME_SECONDS
from app.frontend.base import FrontEndError
from app.frontend.remote.address import ServerAddress
from app.frontend.remote.connecting import connect_to
from app.frontend.remote.explanations import BROKEN, explain, not_ready
from app.frontend.remote.incoming import Incoming
from app.frontend.remote.losses import Losses
from app.frontend.remote.playout import Received
from app.frontend.remote.protocol import AUDIO, EVENTS, READY, RESUME_SECONDS, TEXT, Welcome

OPEN_SECONDS = 30.0
"""A server may load its models first, or let another conversation end."""
HELD_FRAMES = round(5.0 / FRAME_SECONDS)
"""The user's sound that is kept while the network fails, and sent when it is back."""
ALIVE_SECONDS = 5.0
"""A server that answers no ping for so long is taken for lost."""

log = logging.getLogger(__name__)


class ServerConnection:
    """`open` and `close` are called on one thread, `send` and `take` on the frame thread; neither of these waits.

    `key`: sent as a bearer token, if there is one.
    """

    def __init__(self, address: ServerAddress, key: str = "") -> None:
        self.address = address
        self.failed = ""
        """Why the connection is given up, as a sentence; empty while it is not."""
        self.lost = False
        self._key = key
        self._incoming = Incoming()
        self._outgoing: deque[np.ndarray] = deque(maxlen=HELD_FRAMES)
        self._settled = threading.Event()  # it is ready, or has failed
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
        """What our own server says of itself; None of another."""
        return self._incoming.welcome

    def open(self) -> None:
        """Connects, and waits until the server is ready. Raises FrontEndError."""
        self._thread.start()
        if not self._settled.wait(OPEN_SECONDS):
            self.failed = not_ready(self.address, OPEN_SECONDS)
        if self.failed:
            self.close()
            raise FrontEndError(self.failed)

    def close(self) -> None:
        """Ends the connection and its thread."""
        self._closing = True
        if self._task is not None:
            self._call(self._task.cancel)
        if self._thread.is_alive():
            self._thread.join(5.0)

    def send(self, samples: np.ndarray) -> None:
        """Sends a frame of the user's sound: float32 (1920,)."""
        self._outgoing.append(samples)
        self._call(self._wake.set)

    def take(self) -> Received:
        """Returns the frame of the server's voice that is to be played now."""
        return self._incoming.take()

    def _call(self, function: Any) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(function)

    def _run(self) -> None:  # from here on, all is called on the connection's thread
        try:
            asyncio.run(self._connect_again_and_again())
        except asyncio.CancelledError:
            pass  # it is closed
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
                self.failed = f"{sentence} The conversation goes on with the embedded voice."
                return
            await asyncio.sleep(pause)
            left = losses.left

    async def _connect_once(self, seconds: float | None) -> str:
        """Holds one connection until it ends; returns why it did, as a sentence. It must be ready within `seconds`."""
        from websockets.exceptions import WebSocketException

        error: Exception | None = None
        token = self.welcome.token if self.welcome is not None else ""
        connecting = connect_to(self.address, self._key, token, self._incoming.events)
        try:
            async with asyncio.timeout(seconds) as self._limit, connecting as socket:
                try:
                    await self._exchange(socket)
                except BaseException:
                    if not self._closing:  # the status 1000 would say that the user has left, and end the conversation
                        await socket.close(BROKEN)
                    raise
        except (OSError, WebSocketException, ValueError, ImportError) as caught:
            error = caught
            log.info("the connection to the voice server ended: %s", type(error).__name__)
        return explain(error, self.address, was_ready=self._was_ready)

    async def _exchange(self, socket: Any) -> None:
        """Sends and receives until the connection ends. Raises what ends it."""
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
        """Raises TimeoutError when the server answers no ping. Until it is ready it need not answer any."""
        await self._ready.wait()
        while True:
            await asyncio.sleep(ALIVE_SECONDS)
            async with asyncio.timeout(ALIVE_SECONDS):
                await (await socket.ping())
