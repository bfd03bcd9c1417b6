"""The service behind the window's list of MCP servers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from app.session.control import UserError
from app.settings.paths import servers_path
from app.tools.base import Effect as Effect
from app.tools.base import ToolError
from app.tools.mcp_connection import offered
from app.tools.server_list import ServerEntry, ServerList, change_list, read_list, server_of, wrong_entry

TEST_SECONDS = 60.0
"""How long a server may take to start during a test; it may have to be downloaded first."""
TOOLS_NAMED = 8


class ToolServerService:
    """The user's list of MCP servers. `path`: the path of the list, if not the default."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    async def servers(self) -> ServerList:
        """Reads the list from disk."""
        return await asyncio.to_thread(read_list, self._place())

    def wrong(self, changed: Sequence[ServerEntry], others: Sequence[str] = ()) -> tuple[int, str] | None:
        """Returns the index of the first invalid entry and an error message, or None if all can be saved.

        `others`: the names of the other servers in the list.
        """
        return wrong_entry(changed, others)

    async def keep(self, changed: Sequence[ServerEntry], removed: Sequence[str]) -> ServerList:
        """Saves new and changed entries, deletes those named in `removed`; returns the new list. Raises UserError."""

        def keep() -> ServerList:
            change_list(self._place(), changed, removed)
            return read_list(self._place())

        try:
            return await asyncio.to_thread(keep)
        except ToolError as error:
            raise UserError(str(error)) from None

    async def test(self, server: ServerEntry) -> tuple[str, tuple[str, ...]]:
        """Connects to a server; returns a user-facing message, and the names of its tools. Raises UserError.

        Cancellation closes the connection.
        """
        try:
            known = await asyncio.to_thread(server_of, self._place(), server)
            names = await offered(known, seconds=TEST_SECONDS)
        except ToolError as error:
            raise UserError(str(error)) from None
        if not names:
            return f"“{server.name}” answers, but offers no tools.", ()
        named = [name if len(name) <= 40 else f"{name[:39]}…" for name in names[:TOOLS_NAMED]]
        if left := len(names) - len(named):
            named.append(f"and {left} more")
        sentence = (
            f"“{server.name}” works. It offers {len(names)} tool{'s' if len(names) > 1 else ''}: {', '.join(named)}."
        )
        return sentence, tuple(names)

    def _place(self) -> Path:
        return self._path or servers_path()
