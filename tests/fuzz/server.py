"""A server on loopback that gives bytes as they are, in the event loop of the client that is tried."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import cast


@dataclass
class Delivered:
    """One answer: its status, headers and body; `length`: whether the body's length is announced."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    length: bool = True


@contextlib.asynccontextmanager
async def serving(answer_to: Callable[[str, bytes], Delivered]) -> AsyncIterator[str]:
    """Gives the address of a server that answers each request by its path and body, one for a connection."""

    tasks: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(cast(asyncio.Task[None], asyncio.current_task()))
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path = head.split(" ", 2)[1]
            length = next((int(line[15:]) for line in head.splitlines() if line.lower()[:15] == "content-length:"), 0)
            given = answer_to(path, await reader.readexactly(length))
            lines = [
                f"HTTP/1.1 {given.status} X",
                "Connection: close",
                *(f"{k}: {v}" for k, v in given.headers.items()),
            ]
            if given.length:
                lines.append(f"Content-Length: {len(given.body)}")
            writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + given.body)
            await writer.drain()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=2**20)
    try:
        host, port = server.sockets[0].getsockname()[:2]
        yield f"http://{host}:{port}"
    finally:
        server.close()
        if tasks:
            await asyncio.wait(tasks)
        await server.wait_closed()
