"""A network with faults on loopback: a proxy that delays what passes, holds it up, and breaks connections."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator


class FaultyNetwork:
    """Passes TCP connections on to `port`. Each chunk is `delay` seconds late, or up to `jitter` more, at random.
    `loss`: the share of chunks that are lost once: TCP sends them again after `retransmission` seconds, and what comes
    behind them waits."""

    def __init__(
        self,
        port: int,
        *,
        delay: float = 0.0,
        jitter: float = 0.0,
        loss: float = 0.0,
        retransmission: float = 0.25,
        seed: int = 1,
    ) -> None:
        self.port = 0
        self.losses = 0
        self.connections = 0
        self.down = False
        """While True, nobody gets through."""
        self.holding = False
        """While True, what the server sends is held up; it is lost if the connection is cut meanwhile."""
        self._to = port
        self._delay, self._jitter, self._loss, self._retransmission = delay, jitter, loss, retransmission
        self._random = random.Random(seed)
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    def cut(self) -> None:
        """Breaks all connections, as when a cable is pulled and the system notices."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self.down:
            writer.transport.abort()
            return
        try:
            there, out = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, out}
        with contextlib.suppress(OSError):
            await asyncio.gather(self._carry(reader, out), self._carry(there, writer, answers=True))
        for end in (writer, out):
            self._writers.discard(end)
            end.close()

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool = False
    ) -> None:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                at, data = await queue.get()
                await asyncio.sleep(max(0.0, at - loop.time()))
                while answers and self.holding:
                    await asyncio.sleep(0.01)
                if not data:
                    writer.close()
                    return
                writer.write(data)
                await writer.drain()

        delivering = asyncio.create_task(deliver())
        last = 0.0
        try:
            while True:
                data = await reader.read(65_536)
                late = self._delay + self._random.uniform(0.0, self._jitter)
                if data and self._random.random() < self._loss:
                    self.losses += 1
                    late += self._retransmission
                last = max(last, loop.time() + late)  # TCP keeps the order
                queue.put_nowait((last, data))
                if not data:
                    await delivering
                    return
        finally:
            delivering.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._pass_on(reader, writer)
        finally:
            self._tasks.discard(task)


@contextlib.asynccontextmanager
async def faulty_network(port: int, **faults: float) -> AsyncIterator[FaultyNetwork]:
    """A running `FaultyNetwork` in front of `port`."""
    network = FaultyNetwork(port, **faults)  # type: ignore[arg-type]
    server = await asyncio.start_server(network._serve, "127.0.0.1", 0)
    network.port = server.sockets[0].getsockname()[1]
    try:
        yield network
    finally:
        server.close()
        network.cut()
        if network._tasks:
            await asyncio.wait(network._tasks, timeout=5)
        await server.wait_closed()
