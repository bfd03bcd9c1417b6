"""A client's connection, which passes its audio to a session and sends the session's audio, words and events back."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from websockets.exceptions import ConnectionClosed

from app.audio.io.opus import OpusDecoder, OpusEncoder, OpusError
from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS
from app.frontend.remote.protocol import AUDIO, EVENTS, READY, TEXT, event_json, welcome_json
from app.server.served_talk import MOST_EVENTS, ServedTalk

MOST_WAITING = round(10.0 / FRAME_SECONDS)
"""Maximum number of audio frames in the send queue (10 s). A client that falls further behind is disconnected."""
SILENT_SECONDS = 60.0
"""A client that sends no sound for so long gives its place to others. Digital silence is sound, too."""
UNREADABLE = 1003
"""The WebSocket close code for data that can't be decoded."""
POLICY = 1008
"""The WebSocket close code "policy violation", for a client that reads too slowly or was replaced by another one."""
LEFT = (1000, 1001)
"""The WebSocket close codes of a client that disconnects intentionally."""


class ClientConnection:
    """A client connected via `socket`, an open WebSocket of the `websockets` library.

    `after`: the number of the last event that the client received; 0 for none, None if unknown.

    Clients that don't request events, such as Moshi's own, receive no audio for the first frame. This matches Moshi's
    server, which treats that frame as past input. Clients that record prepend a frame of silence, so that the recording
    is as long as the audio they sent.
    """

    def __init__(self, socket: Any, after: int | None = 0) -> None:
        self.wants_events = socket.subprotocol == EVENTS
        self._socket = socket
        self._after = after
        self._outgoing: asyncio.Queue[np.ndarray | e.Event] = asyncio.Queue()
        self._heard_at = 0.0  # when sound came last
        self._silent = False  # for so long that it has lost its place
        self._frames = 0  # the number of audio frames in the queue
        self._skips_frame = not self.wants_events
        self._cut: asyncio.Future[str] = asyncio.get_running_loop().create_future()  # why the client is disconnected

    def hear(self, samples: np.ndarray) -> None:
        if self._skips_frame:
            self._skips_frame = False
            return
        if self._frames >= MOST_WAITING:
            self._cut_off("The answer is not read in time.")
            return
        self._frames += 1
        self._outgoing.put_nowait(samples)

    def learn(self, event: e.Event) -> None:
        if not self.wants_events and not isinstance(event, e.AssistantSaid):
            return
        if self._outgoing.qsize() - self._frames >= 2 * MOST_EVENTS:  # a reconnect may queue MOST_EVENTS
            self._cut_off("The events are not read in time.")
            return
        self._outgoing.put_nowait(event)

    def replaced(self) -> None:
        self._cut_off("This conversation continues in another connection.")

    def _cut_off(self, reason: str) -> None:
        if not self._cut.done():
            self._cut.set_result(reason)

    async def hold(self, talk: ServedTalk, *, resumed: bool) -> bool:
        """Connects the client to `talk` until the client disconnects or the session ends.

        Returns True if the client will not reconnect: it left intentionally, or was never told about a new session.
        """
        known = resumed
        try:
            welcome = talk.join(self, resumed=resumed, after=self._after)
            if self.wants_events:
                await self._socket.send(welcome_json(welcome))
            await self._socket.send(bytes([READY]))
            known = True
            await self._exchange(talk)
        except ConnectionClosed:
            pass
        finally:
            talk.leave(self)
        return not known or self._silent or self._socket.close_code in LEFT

    async def _exchange(self, talk: ServedTalk) -> None:
        tasks = [
            asyncio.create_task(work, name=name)
            for name, work in (
                ("hear the client", self._receive(talk)),
                ("speak to the client", self._transmit()),
                ("watch the client", self._watch()),
                ("listen for silence", self._notice_silence()),
                ("watch the talk", talk.ended()),
            )
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _receive(self, talk: ServedTalk) -> None:
        decoder = OpusDecoder()
        async for message in self._socket:
            if isinstance(message, bytes) and message[:1] == bytes([AUDIO]):
                self._heard_at = asyncio.get_running_loop().time()
                try:
                    talk.source.push(decoder.push(message[1:]))
                except OpusError as error:
                    await self._socket.close(UNREADABLE, f"The sound can't be read: {error}.")
                    return

    async def _transmit(self) -> None:
        encoder = OpusEncoder()
        while True:
            item = await self._outgoing.get()
            if isinstance(item, np.ndarray):
                self._frames -= 1
                await self._socket.send(bytes([AUDIO]) + encoder.push(item))
                continue
            if self.wants_events:
                await self._socket.send(event_json(item))
            if isinstance(item, e.AssistantSaid):
                await self._socket.send(bytes([TEXT]) + f"{'' if item.glued else ' '}{item.text}".encode())

    async def _notice_silence(self) -> None:
        now = asyncio.get_running_loop().time
        self._heard_at = now()
        while (left := self._heard_at + SILENT_SECONDS - now()) > 0:
            await asyncio.sleep(left)
        self._silent = True
        self._cut_off("No sound came for a minute.")
        await asyncio.Event().wait()  # the connection is closed by `_watch`

    async def _watch(self) -> None:
        await self._socket.close(POLICY, await self._cut)
