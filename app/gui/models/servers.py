"""The user's own servers of language models: any number, each with a name, kept over restarts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.gui.design.model_look import set_server_names
from app.gui.state.choice import LOCATED
from app.gui.state.settings_controller import SettingsController
from app.services.provider_keys import display_name, read_address
from app.session.control import BackendChoice

LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Server:
    """A server. `provider`: "compatible" or "ollama". An empty `name` stands for its host and port."""

    provider: str
    base_url: str
    name: str = ""

    @property
    def place(self) -> tuple[str, str]:
        """Its provider and address; see `BackendChoice.place`."""
        return self.provider, self.base_url

    @property
    def host(self) -> str:
        """Its host and port, which is what events call it."""
        return display_name(BackendChoice(self.provider, "", self.base_url))

    @property
    def label(self) -> str:
        """What the user calls it."""
        return self.name or self.host


def read_servers(rows: Iterable[Any]) -> list[Server]:
    """Returns the servers in `rows`, skipping malformed entries."""
    found = []
    for row in rows:
        if isinstance(row, dict) and row.get("provider") in LOCATED:
            address = read_address(str(row.get("base_url", "")))
            if address:
                found.append(Server(str(row["provider"]), address, str(row.get("name", ""))[:LONGEST_NAME]))
    return list({server.place: server for server in found}.values())


class Servers(QObject):
    """The list, which is stored in the window's state. `changed` is emitted whenever it is different."""

    changed = Signal()

    def __init__(self, keep: SettingsController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._keep = keep
        self.servers: tuple[Server, ...] = tuple(read_servers(keep.state.servers))
        self._name_them()

    def find(self, place: tuple[str, str]) -> Server | None:
        """Returns the server at a place, if it is in the list."""
        return next((server for server in self.servers if server.place == place), None)

    def add(self, choice: BackendChoice, name: str = "") -> None:
        """Adds the server of a choice, unless it is in the list or the provider's own."""
        own = display_name(choice) == display_name(BackendChoice(choice.provider))
        if choice.provider in LOCATED and choice.base_url and not own and self.find(choice.place) is None:
            self._set((*self.servers, Server(choice.provider, choice.base_url, name.strip()[:LONGEST_NAME])))

    def rename(self, place: tuple[str, str], name: str) -> None:
        """Changes what a server is called; empty for its host and port."""
        name = name.strip()[:LONGEST_NAME]
        self._set(tuple(replace(one, name=name) if one.place == place else one for one in self.servers))

    def move(self, place: tuple[str, str], base_url: str) -> None:
        """Changes the address of a server."""
        moved = (replace(one, base_url=base_url) if one.place == place else one for one in self.servers)
        self._set(tuple({server.place: server for server in moved}.values()))

    def remove(self, place: tuple[str, str]) -> None:
        """Removes a server from the list. Its key stays where it is kept."""
        self._set(tuple(server for server in self.servers if server.place != place))

    def _set(self, servers: tuple[Server, ...]) -> None:
        if servers == self.servers:
            return
        self.servers = servers
        rows = [{"provider": one.provider, "base_url": one.base_url, "name": one.name} for one in servers]
        self._keep.remember(servers=rows)
        self._name_them()
        self.changed.emit()

    def _name_them(self) -> None:
        set_server_names({server.host: server.name for server in self.servers if server.name})
