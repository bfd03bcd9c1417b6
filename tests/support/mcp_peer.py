"""A small server of tools, written with the official package: over stdio, or with --http over loopback. With --http it
prints the port it listens on. Both write to stderr, which must not be shown."""

import os
import socket
import sys

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("peer")


@server.tool()
def add(a: int, b: int) -> str:
    """Adds two numbers."""
    return f"{a} and {b} make {a + b}"


@server.tool()
def fail(secret: str = "") -> str:
    """Fails, and repeats its environment."""
    raise ToolError(f"no luck with {os.environ.get('PEER_SECRET', 'nothing')}{secret}")


@server.tool()
async def wait(seconds: float) -> str:
    """Takes its time."""
    await anyio.sleep(seconds)
    return "at last"


@server.tool()
def die() -> str:
    """Ends the process."""
    os._exit(3)


@server.tool(name="näme with spaces")
def odd() -> str:
    """Has an odd name, and gives much."""
    return "long " * 2_000


@server.tool()
def pid() -> str:
    """The process's id."""
    return str(os.getpid())


def main() -> None:
    """Serves until its stdin ends, or (--http) until it is terminated."""
    print("the peer says something that is not for the console", file=sys.stderr, flush=True)
    if sys.argv[1:] != ["--http"]:
        server.run("stdio")
        return
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="critical")
    anyio.run(uvicorn.Server(config).serve, [listening])


if __name__ == "__main__":
    main()
