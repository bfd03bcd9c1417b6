"""Conversations over loopback: a voice server, clients of Moshi's protocol, the front-end `remote`, bad networks."""

import asyncio
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.audio.io.opus import OpusDecoder, OpusEncoder
from app.audio.io.pushed import PushedSource, SendingSink
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, Frame, silence
from app.conversation.turns.floor import Interrupt, Silence, TakeFloor
from app.frontend.base import FrontEndError, FrontEndStep
from app.frontend.remote.address import read_address
from app.frontend.remote.connection import FIRST_REVISION, ServerConnection
from app.frontend.remote.frontend import RemoteFrontEnd
from app.server import server as server_module
from app.server.server import VoiceServer
from app.session.session import Session
from tests.support.faulty_network import faulty_network
from tests.support.scripted import ScriptedTurn
from tests.support.served import QUESTION, ROOM, client, relayed, said, scripted_server, scripted_session, served, until


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
