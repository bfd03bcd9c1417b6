"""Factories for back-ends, tools and price tables, based on the user's choices."""

from __future__ import annotations

import asyncio
import functools
from pathlib import Path

from app.backend import PROVIDERS, make_backend
from app.backend.base import Backend, BackendError, Usage
from app.backend.model_record import ModelRecords
from app.backend.prices import Prices, load_prices
from app.conversation.languages import AUTOMATIC, ENGLISH
from app.models.catalogue import find_model, models_of
from app.models.selection import language_model_here
from app.platform.installation import resource
from app.services.api_keys import api_key, key_at_hand
from app.session.control import BackendChoice, ToolChoice
from app.settings.paths import model_records_path, prices_path, servers_path
from app.tools import server_list
from app.tools.toolbox import MCP_PREFIX, Toolbox, make_toolbox
from app.untrusted.proxies import in_own_network

RECORDS = ModelRecords(model_records_path)
"""What is known of models, shared by all sessions and commands of this process."""


def backend(choice: BackendChoice, language: str = ENGLISH) -> Backend:
    """Creates the chosen back-end without opening it. May block on the keyring. Raises BackendError."""
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
