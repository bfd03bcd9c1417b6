"""The brains, by name. Adapters are imported when they are wanted."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

from app.backend.base import Backend, BackendError


@dataclass(frozen=True, slots=True)
class BackendSpec:
    """How to make a brain: `module`, the package it `needs`, and what a user may say of it.

    `default_url` is shown where a URL can be given; None where there is none to give.
    """

    label: str
    module: str
    needs: str
    default_url: str | None = None
    key_variable: str = ""


PROVIDERS = {
    "embedded": BackendSpec("Embedded (this machine)", "app.backend.embedded", "xllamacpp"),
    "ollama": BackendSpec("Ollama", "app.backend.ollama", "ollama", "http://127.0.0.1:11434"),
    "openai": BackendSpec(
        "OpenAI or compatible", "app.backend.openai_compatible", "openai", "", "OPENAI_API_KEY"
    ),
}


def find_spec(name: str) -> BackendSpec:
    """The spec of provider `name`. Raises BackendError when it is unknown or not installed."""
    spec = PROVIDERS.get(name)
    if spec is None:
        raise BackendError(f"There is no brain called “{name}”. There are: {', '.join(PROVIDERS)}.")
    if importlib.util.find_spec(spec.needs) is None:
        raise BackendError(
            f"{spec.label} needs the package {spec.needs}, which is not installed. Set the app up again: "
            "python3 packaging/bootstrap.py setup, or choose another brain."
        )
    return spec


def make_backend(
    name: str, *, model: str = "", base_url: str = "", key: Callable[[str], str] = lambda variable: ""
) -> Backend:
    """A brain that is not open yet. `key` looks an API key up by its variable's name. Raises BackendError."""
    spec = find_spec(name)
    module = importlib.import_module(spec.module)
    if name == "embedded":
        from pathlib import Path

        from app.offline_models import model_path

        return module.EmbeddedBackend(Path(model) if model else model_path("brain"))
    if name == "ollama":
        return module.OllamaBackend(base_url=base_url, model=model)
    return module.OpenAICompatibleBackend(base_url=base_url, model=model, api_key=key(spec.key_variable))
