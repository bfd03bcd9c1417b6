"""The table of language model providers, and the factory for their back-ends. Adapters are imported on first use."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from app.backend.base import Backend, BackendError, split_address
from app.backend.model_record import ModelRecords
from app.platform.installation import packages_command
from app.untrusted.proxies import may_have_key


@dataclass(frozen=True, slots=True)
class BackendSpec:
    """A language model provider.

    - `module`: the adapter's module; `needs`: the package that it requires.
    - `default_url`: the server's default address; None if there is no server.
    - `own_url`: whether the user can change the address.
    - `key_variables`: environment variables that may hold the API key; the first is also its name in the keyring.
    - `wants_key`: whether a key is required.
    - `suggestions`: models to offer before the server has been queried; the first is the default.
    - `can_pull`: whether the server can download models.
    - `free`: whether requests are free of charge.
    """

    label: str
    module: str
    needs: str
    default_url: str | None = None
    own_url: bool = False
    key_variables: tuple[str, ...] = ()
    wants_key: bool = False
    suggestions: tuple[str, ...] = ()
    can_pull: bool = False
    free: bool = False


def _cloud(label: str, url: str, key_variables: tuple[str, ...], suggestions: tuple[str, ...]) -> BackendSpec:
    return BackendSpec(
        label,
        "app.backend.openai_compatible",
        "openai",
        url,
        key_variables=key_variables,
        wants_key=True,
        suggestions=suggestions,
    )


PROVIDERS = {
    "embedded": BackendSpec("Built-in", "app.backend.embedded", "xllamacpp", free=True),
    "ollama": BackendSpec(
        "Ollama", "app.backend.ollama", "ollama", "http://127.0.0.1:11434", own_url=True, can_pull=True, free=True
    ),
    "openai": _cloud(
        "OpenAI",
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
        ("gpt-4.1-mini", "gpt-4.1", "gpt-4.1-nano", "gpt-5-mini", "gpt-5"),
    ),
    "anthropic": _cloud(
        "Anthropic",
        "https://api.anthropic.com/v1",
        ("ANTHROPIC_API_KEY",),
        ("claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-4-1"),
    ),
    "google": _cloud(
        "Google",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        ("gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-2.5-pro"),
    ),
    "compatible": BackendSpec("Another server", "app.backend.openai_compatible", "openai", "", own_url=True),
}
"""All providers, keyed by name. `compatible`: any server with an OpenAI-compatible API, such as llama.cpp, vLLM, LM
Studio or OpenRouter."""


KEY_PREFIX = "KAME_KEY_"
"""Name prefix of API keys for the user's own servers, as in KAME_KEY_127_0_0_1_8080."""


def find_spec(name: str) -> BackendSpec:
    """Returns the provider `name`. Raises BackendError if it is unknown or its package is not installed."""
    spec = PROVIDERS.get(name)
    if spec is None:
        raise BackendError(f"There is no provider called “{name}”. There are: {', '.join(PROVIDERS)}.", "setup")
    if importlib.util.find_spec(spec.needs) is None:
        raise BackendError(
            f"{spec.label} needs the package {spec.needs}, which is not installed. Set the app up again: "
            f"{packages_command()}, or choose another model.",
            "setup",
        )
    return spec


def key_names(name: str, base_url: str = "") -> tuple[str, ...]:
    """Returns the names under which an API key may be stored, in order of preference; the keyring uses the first.

    A provider's key is sent only to that provider's own host, and only over TLS. Any other server has a separate key,
    named after its host (“.” and “:” become “_”, “-” becomes “__”).
    """
    spec = PROVIDERS.get(name)
    if spec is None:
        return ()
    parts, own = split_address(base_url), split_address(spec.default_url or "")
    host = parts.netloc.rpartition("@")[2].upper()
    if spec.key_variables and (not host or (parts.scheme, host) == (own.scheme, own.netloc.upper())):
        return spec.key_variables
    return (KEY_PREFIX + re.sub("[^A-Z0-9_]", "_", host.replace("-", "__")),) if host else ()


def make_backend(
    name: str,
    *,
    model: str = "",
    base_url: str = "",
    key: Callable[[Sequence[str]], str] = lambda names: "",
    key_at_hand: Callable[[Sequence[str]], str] = lambda names: "",
    records: ModelRecords | None = None,
) -> Backend:
    """Creates a back-end without opening it. Raises BackendError.

    - `name`: a key of `PROVIDERS`.
    - `model`, `base_url`: empty for the provider's defaults.
    - `key`: returns the API key stored under one of these names, or an empty string. It may block, and ask the user for
      the keyring's password, so for a server of the user's own it is only called once that server wants a key.
    - `key_at_hand`: returns the same as far as that is known without asking.
    - `records`: what is known of models; None to learn it again.
    """
    spec = find_spec(name)
    module: Any = importlib.import_module(spec.module)
    made: Any
    if name == "embedded":
        made = module.EmbeddedBackend(model)
    elif name == "ollama":
        made = module.OllamaBackend(base_url=base_url, model=model)
    else:
        wanted = records is not None and records.wants_key(base_url) is True
        made = _make_openai_compatible(module, name, model, base_url, key, key if wanted else key_at_hand)
    if records is not None:
        made.records = records
    made.made_for = (name, model, base_url)  # read by `app.backend.base.made_for`
    return made


def _make_openai_compatible(
    module: Any,
    name: str,
    model: str,
    base_url: str,
    key: Callable[[Sequence[str]], str],
    first_key: Callable[[Sequence[str]], str],
) -> Backend:
    spec, names = PROVIDERS[name], key_names(name, base_url)
    # Also True for an invalid address, which `open` then reports.
    own = bool(base_url) and (names != spec.key_variables or not split_address(base_url).netloc)
    foreign = own and (names == spec.key_variables or not may_have_key(base_url))
    return module.OpenAICompatibleBackend(
        base_url=base_url if own or not spec.default_url else spec.default_url,
        model=model or ("" if own or not spec.suggestions else spec.suggestions[0]),
        api_key="" if foreign else (first_key if own else key)(names),
        later_key=(lambda: key(names)) if own and not foreign else None,
        name="" if own or spec.own_url else spec.label,
        key_wanted=spec.key_variables[0] if spec.wants_key and not own else "",
        provider="" if own else name,
    )
