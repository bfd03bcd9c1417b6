"""Conversations over loopback: voice servers, clients of Moshi's protocol, the front-end `remote`, and faults."""

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
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.audio.io.files import FileSink, FileSource
from app.audio.io.opus import OpusDecoder, OpusEncoder
from app.audio.io.pushed import PushedSource, SendingSink
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, Frame, silence
from app.conversation.turns.floor import Interrupt, Silence, TakeFloor
from app.frontend.base import LINGER_FRAMES, FrontEndError, FrontEndStep
from app.frontend.remote import connection as remote_connection
from app.frontend.remote.address import read_address
from app.frontend.remote.connection import FIRST_REVISION, ServerConnection
from app.frontend.remote.frontend import RemoteFrontEnd
from app.frontend.remote.protocol import EVENTS, Welcome, event_json, welcome_json
from app.server import connection as server_connection
from app.server import server as server_module
from app.server.admission import GONE_SECONDS, MOST_OF_ADDRESS, Purse
from app.server.server import VoiceServer
from app.session.control import SessionChoice
from app.session.parts import SessionConfig
from app.session.session import Session
from tests.support import sounds
from tests.support.faulty_network import faulty_network
from tests.support.scripted import ScriptedTurn
from tests.support.served import QUESTION, ROOM, client, relayed, said, scripted_server, scripted_session, served, until
from tests.support.talks import scripted_parts


async def run(frontend: RemoteFrontEnd, frames: int, first: int = 0, **inputs: Any) -> list[FrontEndStep]:
    """Steps in real time; `inputs`: `at_N` is given with frame N."""
    out, begin = [], asyncio.get_running_loop().time()
    for number in range(frames):
        given = inputs.get(f"at_{first + number}", ())
        out.append(frontend.step(Frame(first + number, ROOM.copy()), given))
        await asyncio.sleep(max(0.0, begin + (number + 1) * FRAME_SECONDS - asyncio.get_running_loop().time()))
    return out


async def test_the_front_end_says_what_the_server_says_and_shows_its_oracle() -> None:
    async with scripted_server() as server, client(server.port) as frontend:
        steps = await run(frontend, 30, at_2=(Interrupt(turn=1),), at_10=(TakeFloor(1),))
    assert said(steps) == "It is Stockholm."
    assert [(mark.what, mark.turn) for step in steps for mark in step.marks] == [("started", 1), ("ended", 1)]
    assert any(np.abs(step.samples).max() > 0.05 for step in steps)
    (described,) = relayed(steps, e.ServerDescribed)
    assert "script thinks there" in described.sentence and "can't read what you type" in described.sentence
    asked = relayed(steps, e.OracleRequested)
    assert asked and all(event.revision > FIRST_REVISION and event.turn == 1 for event in asked)
    assert "".join(event.text for event in relayed(steps, e.OracleDelta)).endswith("It is Stockholm.")
    told = [one.revision for step in steps for one in step.said]
    assert set(told) <= {event.revision for event in asked}
    assert [one.written for step in steps for one in step.said][-1] == (len("It is"), len("It is Stockholm."))


async def test_an_answer_is_expected_for_as_long_as_the_server_thinks() -> None:
    async with scripted_server(first=2.6) as server, client(server.port) as frontend:
        steps, idle = [], []
        while not said(steps) and len(steps) < 100:
            steps += await run(frontend, 1, len(steps), at_10=(TakeFloor(1),))
            idle.append(frontend.idle)
    assert said(steps) == "It" and len(steps) > 10 + LINGER_FRAMES and not any(idle[10:])


async def test_an_interruption_silences_the_server_at_once() -> None:
    async with (
        scripted_server(said="It is Stockholm, and has been for some hundred years now.") as server,
        client(server.port) as frontend,
    ):
        before = await run(frontend, 20, at_2=(Interrupt(turn=1),), at_10=(TakeFloor(1),))
        after = await run(frontend, 5, 20, at_20=(Silence(1),))
    assert np.abs(before[-1].samples).max() > 0.05
    assert after[0].flush and [mark.what for mark in after[0].marks] == ["interrupted"]
    assert not any(step.samples.any() or step.said for step in after)


