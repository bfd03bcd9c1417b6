"""Voice servers and their clients when one of them fails: dead clients, cut connections, servers that misbehave."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trustme
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection as Socket
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

from app.audio.io.files import FileSink, FileSource
from app.audio.io.opus import OpusEncoder
from app.audio.io.pushed import PushedSource, SendingSink
from app.backend.scripted import ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, Frame
from app.conversation.turns.floor import Interrupt, TakeFloor
from app.frontend.base import FrontEndError, FrontEndStep
from app.frontend.remote import connection as remote_connection
from app.frontend.remote.address import read_address
from app.frontend.remote.connection import ServerConnection
from app.frontend.remote.frontend import RemoteFrontEnd
from app.frontend.remote.protocol import EVENTS, Welcome, event_json, welcome_json
from app.server import connection as server_connection
from app.server import server as server_module
from app.server.admission import GONE_SECONDS, MOST_OF_ADDRESS, Purse
from app.session.control import SessionChoice
from app.session.parts import SessionConfig, SessionParts
from app.session.session import Session
from tests.support import sounds
from tests.support.faulty_network import faulty_network
from tests.support.scripted import ScriptedTranscriber, ScriptedVoiceActivity
from tests.support.served import ROOM, client, relayed, said, scripted_server, scripted_session, served, until

WELCOME = welcome_json(Welcome("token", "cascade", "Embedded", "smollm2"))


async def steps_until(
    frontend: RemoteFrontEnd, holds: Callable[[list[FrontEndStep]], bool], *, first: int = 0, **inputs: Any
) -> list[FrontEndStep]:
    """Steps in real time until `holds` of the steps so far; `inputs`: `at_N` is given with frame N."""
    out: list[FrontEndStep] = []
    async with asyncio.timeout(30):
        while not holds(out):
            number = first + len(out)
            out.append(frontend.step(Frame(number, ROOM.copy()), inputs.get(f"at_{number}", ())))
            await asyncio.sleep(FRAME_SECONDS)
    return out


@contextlib.asynccontextmanager
async def misbehaving(handler: Callable[[Socket], Awaitable[None]]) -> AsyncIterator[str]:
    """A server that does what `handler` does with each connection; its address."""
    async with serve(handler, "127.0.0.1", 0, subprotocols=[EVENTS], compression=None, close_timeout=1) as server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize("events", [True, False])
async def test_a_client_that_dies_before_the_server_is_ready_keeps_nobody_out(events: bool) -> None:
    made: list[SendingSink] = []
    gate = asyncio.Event()

    async def make(source: PushedSource, sink: SendingSink) -> Session:
        made.append(sink)
        await gate.wait()
        return scripted_session(source, sink)

    async with served(make) as server:
        url = f"ws://127.0.0.1:{server.port}/api/chat"
        dying = await connect(url, subprotocols=[EVENTS] if events else None, proxy=None)
        await until(lambda: bool(made))
        dying.transport.abort()
        await dying.wait_closed()
        gate.set()
        async with connect(url, proxy=None) as second, asyncio.timeout(8):
            assert await second.recv() == b"\x00"


async def test_the_place_of_a_client_that_died_when_greeted_becomes_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "RESUME_SECONDS", 0.3)
    async with scripted_server() as server:
        url = f"ws://127.0.0.1:{server.port}/api/chat"
        for _ in range(3):
            dying = await connect(url, subprotocols=[EVENTS], proxy=None)
            dying.transport.abort()
        async with connect(url, proxy=None) as last, asyncio.timeout(8):
            assert await last.recv() == b"\x00"


async def test_a_client_that_comes_back_takes_the_place_of_its_dead_connection() -> None:
    async with scripted_server() as server:
        url = f"ws://127.0.0.1:{server.port}/api/chat"
        async with connect(url, subprotocols=[EVENTS], proxy=None) as first:
            token = json.loads(await first.recv())["welcome"]["token"]
            assert await first.recv() == b"\x00"
            async with connect(f"{url}?session={token}", subprotocols=[EVENTS], proxy=None) as second:
                welcome = json.loads(await second.recv())["welcome"]
                assert welcome["token"] == token and welcome["resumed"]
                async with asyncio.timeout(8):
                    with pytest.raises(ConnectionClosed) as closed:
                        while True:
                            await first.recv()
                    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008
                    assert await second.recv() == b"\x00"
                    encoder = OpusEncoder()
                    for _ in range(3):  # the server's clock is the client's sound
                        await second.send(b"\x01" + encoder.push(ROOM))
                    while not isinstance(message := await second.recv(), bytes):
                        pass
                    assert message[0] == 1 and message[1:5] == b"OggS"


async def test_what_was_said_and_thought_while_the_network_was_down_is_reported_afterwards() -> None:
    long = "It is Stockholm, which lies on islands in the sea."
    inputs: dict[str, Any] = {"at_2": (Interrupt(turn=1),), "at_10": (TakeFloor(1),)}
    async with (
        scripted_server(said=long) as server,
        faulty_network(server.port) as network,
        client(network.port) as frontend,
    ):
        first = await steps_until(frontend, lambda steps: len(said(steps).split()) >= 2, **inputs)
        network.holding = network.down = True
        first += await steps_until(frontend, lambda steps: len(steps) == 15, first=len(first))
        network.cut()  # what is under way is lost
        network.holding = network.down = False
        rest = await steps_until(frontend, lambda steps: "sea." in said(steps), first=len(first))
    steps = first + rest
    assert relayed(rest, e.Failure), "the connection was not lost"
    assert said(first) != long and said(steps) == long
    asked = [event.revision for event in relayed(steps, e.OracleRequested)]
    spoken = {one.revision for step in steps for one in step.said}
    assert len(asked) == len(set(asked)) and spoken <= set(asked)
    for revision in spoken:
        deltas = [event.text for event in relayed(steps, e.OracleDelta) if event.revision == revision]
        assert "".join(deltas) == long


class _Unloadable(RemoteFrontEnd):
    def __enter__(self) -> RemoteFrontEnd:
        raise FrontEndError("KAME's weights are not there, so the cascade speaks. Get them first.")


async def test_what_failed_before_a_client_was_there_is_reported_to_both() -> None:
    lines: list[str] = []

    async def make(source: PushedSource, sink: SendingSink) -> Session:
        return scripted_session(source, sink, lost=_Unloadable("127.0.0.1:1"))

    async with served(make, tell=lines.append) as server, client(server.port) as frontend:
        steps = await steps_until(frontend, lambda steps: bool(relayed(steps, e.Failure)))
    assert "KAME's weights are not there, so the cascade speaks. Get them first." in lines
    (failure,) = relayed(steps, e.Failure)
    assert failure.sentence.startswith("The voice server says: KAME's weights are not there")


async def test_a_server_that_hangs_up_again_and_again_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_connection, "PAUSES", (0.01,))
    met: list[Socket] = []

    async def hang_up(socket: Socket) -> None:
        met.append(socket)
        await socket.send(b"\x00")
        await socket.close(1011)

    async with misbehaving(hang_up) as url:
        connection = ServerConnection(read_address(url))
        await asyncio.to_thread(connection.open)
        await until(lambda: bool(connection.failed))
        await asyncio.to_thread(connection.close)
    assert len(met) == remote_connection.MOST_UNSTEADY + 1
    assert connection.failed.endswith("The conversation continues with the built-in voice.")
    assert "can't hold a conversation now" in connection.failed


async def test_a_server_that_is_not_ready_again_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.frontend.remote.connection.RESUME_SECONDS", 0.5)
    met: list[Socket] = []

    async def ready_once(socket: Socket) -> None:
        met.append(socket)
        if len(met) == 1:
            await socket.send(b"\x00")
            await (await socket.ping())  # what was sent before has arrived
            socket.transport.abort()
        await socket.wait_closed()

    async with misbehaving(ready_once) as url:
        connection = ServerConnection(read_address(url))
        await asyncio.to_thread(connection.open)
        await until(lambda: bool(connection.failed))
        await asyncio.to_thread(connection.close)
    assert len(met) >= 2 and "continues with the built-in voice" in connection.failed


async def test_messages_that_cant_be_read_cost_no_conversation() -> None:
    async def newer(socket: Socket) -> None:
        await socket.send(WELCOME.replace('"resumed"', '"mood": "good", "resumed"'))
        await socket.send(b"\x00")
        for message in (
            '{"type": "ThoughtWeighed", "at": 1.0, "grams": 3}',
            "no JSON",
            event_json(e.OracleDelta(1.0, 0, "of no revision")),
            event_json(e.AssistantSaid(1.0, 1, "Hello.", 0)),
        ):
            await socket.send(message)
        await socket.wait_closed()

    async with misbehaving(newer) as url, client(url) as frontend:
        steps = await steps_until(frontend, lambda steps: bool(said(steps)))
    assert said(steps) == "Hello." and not relayed(steps, e.Failure, e.OracleDelta)
    (described,) = relayed(steps, e.ServerDescribed)
    assert "smollm2 thinks there" in described.sentence


async def test_a_client_that_fails_does_not_say_that_it_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_connection, "PAUSES", (0.01,))
    codes: list[int | None] = []

    async def bad_sound(socket: Socket) -> None:
        await socket.send(b"\x00")
        await socket.send(b"\x01" + b"garbage" * 100)
        await socket.wait_closed()
        codes.append(socket.close_code)

    async with misbehaving(bad_sound) as url:
        connection = ServerConnection(read_address(url))
        await asyncio.to_thread(connection.open)
        await until(lambda: bool(connection.failed))
        await asyncio.to_thread(connection.close)
    assert codes and set(codes) == {1011}
    assert "can't be understood (it is no Ogg-Opus)" in connection.failed


async def test_a_new_conversation_has_revisions_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_connection, "PAUSES", (0.01,))
    met: list[Socket] = []

    async def forgetful(socket: Socket) -> None:
        met.append(socket)
        await socket.send(WELCOME)
        await socket.send(b"\x00")
        await socket.send(event_json(e.OracleDelta(1.0, 1, f"thought {len(met)}")))
        if len(met) == 1:
            await (await socket.ping())  # what was sent before has arrived
            socket.transport.abort()
        await socket.wait_closed()

    async with misbehaving(forgetful) as url, client(url) as frontend:
        steps = await steps_until(frontend, lambda steps: len(relayed(steps, e.OracleDelta)) >= 2)
    first, second = relayed(steps, e.OracleDelta)
    assert (first.text, second.text) == ("thought 1", "thought 2")
    assert first.revision != second.revision


@pytest.mark.parametrize("secure", [False, True])
async def test_connections_are_counted_before_their_handshakes(secure: bool) -> None:
    server_side, client_side = None, None
    if secure:
        server_side, client_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
        authority = trustme.CA()
        authority.issue_cert("127.0.0.1").configure_cert(server_side)
        authority.configure_trust(client_side)
    told: list[str] = []
    async with scripted_server(tls=server_side, tell=told.append) as server:
        idle = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(MOST_OF_ADDRESS)]
        await until(lambda: len(server._door._open) == MOST_OF_ADDRESS)
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        assert (await reader.read()).startswith(b"HTTP/1.1 429 ") and len(told) == 1
        for _, waiting in (*idle, (reader, writer)):
            waiting.close()
        await until(lambda: not server._door._open)
        await asyncio.sleep(GONE_SECONDS)
        url = f"{'wss' if secure else 'ws'}://127.0.0.1:{server.port}/api/chat"
        async with connect(url, ssl=client_side, proxy=None) as guest:
            assert await guest.recv() == b"\x00"
        await until(lambda: not server._door._open)


async def test_a_client_that_sends_no_sound_loses_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_connection, "SILENT_SECONDS", 0.3)
    async with scripted_server() as server:
        url = f"ws://127.0.0.1:{server.port}/api/chat"
        async with connect(url, subprotocols=[EVENTS], proxy=None) as silent:
            with pytest.raises(ConnectionClosed):
                while True:
                    await silent.recv()
            async with connect(url, subprotocols=[EVENTS], proxy=None) as second, asyncio.timeout(8):
                assert "welcome" in json.loads(await second.recv()), "its conversation is over"


async def test_a_server_that_has_spent_its_money_takes_no_client() -> None:
    purse = Purse(cap=0.5)
    purse.spend("192.0.2.9", 0.5)
    async with (
        scripted_server(purse=purse) as server,
        connect(f"ws://127.0.0.1:{server.port}/api/chat", proxy=None) as guest,
    ):
        with pytest.raises(ConnectionClosed) as closed:
            await guest.recv()
        assert closed.value.rcvd is not None and "spent as much as it may" in closed.value.rcvd.reason


async def test_a_server_that_never_stops_talking_ends_with_the_sound_that_was_asked_with(tmp_path: Path) -> None:
    """At a bound after the end of the file."""

    async def talks_on(socket: Socket) -> None:
        await socket.send(WELCOME)
        await socket.send(b"\x00")
        encoder, sound = OpusEncoder(), np.full(FRAME_SAMPLES, 0.1, np.float32)
        with contextlib.suppress(ConnectionClosed):
            while True:
                await socket.send(b"\x01" + encoder.push(sound))
                await socket.send(b"\x02 more")
                await asyncio.sleep(FRAME_SECONDS / 2)

    async with misbehaving(talks_on) as url:
        parts = SessionParts(
            frontend=RemoteFrontEnd(url),
            transcriber=ScriptedTranscriber([]),
            voice_activity=ScriptedVoiceActivity([]),
            backend=ScriptedBackend(lambda request: answer("No.")),
            source=FileSource(sounds.write(tmp_path / "q.wav", sounds.room(1.0, dbfs=-40.0))),
            sink=FileSink(tmp_path / "a.wav"),
        )
        config = SessionConfig(SessionChoice(duplex=True), pace="real", max_answer_seconds=1.0)
        async with asyncio.timeout(20), Session(parts, config) as session:
            await session.ended()
