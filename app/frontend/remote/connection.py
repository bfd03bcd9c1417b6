"""One connection to a voice server, on a thread with a loop of its own. It comes back when the network fails."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
import threading
import time
from collections import deque
from typing import Any

import numpy as np

from app.audio.io.opus import OpusDecoder, OpusEncoder, OpusError
from app.conversation.frame import FRAME_SECONDS
from app.frontend.base import FrontEndError
from app.frontend.remote.address import ServerAddress
from app.frontend.remote.playout import Playout, Received
from app.frontend.remote.protocol import (
    AGAIN_LATER,
    AUDIO,
    EVENTS,
    READY,
    RESUME_SECONDS,
    TEXT,
    Welcome,
    read_text_message,
    words_of,
)
from app.untrusted.limits import VOICE_MESSAGE

OPEN_SECONDS = 30.0
"""A server may load its models first, or let another conversation end."""
HELD_FRAMES = round(5.0 / FRAME_SECONDS)
"""The user's sound that is kept while the network fails, and sent when it is back."""
PAUSES = (0.1, 0.25, 0.5, 1.0, 2.0)
"""Seconds before each attempt to connect again; the last one repeats."""
ALIVE_SECONDS = 5.0
"""A server that answers no ping for so long is taken for lost."""

log = logging.getLogger(__name__)


class ServerConnection:
    """`open` and `close` are called on one thread, `send` and `take` on the frame thread; neither of these waits.

    `key`: sent as a bearer token, if there is one. `welcome`: what our own server says of itself; None of another.
    """

    def __init__(self, address: ServerAddress, key: str = "") -> None:
        self.address = address
        self.welcome: Welcome | None = None
        self.failed = ""
        """Why the connection is given up, as a sentence; empty while it is not."""
        self.losses = 0
        """How often the connection was lost."""
        self.lost = False
        self._key = key
        self._playout = Playout()
        self._outgoing: deque[np.ndarray] = deque(maxlen=HELD_FRAMES)
        self._lock = threading.Lock()
        self._settled = threading.Event()  # it is ready, or has failed
        self._was_ready = self._closing = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._ready = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="voice server", daemon=True)

    def open(self) -> None:
        """Connects, and waits until the server is ready. Raises FrontEndError."""
        self._thread.start()
        if not self._settled.wait(OPEN_SECONDS):
            self.failed = (
                f"The voice server at {self.address.shown} was not ready after {OPEN_SECONDS:.0f} s. Look at what it "
                "says there, or choose another front-end."
            )
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
        with self._lock:
            self._outgoing.append(samples)
        self._call(self._wake.set)

    def take(self) -> Received:
        """Returns the frame of the server's voice that is to be played now."""
        with self._lock:
            return self._playout.take()

    @property
    def gaps(self) -> int:
        """How often the server's voice was interrupted by the network."""
        return self._playout.gaps

    def _call(self, function: Any) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(function)

    # -- on the connection's thread

    def _run(self) -> None:
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
        lost_at, attempt = time.monotonic(), 0
        while not self._closing:
            self._ready.clear()
            sentence = await self._connect_once()
            if self._closing:
                return
            if not self._was_ready:
                self.failed = sentence
                return
            if self._ready.is_set():  # it had worked until now
                lost_at, attempt, self.lost = time.monotonic(), 0, True
                self.losses += 1
            elif time.monotonic() - lost_at > RESUME_SECONDS:
                self.failed = f"{sentence} The conversation goes on with the embedded voice."
                return
            await asyncio.sleep(PAUSES[min(attempt, len(PAUSES) - 1)])
            attempt += 1

    async def _connect_once(self) -> str:
        """Holds one connection until it ends; returns why it did, as a sentence."""
        from websockets.exceptions import WebSocketException

        try:
            async with self._connector() as socket:
                tasks = [asyncio.create_task(work(socket)) for work in (self._receive, self._transmit)]
                try:
                    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for task in tasks:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)
                for task in done:
                    task.result()
            return self._explain(None)
        except (OSError, TimeoutError, WebSocketException, OpusError, ValueError) as error:
            return self._explain(error)

    def _connector(self) -> Any:
        from websockets.asyncio.client import connect

        class Connect(connect):  # type: ignore[misc,unused-ignore]
            """Follows no redirect, which could lead the key to another server."""

            def process_redirect(self, exc: Exception) -> Exception | str:
                return exc

        token = self.welcome.token if self.welcome is not None else ""
        return Connect(
            self.address.url(token),
            subprotocols=[EVENTS],
            additional_headers={"Authorization": f"Bearer {self._key}"} if self._key else None,
            user_agent_header="KAME Desktop",
            proxy=None if self.address.local else True,
            compression=None,
            max_size=VOICE_MESSAGE.bytes,
            open_timeout=10,
            ping_interval=ALIVE_SECONDS,
            ping_timeout=ALIVE_SECONDS,
            close_timeout=1,
        )

    async def _receive(self, socket: Any) -> None:
        decoder = OpusDecoder()
        async for message in socket:
            if isinstance(message, str):
                if socket.subprotocol == EVENTS:
                    self._take_text(message)
            elif message[:1] == bytes([READY]):
                self._server_ready()
            elif message[:1] == bytes([AUDIO]):
                sound = decoder.push(message[1:])
                with self._lock:
                    self._playout.push_sound(sound)
            elif message[:1] == bytes([TEXT]) and socket.subprotocol != EVENTS:
                words = words_of(message[1:])
                with self._lock:
                    self._playout.push_words(words)

    def _take_text(self, message: str) -> None:
        found = read_text_message(message)
        if isinstance(found, Welcome):
            self.welcome = found
        elif found is not None:
            with self._lock:
                self._playout.push_event(found)

    def _server_ready(self) -> None:
        self.lost, self._was_ready = False, True
        with self._lock:
            self._playout.clear()
        self._ready.set()
        self._settled.set()

    async def _transmit(self, socket: Any) -> None:
        await self._ready.wait()
        encoder = OpusEncoder()
        while not self._closing:
            self._wake.clear()
            while self._outgoing:
                with self._lock:
                    frame = self._outgoing.popleft()
                await socket.send(bytes([AUDIO]) + encoder.push(frame))
            await self._wake.wait()

    def _explain(self, error: Exception | None) -> str:
        from websockets.exceptions import ConnectionClosed, InvalidStatus

        place = f"The voice server at {self.address.shown}"
        if isinstance(error, InvalidStatus):
            status = error.response.status_code
            if status in (401, 403):
                return (
                    f"{place} wants another key. Keep its key with “keys set compatible --base-url "
                    f"http://{self.address.shown}”, or start it again with a key that you know."
                )
            if status == 503:
                return f"{place} is busy with another conversation. Try again when that is over."
            return f"{place} is no server of Moshi's protocol (it answered {status}). Check its address and port."
        if isinstance(error, ConnectionClosed) and error.rcvd is not None and error.rcvd.code == AGAIN_LATER:
            return f"{place} is busy with another conversation. Try again when that is over."
        if isinstance(error, ssl.SSLError):
            return f"{place} can't be trusted: its certificate is not one that this machine knows. Check the address."
        if isinstance(error, OpusError) or (isinstance(error, ValueError) and not isinstance(error, OSError)):
            return f"{place} sent what can't be understood ({error}). Check whether it speaks Moshi's protocol."
        if self._was_ready:
            return f"{place} can't be reached any more. Check the network, and whether it still runs."
        return (
            f"{place} does not answer. Start one there with “kame-desktop serve”, and check address, port and firewall."
        )
