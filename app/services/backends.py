"""Factories for back-ends, tools and price tables, based on the user's choices.

The routing table maps each kind of question to a back-end; it is stored in the settings as JSON.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.backend import PROVIDERS, make_backend
from app.backend.base import Backend, BackendError, Usage
from app.backend.model_record import ModelRecords
from app.backend.prices import Prices, load_prices
from app.conversation.languages import AUTOMATIC, ENGLISH
from app.models.catalogue import find_model, models_of
from app.models.selection import language_model_here
from app.platform.installation import resource
from app.services.api_keys import api_key, key_at_hand
from app.session.control import ROUTER, BackendChoice, ToolChoice
from app.settings.declarations import Settings
from app.settings.paths import model_records_path, prices_path, servers_path
from app.tools import server_list
from app.tools.toolbox import MCP_PREFIX, Toolbox, make_toolbox
from app.untrusted.json_text import read_json
from app.untrusted.limits import SETTING_LIST
from app.untrusted.proxies import in_own_network

KINDS = ("everyday", "reasoning", "stem", "humanities", "creative")
"""The kinds of questions that the router distinguishes, duplicated since `app.routing.classifier` is slow to import."""

UNREADABLE = "The routing table can't be read. Fill it in again, or choose a model."
NAMES_ITSELF = "The routing table names the router itself. Choose a model for each kind of question."
EMPTY = "The routing table is empty. Choose a model for at least one kind of question, or choose one model for all."


def parse_routes(text: str) -> tuple[dict[str, BackendChoice], list[str]]:
    """Parses a routing table; returns every valid row, and user-facing messages about any problems.

    Unknown kinds and rows without a provider are silently skipped.
    """
    try:
        rows = read_json(text, SETTING_LIST) if text.strip() else {}
    except ValueError:
        return {}, [UNREADABLE]
    if not isinstance(rows, dict):
        return {}, [UNREADABLE]
    known = {kind: row for kind, row in rows.items() if kind in KINDS}
    routes = {
        kind: BackendChoice(*(str(row.get(key, "")) for key in ("provider", "model", "base_url")))
        for kind, row in known.items()
        if isinstance(row, dict) and row.get("provider")
    }
    problems = []
    if not all(isinstance(row, dict) for row in known.values()):
        problems.append(UNREADABLE)
    if any(choice.provider == ROUTER for choice in routes.values()):
        problems.append(NAMES_ITSELF)
    if not routes and not problems:
        problems.append(EMPTY)
    return routes, problems


def write_routes(routes: Mapping[str, BackendChoice]) -> str:
    """Serializes a routing table for the settings."""
    rows = {
        kind: {"provider": choice.provider, "model": choice.model, "base_url": choice.base_url}
        for kind, choice in routes.items()
    }
    return json.dumps(rows, ensure_ascii=False)


RECORDS = ModelRecords(model_records_path)
"""What is known of models, shared by all sessions and commands of this process."""


def backend(choice: BackendChoice, language: str = ENGLISH) -> Backend:
    """Creates the chosen back-end without opening it. May block on the keyring. Raises BackendError."""
    if choice.provider == ROUTER:
        routes, problems = parse_routes(Settings.load().routes)
        if problems:
            raise BackendError(problems[0], "setup")
        return router(routes, language)
    model = choice.model
    if choice.provider == "embedded" and not model:
        model = _embedded_model(language)
    return make_backend(
        choice.provider, model=model, base_url=choice.base_url, key=api_key, key_at_hand=key_at_hand, records=RECORDS
    )


def _embedded_model(language: str) -> str:
    """Returns the best installed model that is fast enough and supports the language. Raises BackendError."""
    spoken = ENGLISH if language == AUTOMATIC else language
    key = language_model_here(spoken)
    if not find_model(key).speaks(spoken):
        names = ", ".join(model.key for model in models_of("llm") if model.speaks(spoken))
        raise BackendError(
            f"No language model for the conversation's language ({spoken}) is on this machine. Get one in “Models and "
            f"servers” or with “models get NAME” ({names}), or choose another model or English.",
            "setup",
        )
    return key


async def backend_off_loop(choice: BackendChoice, language: str = ENGLISH) -> Backend:
    """Like `backend`, but runs on a worker thread, since the keyring and the imports are slow."""
    return await asyncio.to_thread(backend, choice, language)


def router(routes: Mapping[str, BackendChoice], language: str = ENGLISH) -> Backend:
    """Creates a back-end that selects one of `routes` according to the kind of question. Raises BackendError."""
    from app.backend.router import RouterBackend
    from app.routing.policy import RoutePolicy

    made: dict[BackendChoice, Backend] = {}
    for choice in routes.values():
        if choice not in made:
            made[choice] = backend(choice, language)
    policy = RoutePolicy(_classifier().scores)
    return RouterBackend({kind: made[choice] for kind, choice in routes.items()}, policy.decide)


@functools.cache
def _classifier() -> Any:
    from app.routing.classifier import KindClassifier

    return KindClassifier()


def tools(choice: ToolChoice) -> Toolbox:
    """Creates the chosen tools without opening them."""
    names = [name.removeprefix(MCP_PREFIX) for name in choice.names if name.startswith(MCP_PREFIX)]
    servers = server_list.named_servers(servers_path(), names)
    return make_toolbox(choice.names, folders=[Path(folder) for folder in choice.folders], servers=servers)


def allow_always(server: str, tool: str) -> None:
    """Saves that a tool of the user's tool server is always allowed. Raises ToolError."""
    server_list.allow_always(servers_path(), server, tool)


@functools.cache
def price_table() -> tuple[Prices, str]:
    """Returns the current price table, and an error message if the user's own table is unusable."""
    return load_prices(resource("prices.json"), prices_path())


def expected_cost(choice: BackendChoice, usage: Usage) -> float | None:
    """Returns the cost in US dollars of a request to a back-end that isn't open yet; None if its price is unknown."""
    spec = PROVIDERS.get(choice.provider)
    if spec is not None and (spec.free or in_own_network(choice.base_url)):
        return 0.0
    price = price_table()[0].find(
        choice.model or (spec.suggestions[0] if spec is not None and spec.suggestions else "")
    )
    return price.of(usage) if price is not None else None


def cost(backend: Backend, usage: Usage) -> float | None:
    """Returns the cost of a request in US dollars, or None if the model's price is unknown."""
    if backend.traits.free:
        return 0.0
    price = price_table()[0].find(backend.model)
    return price.of(usage) if price is not None else None
