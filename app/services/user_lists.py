"""The user's own lists, for the window to show and change: what brains cost, and which servers of tools there are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

from app.backend import PROVIDERS
from app.backend.address import in_own_network
from app.backend.base import BackendError
from app.backend.prices import Price, differences, read_prices, read_users, write_prices
from app.platform.resources import resource
from app.services import backends
from app.services.protocols import PriceRow, ToolServerList, ToolServerView
from app.session.control import ROUTER, BackendChoice
from app.session.errors import UserError
from app.settings.declarations import Settings, prices_path, servers_path
from app.tools import ServerEntry, ToolError, change_list, offered, read_list, server_of, wrong_entry

SERVER_TEST_SECONDS = 60.0
"""So long a server of tools may take to start when it is tested: it may have to be downloaded first."""
TOOLS_NAMED = 8


class PriceList:
    """See `PriceService`."""

    def prices(self) -> tuple[tuple[PriceRow, ...], str]:
        """See `PriceService.prices`."""
        own = read_prices(resource("prices.json"))
        mine, problem = read_users(prices_path())
        rows = []
        for name, price in {**own, **mine}.items():
            shipped = astuple(own[name]) if name in own else None
            rows.append(PriceRow(name, price.tokens_in, price.tokens_cached, price.tokens_out, shipped))
        return tuple(rows), problem

    def keep_prices(self, rows: Sequence[PriceRow], shown: Sequence[PriceRow]) -> None:
        """See `PriceService.keep_prices`."""
        path = prices_path()
        table, before = _table(rows), _table(shown)
        changed = differences(before, table)
        own = read_prices(resource("prices.json"))
        try:
            mine = {name: price for name, price in read_users(path)[0].items() if name in table or name not in before}
            write_prices(path, differences(own, {**mine, **changed}))
        except OSError as error:
            raise UserError(
                f"The prices could not be saved ({error.strerror or error}), so the ones before count on. Check that "
                f"you may write in the folder {path.parent}, and save again."
            ) from error
        backends.price_table.cache_clear()

    def unpriced(self, choice: BackendChoice) -> str | None:
        """See `PriceService.unpriced`; of the router, the first of its brains that it holds for."""
        if choice.provider == ROUTER:
            try:
                routes = backends.read_routes(Settings.load().routes)
            except BackendError:
                return None
            return next((name for one in routes.values() if (name := self.unpriced(one)) is not None), None)
        spec = PROVIDERS.get(choice.provider)
        if spec is None or spec.free:
            return None
        if not spec.wants_key and in_own_network(choice.base_url or spec.default_url):
            return None  # a server of the user's own
        model = choice.model or next(iter(spec.suggestions), "")
        return model if backends.price_table()[0].find(model) is None else None


def _table(rows: Sequence[PriceRow]) -> dict[str, Price]:
    return {row.model: Price(row.tokens_in, row.tokens_cached, row.tokens_out) for row in rows}


class ToolServers:
    """See `ToolServerService`. `path`: where the list is, if not at the user's usual place."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    async def servers(self) -> ToolServerList:
        """See `ToolServerService.servers`."""
        return await asyncio.to_thread(self._read)

    def wrong(self, changed: Sequence[ToolServerView], others: Sequence[str] = ()) -> tuple[int, str] | None:
        """See `ToolServerService.wrong`."""
        return wrong_entry([_entry(server) for server in changed], others)

    async def keep(self, changed: Sequence[ToolServerView], removed: Sequence[str]) -> ToolServerList:
        """See `ToolServerService.keep`."""

        def keep() -> ToolServerList:
            change_list(self._place(), [_entry(server) for server in changed], removed)
            return self._read()

        try:
            return await asyncio.to_thread(keep)
        except ToolError as error:
            raise UserError(str(error)) from None

    async def test(self, server: ToolServerView) -> str:
        """See `ToolServerService.test`."""
        try:
            known = await asyncio.to_thread(server_of, self._place(), _entry(server))
            names = await offered(known, seconds=SERVER_TEST_SECONDS)
        except ToolError as error:
            raise UserError(str(error)) from None
        if not names:
            return f"“{server.name}” answers, but offers no tools."
        named = [name if len(name) <= 40 else f"{name[:39]}…" for name in names[:TOOLS_NAMED]]
        if left := len(names) - len(named):
            named.append(f"and {left} more")
        return f"“{server.name}” works. It offers {len(names)} tool{'s'[: len(names) > 1]}: {', '.join(named)}."

    def _place(self) -> Path:
        return self._path or servers_path()

    def _read(self) -> ToolServerList:
        found = read_list(self._place())
        return ToolServerList(
            tuple(ToolServerView(*astuple(entry)) for entry in found.entries), found.usable, found.trouble
        )


def _entry(view: ToolServerView) -> ServerEntry:
    return ServerEntry(view.name, view.kind, view.command, view.args, view.url, view.kept)
