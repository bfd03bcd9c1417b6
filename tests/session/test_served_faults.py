"""Voice servers and their clients when one of them fails: dead clients, cut connections, servers that misbehave."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection as Socket
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

from app.audio.io.opus import OpusEncoder
from app.audio.io.pushed import PushedSource, SendingSink
from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS, Frame
from app.conversation.turns.floor import Interrupt, TakeFloor
from app.frontend.base import FrontEndError, FrontEndStep
from app.frontend.remote import connection as remote_connection
from app.frontend.remote.address import read_address
from app.frontend.remote.connection import ServerConnection
from app.frontend.remote.frontend import RemoteFrontEnd
from app.frontend.remote.protocol import EVENTS, Welcome, event_json, welcome_json
from app.server import server as server_module
from app.session.session import Session
from tests.support.faulty_network import faulty_network
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


async def test_the_place_of_a_client_that_died_when_greeted_becomes_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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

    async with (
        served(make, tell=lines.append) as server,
        client(server.port) as frontend,
    ):
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
