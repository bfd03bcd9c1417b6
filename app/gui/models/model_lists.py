"""The places that offer models (providers and servers), their state, and the models of each.

Lists are fetched in the background; until then, a provider's suggestions stand in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from PySide6.QtCore import QObject, Signal

from app.gui.design.model_look import ModelId, model_name
from app.gui.models.servers import Servers
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import LOCATED, MODELLED
from app.gui.widgets.translation import said
from app.services.backend_service import BackendService, FoundServer, Offer, ProviderView
from app.services.provider_keys import display_name
from app.session.control import BackendChoice
from app.untrusted.proxies import on_this_machine

State = Literal["unknown", "usable", "keyless", "away"]
"""Whether a place can be used: not asked yet, it can, it needs a key first, or it doesn't answer."""

_Place = tuple[str, str]
_FIND = "find servers on this machine"


@dataclass(frozen=True, slots=True)
class Place:
    """A provider or server. `known`: the choice last used there, which also has its address."""

    known: BackendChoice
    label: str
    own: bool = False
    """Whether it is a server of the user's own list."""

    @property
    def local(self) -> bool:
        """Whether it is on this machine."""
        return self.known.provider in LOCATED and on_this_machine(self.known.base_url)


class ModelLists(QObject):
    """Fetches and caches model lists, keyed by provider and URL.

    Emits `changed` with the provider and URL when a fetch succeeds or fails, and empty ones when the places change.
    """

    changed = Signal(str, str)

    def __init__(
        self,
        views: Sequence[ProviderView],
        service: BackendService | None,
        servers: Servers,
        background: BackgroundTasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.views = {view.key: replace(view, label=said(view.label)) for view in views}
        self.servers = servers
        self.awake = False
        """Whether the event loop is running. Until then, `ask` is a no-op."""
        self.refused: set[_Place] = set()
        """The places that have refused a request in this run, perhaps for want of a key."""
        self.here: tuple[FoundServer, ...] = ()
        """Servers that run on this machine and are not in the user's list."""
        self._service = service
        self._background = background
        self._found: dict[_Place, Offer] = {}
        self._trouble: dict[_Place, str] = {}
        servers.changed.connect(lambda: self.changed.emit("", ""))

    # -- names

    def label(self, provider: str) -> str:
        """Returns a provider's display name."""
        view = self.views.get(provider)
        return view.label if view is not None else provider

    def place_label(self, choice: BackendChoice) -> str:
        """Returns the display name of where a model is: the server's name, or the provider's."""
        server = self.servers.find(choice.place)
        if server is not None:
            return server.label
        return display_name(choice) if choice.provider in LOCATED and choice.base_url else self.label(choice.provider)

    def model_id(self, choice: BackendChoice, model: str = "") -> ModelId:
        """Returns what events call a choice; `model`: the id of its model, if the choice leaves it open."""
        named_by_host = choice if choice.provider == "compatible" else BackendChoice(choice.provider)
        return display_name(named_by_host), choice.model or model

    def words(self, choice: BackendChoice) -> str:
        """Returns a back-end's display name."""
        label = self.place_label(choice)
        return f"{model_name('', choice.model)} ({label})" if choice.model else label

    # -- places

    def places(self, recall: Callable[[str], BackendChoice]) -> list[Place]:
        """Returns all places whose models have names. `recall`: returns the choice last used for a provider."""
        found = []
        for provider, view in self.views.items():
            if provider not in MODELLED:
                continue
            known = recall(provider)
            if provider not in LOCATED:
                found.append(Place(known, view.label))
            elif view.url:  # its own server, wherever the user has it
                at = known if known.base_url in ("", view.url) else BackendChoice(provider)
                found.append(Place(replace(at, base_url=view.url), view.label))
        for server in self.servers.servers:
            used = recall(server.provider)
            model = used.model if used.base_url == server.base_url else ""
            place = Place(BackendChoice(server.provider, model, server.base_url), server.label, True)
            if all(one.known.place != server.place for one in found):
                found.append(place)
        return found

    def state(self, choice: BackendChoice) -> State:
        """Returns whether a place can be used, as far as that is known."""
        if choice.place in self._trouble:
            return "away"
        offer = self._found.get(choice.place)
        if offer is None:
            return "unknown"
        view = self.views.get(choice.provider)
        return "keyless" if view is not None and view.wants_key and not offer.asked else "usable"

    def offered(self, choice: BackendChoice) -> tuple[str, ...]:
        """Returns the models in the fetched list or, until it has been fetched, the provider's suggestions."""
        view = self.views.get(choice.provider)
        offer = self._found.get(choice.place)
        return offer.models if offer is not None else view.suggestions if view is not None else ()

    def trouble(self, choice: BackendChoice) -> str:
        """Returns the error message of the last fetch, or an empty string if it didn't fail."""
        return self._trouble.get(choice.place, "")

    def can_ask(self, choice: BackendChoice) -> bool:
        """Returns whether a choice's server can be queried for its models."""
        view = self.views.get(choice.provider)
        if self._service is None or view is None or choice.provider not in MODELLED:
            return False
        return bool(choice.base_url) or view.url != ""

    def busy(self, choice: BackendChoice) -> bool:
        """Returns whether a choice's list is being fetched."""
        return self._background.busy(_task(choice))

    def ask(self, choice: BackendChoice, *, fresh: bool = False) -> None:
        """Fetches a choice's list in the background if possible. `fresh`: whether to bypass the cache."""
        service, place = self._service, choice.place
        if service is None or not self.awake or not self.can_ask(choice) or self.busy(choice):
            return
        if place in self._found and not fresh:
            return

        def found(offer: Offer) -> None:
            self.put(choice, offer)

        def failed(sentence: str) -> None:
            self._trouble[place] = sentence
            self.changed.emit(*place)

        self._background.run(self, _task(choice), lambda: service.offer(choice, fresh=fresh), found, failed)

    def note_failure(self, choice: BackendChoice, sentence: str) -> None:
        """Takes in that a request to a place has failed, perhaps for want of a key."""
        self.refused.add(choice.place)
        if choice.provider in LOCATED:
            self._trouble[choice.place] = sentence
            self.changed.emit(*choice.place)

    def put(self, choice: BackendChoice, offer: Offer) -> None:
        """Takes in what a place offers."""
        self._trouble.pop(choice.place, None)
        self._found[choice.place] = offer
        self.changed.emit(*choice.place)

    def look_around(self) -> None:
        """Looks for servers that run on this machine, in the background."""
        service = self._service
        if service is None or not self.awake or "compatible" not in self.views:
            return

        def found(servers: Sequence[FoundServer]) -> None:
            here = tuple(one for one in servers if self.servers.find(one.choice.place) is None)
            if here != self.here:
                self.here = here
                self.changed.emit("", "")

        self._background.run(self, _FIND, service.servers_here, found, lambda sentence: None)


def _task(choice: BackendChoice) -> str:
    return f"list models of {choice.provider} {choice.base_url}".strip()