async def _moshi_client(
    server: VoiceServer, seconds: float, headers: dict[str, str] | None = None
) -> tuple[np.ndarray, str]:
    """What a client of Moshi's own kind hears and reads: it gets one frame for each that it sends but the first."""
    encoder, decoder = OpusEncoder(), OpusDecoder()
    heard, words = [], ""
    async with connect(f"ws://127.0.0.1:{server.port}/api/chat", additional_headers=headers, proxy=None) as socket:
        assert await socket.recv() == b"\x00"

        async def send() -> None:
            for _ in range(round(seconds / FRAME_SECONDS)):
                await socket.send(b"\x01" + encoder.push(ROOM))
                await asyncio.sleep(FRAME_SECONDS)

        sending, silent = asyncio.create_task(send()), False
        while not (sending.done() and silent):
            try:
                async with asyncio.timeout(0.2):
                    message, silent = await socket.recv(), False
            except TimeoutError:
                silent = True
                continue
            assert isinstance(message, bytes)
            if message[0] == 1:
                heard.append(decoder.push(message[1:]))
            else:
                assert message[0] == 2
                words += message[1:].decode()
    return np.concatenate(heard), words


async def test_a_client_of_moshis_protocol_gets_sound_for_sound_and_the_words() -> None:
    async with scripted_server() as server:
        heard, words = await _moshi_client(server, 2.8)
        assert words == " It is Stockholm."
        sent = round(2.8 / FRAME_SECONDS) * FRAME_SAMPLES
        assert len(heard) == pytest.approx(sent, abs=3 * FRAME_SAMPLES)
        # A client that records puts a frame of silence in front, and must not get more than it has sent then.
        assert len(heard) + FRAME_SAMPLES <= sent
        first = np.flatnonzero(np.abs(heard) > 0.05)[0] / 24_000
        assert QUESTION[0].end < first < QUESTION[0].end + 1.5  # as late in the output as in the input
        # And the next one, right behind it, gets a conversation of its own.
        assert (await _moshi_client(server, 2.4))[1] == " It is Stockholm."


async def test_one_conversation_at_a_time_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "TURN_SECONDS", 0.3)
    lines: list[str] = []
    async with scripted_server(tell=lines.append) as server:
        async with client(server.port):
            with pytest.raises(FrontEndError, match="busy with another conversation"):
                await asyncio.to_thread(RemoteFrontEnd(f"ws://127.0.0.1:{server.port}").__enter__)
        await until(lambda: lines[-1:] == ["The conversation is over."])
        async with client(server.port):
            pass
    async with scripted_server(at_once=2) as server:
        both = await asyncio.gather(_moshi_client(server, 2.4), _moshi_client(server, 2.4))
    assert [words for _, words in both] == [" It is Stockholm."] * 2


async def test_a_server_with_a_key_talks_with_who_has_it() -> None:
    async with scripted_server(key="the-key-of-the-house") as server:
        with pytest.raises(FrontEndError, match="another key"):
            await asyncio.to_thread(RemoteFrontEnd(f"ws://127.0.0.1:{server.port}", "something-else-12").__enter__)
        with pytest.raises(InvalidStatus):
            await _moshi_client(server, 1.0)
        async with client(server.port, "the-key-of-the-house"):
            pass
        _, words = await _moshi_client(server, 2.4, {"Authorization": "Bearer the-key-of-the-house"})
        assert words == " It is Stockholm."


async def test_what_is_not_a_voice_server_is_reported_in_a_sentence() -> None:
    async with faulty_network(1) as network:  # nobody listens behind it
        with pytest.raises(FrontEndError, match="does not answer"):
            await asyncio.to_thread(RemoteFrontEnd(f"ws://127.0.0.1:{network.port}").__enter__)
    plain = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    async with plain:
        with pytest.raises(FrontEndError, match="does not answer"):
            await asyncio.to_thread(RemoteFrontEnd(f"ws://127.0.0.1:{plain.sockets[0].getsockname()[1]}").__enter__)
    async with scripted_server() as server:
        with pytest.raises(FrontEndError, match="does not speak Moshi's protocol"):
            await asyncio.to_thread(RemoteFrontEnd(f"ws://127.0.0.1:{server.port}/elsewhere").__enter__)


async def test_a_lost_connection_comes_back_to_the_same_conversation() -> None:
    script = [*QUESTION, ScriptedTurn(3.04, 3.44, "And of Norway now?")]
    async with (
        scripted_server(script) as server,
        faulty_network(server.port) as network,
        client(network.port) as frontend,
    ):
        first = await run(frontend, 28, at_2=(Interrupt(turn=1),), at_10=(TakeFloor(1),))
        network.down = True
        network.cut()
        away = await run(frontend, 8, 28)
        network.down = False
        back = await run(frontend, 34, 36, at_38=(Interrupt(turn=2),), at_46=(TakeFloor(2),))
    assert said(first) == "It is Stockholm."
    (lost,) = relayed(away, e.Failure)
    assert "is lost" in lost.sentence
    (again,) = relayed(back, e.ServerDescribed)
    assert again.sentence == "The voice server is connected again."
    # The server's session went on: its script has the second question at its own time, in the sound that was kept.
    assert said(back) == "It is Stockholm."


