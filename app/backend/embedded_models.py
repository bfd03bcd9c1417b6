"""How each embedded language model is asked: what it can take, how it samples, and how a talk is put before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.backend.base import BackendError, Traits
from app.models.catalogue import DEFAULTS, catalogue
from app.models.locations import is_here, model_path
from app.platform.installation import completing_command

SMALL = Traits(
    concurrent=False,
    history_words=120,
    persona="You answer spoken questions briefly and correctly, in plain words.",
    max_tokens=110,
    temperature=0.0,
    enough_words=24,
    partial_words=10,
    least_interval=2.0,
    free=True,
)
"""Of the smallest one, which reads some 200 words a second on one core and understands little of a long talk. Its
persona was chosen by ear among three; a small model repeats longer ones. Left alone it would never end. While the user
speaks it is asked seldom, and for a first clause: the last words, which the answer hangs on, are mostly heard in the
pause.
"""

LARGER = replace(SMALL, history_words=300, max_tokens=140, enough_words=40)
"""Of those from 0.5B parameters on: they follow a longer talk, and end by themselves."""

SMALL_SAMPLING: Mapping[str, Any] = {
    "cache_prompt": True,
    "dry_multiplier": 0.8,
    "dry_allowed_length": 3,
    "dry_penalty_last_n": 96,
    "stop": ["\n1", "\n-", "\n*", "\n#", "1.1"],
}
"""DRY sampling keeps a small model from saying the same phrase again and again; a list ends the answer, since nobody
speaks in lists, and a small model never comes to their end.
"""

LARGER_SAMPLING: Mapping[str, Any] = {
    "cache_prompt": True,
    "stop": ["\n1", "\n-", "\n*", "\n#", "```"],
    "chat_template_kwargs": {"enable_thinking": False},
}
"""Larger models need no penalty. A talk can't wait for one to think in tokens that nobody hears: Qwen 3 would."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How a model is asked: its traits, and what each request holds besides."""

    traits: Traits
    sampling: Mapping[str, Any]


def asking(model: str) -> Asking:
    """Return how the model `model` is asked: a key of the catalogue, or a file of the user's own."""
    small = model in ("", DEFAULTS["llm"]) or Path(model).stem.lower().startswith("smollm2-135m")
    return Asking(SMALL, SMALL_SAMPLING) if small else Asking(LARGER, LARGER_SAMPLING)


def model_file(model: str) -> Path:
    """Return the GGUF file of a model: a key of the catalogue, or the path of a file. Raise BackendError."""
    known = catalogue().get(model or DEFAULTS["llm"])
    if known is None:
        file = Path(model)
        if not file.is_file():
            raise BackendError(
                f"There is no model file {file}, so there is no brain. Choose one of the models on the page “Models”, "
                "or the path of a GGUF file.",
                "setup",
            )
        return file
    if not is_here(known.key):
        how = completing_command() if known.key == DEFAULTS["llm"] else f"models get {known.key}"
        raise BackendError(
            f"{known.label} is not on this machine. Get it on the page “Models” or with “{how}”, or choose another "
            "brain.",
            "setup",
        )
    return model_path(known.key)
