"""Moshi's protocol both ways: what clients send to the app's voice server, and what servers send to the app."""

import asyncio
import contextlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed, WebSocketException

from app.audio.io.opus import OpusEncoder
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, Frame
from app.frontend.base import FrontEndError
from app.frontend.remote.frontend import RemoteFrontEnd
from app.frontend.remote.protocol import AGAIN_LATER, EVENTS, Welcome, event_json, welcome_json
from app.server.connection import POLICY, UNREADABLE
from app.untrusted.text import harmless
from tests.fuzz.boundary import Boundary, check_told
from tests.fuzz.mutations import changed_bytes, framed, json_bytes, unframed
from tests.support.served import scripted_server

_ENCODER = OpusEncoder()
_PAGES = [b"\x01" + _ENCODER.push(np.full(FRAME_SAMPLES, 0.1, np.float32)) for _ in range(3)]
_BINARY = [*_PAGES, b"\x00", b"\x02 Hello", b"\x03", b""]
_EVENTS: list[Any] = [
    json.loads(welcome_json(Welcome("token", "cascade", "Embedded", "smollm2"))),
    *(
        json.loads(event_json(event))
        for event in (
            e.OracleRequested(1.0, 1, 1, "Embedded", "smollm2", "What is it?", True),
            e.OracleDelta(1.1, 1, "It is Stockholm."),
            e.OracleSuperseded(1.2, 1, 2),
            e.AssistantSaid(1.5, 1, "It is", 1),
            e.AssistantEnded(2.0, 1, False),
            e.Failure(2.0, "backend", "It failed."),
        )
    ),
]
_TARGETS = ["/api/chat"] * 6 + ["/api/chat?session=abc", "/api/chat?key=%ff", "//[", "/api/chat?" + "a=b&" * 40]
_OWN_STATUSES = (UNREADABLE, POLICY, AGAIN_LATER)
"""With which the app's server closes a connection; with others the library websockets does, which has its own words."""
_CUTS = st.lists(st.integers(1, 600), min_size=0, max_size=4)
_SENT = framed(
    st.fixed_dictionaries({"target": st.sampled_from(_TARGETS), "cuts": _CUTS, "text": st.booleans()}),
    changed_bytes([b"".join(_PAGES), *_BINARY]),
)
_RECEIVED = framed(
    st.fixed_dictionaries({"cuts": _CUTS, "events": st.booleans(), "ready": st.booleans()}),
    st.one_of(changed_bytes([b"".join(_PAGES), *_BINARY]), json_bytes(_EVENTS)),
)


def _pieces(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    out = []
    for size in cuts:
        out.append(data[:size])
        data = data[size:]
    return [*out, data]


async def _as_client(data: bytes, folder: Path) -> str:
    """Sends the messages to a server of the app's, which must go on to serve others."""
    head, body = unframed(data)
    async with scripted_server(at_once=8) as server:
        url = f"ws://127.0.0.1:{server.port}"
        told = ""
        with contextlib.suppress(OSError, TimeoutError, ValueError, WebSocketException):
            async with connect(url + str(head["target"]), proxy=None, compression=None, open_timeout=5) as socket:
                with contextlib.suppress(TimeoutError, ConnectionClosed):
                    for piece in _pieces(body, head["cuts"]):
                        await socket.send(piece.decode("latin-1") if head["text"] else piece)
                    async with asyncio.timeout(0.05):
                        while True:
                            await socket.recv()
                if socket.close_code in _OWN_STATUSES:
                    told = socket.close_reason or ""
                    assert told, f"closed with {socket.close_code}, and nothing said"
        async with connect(f"{url}/api/chat", proxy=None, compression=None) as socket:
            assert await socket.recv() == b"\x00"  # or the time for one input is over
        return told


async def _as_server(data: bytes, folder: Path) -> str:
    """Sends the messages to the app's front-end, and returns what that tells."""
    head, body = unframed(data)

    async def talk(socket: ServerConnection) -> None:
        if head["ready"]:
            await socket.send(b"\x00")
        for piece in _pieces(body, head["cuts"]):
            await socket.send(piece.decode("utf-8", "replace") if head["events"] else piece)
        if not head["ready"]:
            await socket.close()
        await socket.wait_closed()

    subprotocols = [EVENTS] if head["events"] else None
    async with serve(talk, "127.0.0.1", 0, subprotocols=subprotocols, compression=None) as server:
        frontend = RemoteFrontEnd(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        told: list[str] = []
        try:
            await asyncio.to_thread(frontend.__enter__)
            for number in range(4):
                step = frontend.step(Frame(number, np.zeros(FRAME_SAMPLES, np.float32)), ())
                assert step.samples.shape == (FRAME_SAMPLES,) and np.isfinite(step.samples).all()
                for one in step.said:
                    assert one.text == harmless(one.text)
                told += [event.sentence for event in step.events if isinstance(event, e.Failure)]
                for event in step.events:
                    if isinstance(event, e.ServerDescribed):
                        check_told(event.sentence)
                await asyncio.sleep(0.005)
        except FrontEndError as error:
            return str(error)
        finally:
            await asyncio.to_thread(frontend.__exit__, None, None, None)
        for sentence in told:
            check_told(sentence)
        return told[0] if told else ""


BOUNDARIES = (Boundary("voice-client", _SENT, _as_client), Boundary("voice-server", _RECEIVED, _as_server))