async def test_a_server_that_stays_away_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.frontend.remote.connection.RESUME_SECONDS", 0.5)
    async with scripted_server() as server, faulty_network(server.port) as network, client(network.port) as frontend:
        await run(frontend, 5)
        network.down = True
        network.cut()
        with pytest.raises(FrontEndError, match="continues with the built-in voice"):
            await run(frontend, 60, 5)


async def test_the_session_of_a_client_that_stays_away_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "RESUME_SECONDS", 0.3)
    lines: list[str] = []
    async with scripted_server(tell=lines.append) as server, faulty_network(server.port) as network:
        connection = ServerConnection(read_address(f"ws://127.0.0.1:{network.port}"))
        await asyncio.to_thread(connection.open)
        network.down = True
        network.cut()
        await until(lambda: lines[-1:] == ["The conversation is over."])
        await asyncio.to_thread(connection.close)
    assert lines == ["A client has come.", "The conversation is over."]


@pytest.mark.slow
async def test_jitter_and_loss_cost_no_sound_and_no_word() -> None:
    script = [ScriptedTurn(2.0, 2.8, "What is the capital of Sweden?")]
    long = "It is Stockholm, which lies on fourteen islands where a lake meets the sea."
    async with (
        scripted_server(script, long) as server,
        faulty_network(server.port, delay=0.05, jitter=0.2, loss=0.02, seed=3) as network,
        client(network.port) as frontend,
    ):
        steps = await run(frontend, 130, at_30=(Interrupt(turn=1),), at_45=(TakeFloor(1),))
    assert said(steps) == long
    loud = [bool(np.abs(step.samples).max() > 0.05) for step in steps]
    sounding = loud[loud.index(True) : len(loud) - loud[::-1].index(True)]
    letters = len(long) * 0.06 / FRAME_SECONDS
    assert sum(loud) == pytest.approx(letters, abs=3)  # all of it was played,
    assert sounding.count(False) <= 8, sounding  # with few gaps while the network's jitter was still unknown


async def test_what_a_client_sends_breaks_no_server() -> None:
    messages = [b"\x01garbage", b"\x01OggS" + bytes(300), b"\x07unknown", b"", "a text message", b"\x01"]
    async with scripted_server() as server:
        for message in messages:
            async with connect(f"ws://127.0.0.1:{server.port}/api/chat", proxy=None) as socket, asyncio.timeout(8):
                assert await socket.recv() == b"\x00", f"no place is free after the message before {message!r}"
                await socket.send(message)
                try:
                    await socket.send(b"\x01" + OpusEncoder().push(silence()))
                    await asyncio.sleep(0.2)
                except ConnectionClosed:
                    pass
        assert (await _moshi_client(server, 2.4))[1] == " It is Stockholm."


async def test_a_client_that_reads_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.server.connection.MOST_WAITING", 5)
    lines: list[str] = []
    sinks: list[SendingSink] = []

    async def make(source: PushedSource, sink: SendingSink) -> Session:
        sinks.append(sink)
        return scripted_session(source, sink)

    async with served(make, tell=lines.append) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(
            b"GET /api/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        await reader.readuntil(b"\r\n\r\n")
        await until(lambda: bool(sinks))
        loud = np.random.default_rng(1).uniform(-0.5, 0.5, FRAME_SAMPLES).astype(np.float32)
        async with asyncio.timeout(20):
            while lines[-1:] != ["The conversation is over."]:
                for _ in range(50):
                    sinks[0].write(loud)
                await asyncio.sleep(0.01)
        writer.close()


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
        source = FileSource(sounds.write(tmp_path / "q.wav", sounds.room(1.0, dbfs=-40.0)))
        parts = scripted_parts([], source, "No.", frontend=RemoteFrontEnd(url), sink=FileSink(tmp_path / "a.wav"))
        config = SessionConfig(SessionChoice(duplex=True), pace="real", max_answer_seconds=1.0)
        async with asyncio.timeout(20), Session(parts, config) as session:
            await session.ended()
