"""Lists the models that can be chosen by where they run: on this computer, on the network, in the cloud."""

from __future__ import annotations

import ipaddress
import urllib.parse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from app.gui.backends.model_lists import ModelLists
from app.gui.state.choice import LOCATED, MODELLED, is_router
from app.services.model_service import ModelView
from app.session.control import ROUTER, BackendChoice

Section = Literal["favourites", "here", "network", "cloud", "router", "download"]
SECTIONS: tuple[Section, ...] = ("favourites", "here", "network", "cloud", "router", "download")
MOST_OF_A_PROVIDER = 6
"""So many of a provider's models are listed without a search."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model to choose. `detail`: who runs it, or how large it is; `keys`: its shortcut; `download`: a key of the
    catalogue, for a model that has to be fetched first.
    """

    section: Section
    choice: BackendChoice
    name: str
    detail: str = ""
    keys: str = ""
    download: str = ""

    def matches(self, words: Sequence[str]) -> bool:
        """Whether all `words`, in lower case, are in its name or detail."""
        text = f"{self.name} {self.detail}".lower()
        return all(word in text for word in words)


def model_rows(
    lists: ModelLists,
    catalogue: Iterable[ModelView],
    favourites: Sequence[BackendChoice],
    current: BackendChoice,
    recall: Callable[[str], BackendChoice],
    search: str = "",
) -> list[ModelRow]:
    """The rows of all sections in their order. `recall` returns the choice last used for a provider."""
    words = search.lower().split()
    models = [model for model in catalogue if model.kind == "llm"]
    labels = {model.key: model.label for model in models}
    rows = [
        ModelRow("favourites", choice, _name(choice, labels, lists), _detail(choice, lists), f"Alt+{number}")
        for number, choice in enumerate(favourites, 1)
    ]
    rows += _embedded(models, lists, current)
    for provider in lists.views:
        if provider in MODELLED:
            rows += _of_provider(provider, lists, current, recall(provider), everything=bool(words))
    if ROUTER in lists.views:
        rows.append(ModelRow("router", BackendChoice(ROUTER), lists.label(ROUTER)))
    rows += [
        ModelRow(
            "download", BackendChoice("embedded", model.key), model.label, f"{model.bytes / 1e9:.1f} GB", "", model.key
        )
        for model in models
        if not model.usable and not model.fits
    ]
    rows = [row for row in rows if row.matches(words)]
    return sorted(rows, key=lambda row: SECTIONS.index(row.section))


def _embedded(models: Sequence[ModelView], lists: ModelLists, current: BackendChoice) -> list[ModelRow]:
    if "embedded" not in lists.views:
        return []
    label = lists.label("embedded")
    here = [model for model in models if model.usable]
    if not here:
        choice = current if current.provider == "embedded" else BackendChoice("embedded")
        return [ModelRow("here", choice, choice.model or label, label if choice.model else "")]
    rows = [ModelRow("here", BackendChoice("embedded", model.key), model.label, label) for model in here]
    if current == BackendChoice("embedded"):  # which model that is, the app decides
        rows.insert(0, ModelRow("here", current, label))
    return rows


def _of_provider(
    provider: str, lists: ModelLists, current: BackendChoice, known: BackendChoice, *, everything: bool
) -> list[ModelRow]:
    view = lists.views[provider]
    place = known
    if provider in LOCATED and not known.base_url:
        place = BackendChoice(provider, known.model, view.url or "")
        if not place.base_url:
            return []  # a server of the user's own without an address yet
    section: Section = "cloud"
    if provider in LOCATED:
        section = "here" if is_local(place.base_url) else "network"
    names = list(lists.offered(place))
    if place.model and place.model not in names:
        names.insert(0, place.model)
    if current.provider == provider and current.model and current.model not in names:
        names.insert(0, current.model)
    if not everything:
        names = names[:MOST_OF_A_PROVIDER]
    return [ModelRow(section, BackendChoice(provider, name, known.base_url), name, view.label) for name in names]


def is_local(url: str) -> bool:
    """Whether an address is this machine's own."""
    try:
        host = urllib.parse.urlsplit(url).hostname or ""
    except ValueError:
        return False
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name(choice: BackendChoice, labels: dict[str, str], lists: ModelLists) -> str:
    return labels.get(choice.model, choice.model) or lists.label(choice.provider)


def _detail(choice: BackendChoice, lists: ModelLists) -> str:
    return lists.label(choice.provider) if choice.model and not is_router(choice) else ""
