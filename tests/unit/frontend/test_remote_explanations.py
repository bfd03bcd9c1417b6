"""Why a voice server can't be reached, in sentences that say what to do."""

from __future__ import annotations

import asyncio
import ssl

import pytest
import trustme
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosedError, InvalidProxy, InvalidStatus
from websockets.frames import Close
from websockets.http11 import Response

from app.frontend.base import FrontEndError
from app.frontend.remote.address import explain, read_address
from app.frontend.remote.frontend import RemoteFrontEnd
from tests.support.served import scripted_server

ADDRESS = read_address("wss://talk.example.org")


def status(number: int) -> InvalidStatus:
    return InvalidStatus(Response(number, "", Headers()))


def closed(code: int) -> ConnectionClosedError:
    return ConnectionClosedError(Close(code, ""), None)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (status(401), "wants another key"),
        (status(403), "refuses connections by this name"),
        (status(404), "no server of Moshi's protocol (it answered 404)"),
        (status(503), "busy with another conversation"),
        (closed(1013), "busy with another conversation"),
        (closed(1011), "can hold no conversation now"),
        (closed(1008), "does not answer"),
        (ImportError("python-socks"), "SOCKS proxy"),
        (InvalidProxy("ftp://x", "no proxy"), "proxy"),
        (ssl.SSLCertVerificationError(1, "self-signed"), "can't be trusted"),
        (ssl.SSLError(1, "WRONG_VERSION_NUMBER"), "ws:// instead of wss://"),
        (ValueError("it is no Ogg-Opus"), "can't be understood (it is no Ogg-Opus)"),
        (ConnectionRefusedError(111, "refused"), "does not answer"),
        (TimeoutError(), "does not answer"),
        (None, "does not answer"),
    ],
)
def test_each_failure_has_its_own_sentence(error: Exception | None, words: str) -> None:
    sentence = explain(error, ADDRESS, was_ready=False)
    assert words in sentence and sentence.endswith(".") and "talk.example.org:8998" in sentence


def test_a_connection_that_had_worked_is_lost() -> None:
    assert "any more" in explain(ConnectionResetError(104, "reset"), ADDRESS, was_ready=True)
    assert "any more" in explain(None, ADDRESS, was_ready=True)


async def test_a_server_without_tls_is_told_from_one_that_cant_be_trusted() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as plain:
        port = plain.sockets[0].getsockname()[1]
        with pytest.raises(FrontEndError, match="ws:// instead of wss://"):
            await asyncio.to_thread(RemoteFrontEnd(f"wss://127.0.0.1:{port}").__enter__)
    async with scripted_server() as own:
        with pytest.raises(FrontEndError, match="ws:// instead of wss://"):
            await asyncio.to_thread(RemoteFrontEnd(f"wss://127.0.0.1:{own.port}").__enter__)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as unknown:
        port = unknown.sockets[0].getsockname()[1]
        with pytest.raises(FrontEndError, match="its certificate is not one that this machine knows"):
            await asyncio.to_thread(RemoteFrontEnd(f"wss://127.0.0.1:{port}").__enter__)
        with pytest.raises(FrontEndError, match="wss:// instead of ws://"):
            await asyncio.to_thread(RemoteFrontEnd(f"ws://127.0.0.1:{port}").__enter__)
