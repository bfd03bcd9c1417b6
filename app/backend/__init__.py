"""The brains, by name. Adapters are imported when they are wanted."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from app.backend.address import split_address
from app.backend.base import Backend, BackendError
from app.platform.installation import packages_command


@dataclass(frozen=True, slots=True)
class BackendSpec:
    """How to make a brain: `module`, the package it `needs`, and what a user may say of it.

    `default_url`: where it is; None where there is nothing to ask. `own_url`: the user says where the server is.
    `key_variables`: environment variables that may hold its key, the first also its name in the keyring;
    `wants_key`: it can't be used without one. `suggestions`: models to offer before the server was asked, the first
    the default. `free`: asking costs nothing.
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


PROVIDERS = {
    "embedded": BackendSpec("Embedded (this machine)", "app.backend.embedded", "xllamacpp", free=True),
    "ollama": BackendSpec(
        "Ollama", "app.backend.ollama", "ollama", "http://127.0.0.1:11434", own_url=True, can_pull=True, free=True
    ),
    "openai": BackendSpec(
        "OpenAI",
        "app.backend.openai_compatible",
        "openai",
        "https://api.openai.com/v1",
        key_variables=("OPENAI_API_KEY",),
        wants_key=True,
        suggestions=("gpt-4.1-mini", "gpt-4.1", "gpt-4.1-nano", "gpt-5-mini", "gpt-5"),
    ),
    "anthropic": BackendSpec(
        "Anthropic",
        "app.backend.openai_compatible",
        "openai",
        "https://api.anthropic.com/v1",
        key_variables=("ANTHROPIC_API_KEY",),
        wants_key=True,
        suggestions=("claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-4-1"),
    ),
    "google": BackendSpec(
        "Google",
        "app.backend.openai_compatible",
        "openai",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        wants_key=True,
        suggestions=("gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-2.5-pro"),
    ),
    "compatible": BackendSpec("Another server", "app.backend.openai_compatible", "openai", "", own_url=True),
}
"""`compatible`: any server that speaks OpenAI's protocol: llama.cpp, vLLM, LM Studio, OpenRouter, …"""


KEY_PREFIX = "KAME_KEY_"
"""A key for a server of the user's own is named by its host behind this: KAME_KEY_127_0_0_1_8080."""


def find_spec(name: str) -> BackendSpec:
    """The spec of provider `name`. Raises BackendError when it is unknown or not installed."""
    spec = PROVIDERS.get(name)
    if spec is None:
        raise BackendError(f"There is no brain called “{name}”. There are: {', '.join(PROVIDERS)}.", "setup")
    if importlib.util.find_spec(spec.needs) is None:
        raise BackendError(
            f"{spec.label} needs the package {spec.needs}, which is not installed. Set the app up again: "
            f"{packages_command()}, or choose another brain.",
            "setup",
        )
    return spec


def key_names(name: str, base_url: str = "") -> tuple[str, ...]:
    """The names under which a brain's key may be found, best first; the first is the keyring's.

    A provider's key goes to that provider's own host alone, and not in clear: a server elsewhere has a key of its
    own, named by its host (“.” and “:” become “_”, “-” becomes “__”).
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
) -> Backend:
    """A brain that is not open yet. `key` looks an API key up by its names, best first. Raises BackendError."""
    made = _make(name, model, base_url, key)
    made.made_for = (name, model, base_url)  # see `app.backend.base.made_for`
    return made


def _make(name: str, model: str, base_url: str, key: Callable[[Sequence[str]], str]) -> Any:
    spec = find_spec(name)
    module: Any = importlib.import_module(spec.module)
    if name == "embedded":
        return module.EmbeddedBackend(model)
    if name == "ollama":
        return module.OllamaBackend(base_url=base_url, model=model)
    names = key_names(name, base_url)
    own = bool(base_url) and names != spec.key_variables  # a server elsewhere, whatever the provider
    if base_url and not split_address(base_url).netloc:
        own = True  # no address at all: it says so when it is opened
    return module.OpenAICompatibleBackend(
        base_url=base_url if own or not spec.default_url else spec.default_url,
        model=model or ("" if own or not spec.suggestions else spec.suggestions[0]),
        api_key="" if own and names == spec.key_variables else key(names),
        name="" if own or spec.own_url else spec.label,
        key_wanted=spec.key_variables[0] if spec.wants_key and not own else "",
        dialect="" if own else name,
    )
