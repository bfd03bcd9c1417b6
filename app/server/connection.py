"""One client's connection: its sound goes to a talk, and the talk's voice, words and events come back."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import numpy as np
from websockets.exceptions import ConnectionClosed

from app.audio.io.opus import OpusDecoder, OpusEncoder, OpusError
from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS
from app.frontend.remote.protocol import AUDIO, EVENTS, READY, TEXT, event_json, welcome_json
from app.server.served_talk import ServedTalk

MOST_WAITING = round(10.0 / FRAME_SECONDS)
"""A client that has not read the last 10 s of its answer is cut off."""
UNREADABLE = 1003
"""The WebSocket status for data that can't be understood."""
TOO_SLOW = 1008
"""The WebSocket status "policy violation"."""
LEFT = (1000, 1001)
"""The WebSocket statuses of a client that leaves on purpose."""


class ClientConnection:
    """`socket`: an open WebSocket of the library websockets."""

    def __init__(self, socket: Any) -> None:
        self.wants_events = socket.subprotocol == EVENTS
        self._socket = socket
        self._outgoing: asyncio.Queue[np.ndarray | e.Event] = asyncio.Queue(MOST_WAITING)
        self._too_slow = asyncio.Event()

    def hear(self, samples: np.ndarray) -> None:
        self._put(samples)

    def learn(self, event: e.Event) -> None:
        if self.wants_events or isinstance(event, e.AssistantSaid):
            self._put(event)

    def _put(self, item: np.ndarray | e.Event) -> None:
        try:
            self._outgoing.put_nowait(item)
        except asyncio.QueueFull:
            self._too_slow.set()

    async def hold(self, talk: ServedTalk, *, resumed: bool) -> bool:
        """Connects the client to `talk` until one of them ends; returns whether the client has left by itself."""
        with contextlib.suppress(ConnectionClosed):
            if self.wants_events:
                await self._socket.send(welcome_json(talk.welcome(resumed=resumed)))
            await self._socket.send(bytes([READY]))
            await self._exchange(talk)
        return self._socket.close_code in LEFT

    async def _exchange(self, talk: ServedTalk) -> None:
        talk.join(self)
        tasks = [
            asyncio.create_task(work, name=name)
            for name, work in (
                ("hear the client", self._receive(talk)),
                ("speak to the client", self._transmit()),
                ("watch the client", self._watch()),
                ("watch the talk", talk.ended()),
            )
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            talk.leave(self)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _receive(self, talk: ServedTalk) -> None:
        decoder = OpusDecoder()
        async for message in self._socket:
            if isinstance(message, bytes) and message[:1] == bytes([AUDIO]):
                try:
                    talk.source.push(decoder.push(message[1:]))
                except OpusError as error:
                    await self._socket.close(UNREADABLE, f"the sound can't be read: {error}")
                    return

    async def _transmit(self) -> None:
        encoder = OpusEncoder()
        while True:
            item = await self._outgoing.get()
            if isinstance(item, np.ndarray):
                await self._socket.send(bytes([AUDIO]) + encoder.push(item))
                continue
            if self.wants_events:
                await self._socket.send(event_json(item))
            if isinstance(item, e.AssistantSaid):
                await self._socket.send(bytes([TEXT]) + f"{'' if item.glued else ' '}{item.text}".encode())

    async def _watch(self) -> None:
        await self._too_slow.wait()
        await self._socket.close(TOO_SLOW, "the answer is not read in time")
