"""The traits, sampling parameters and files of the embedded language models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.backend.base import BackendError, Traits
from app.models.catalogue import DEFAULTS, catalogue
from app.models.locations import is_here, model_path
from app.platform.files import is_local_file
from app.platform.installation import completing_command

SMALL = Traits(
    concurrent=False,
    history_words=120,
    document_bytes=2_400,
    persona="You answer spoken questions briefly and correctly, in plain words.",
    max_tokens=110,
    temperature=0.0,
    enough_words=24,
    least_interval=0.2,
    free=True,
)
"""The traits of the smallest model, which processes some 200 words/s on one core and benefits little from a long
history. Its persona was chosen from three candidates in listening tests; small models parrot longer ones. Without
`enough_words`, it would never stop generating. Asking often costs little, since a request has only 8 to 15 tokens that
the one before it hasn't. Documents get the rest of the 2,048-token context after the history, the question and the
longest answer."""

LARGER = replace(SMALL, history_words=300, max_tokens=140, enough_words=40)
"""The traits of models with 0.5B parameters or more, which can follow a longer conversation and stop on their own."""

SMALL_SAMPLING: Mapping[str, Any] = {
    "cache_prompt": True,
    "dry_multiplier": 0.8,
    "dry_allowed_length": 3,
    "dry_penalty_last_n": 96,
    "stop": ["\n1", "\n-", "\n*", "\n#", "1.1"],
}
"""Sampling parameters for the smallest model. DRY sampling keeps it from repeating phrases. The stop strings end the
answer where a list begins, since lists don't suit speech and a small model never finishes one."""

LARGER_SAMPLING: Mapping[str, Any] = {
    "cache_prompt": True,
    "stop": ["\n1", "\n-", "\n*", "\n#", "```"],
    "chat_template_kwargs": {"enable_thinking": False},
}
"""Sampling parameters for larger models, which need no repetition penalty. Thinking (Qwen 3) is disabled, since the
user would have to wait for tokens that are never spoken."""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What is known of a model.

    - `sampling`: the parameters to send with each request
    - `unopened`: as in `ModelRecord`; the catalogue's models have no such thoughts, and of other files it is unknown
    """

    traits: Traits
    sampling: Mapping[str, Any]
    unopened: bool | None


def profile_of(model: str) -> ModelProfile:
    """Returns the profile of a model. `model`: a catalogue key or the path of the user's own file."""
    small = model in ("", DEFAULTS["llm"]) or Path(model).stem.lower().startswith("smollm2-135m")
    unopened = False if not model or model in catalogue() else None
    return ModelProfile(*((SMALL, SMALL_SAMPLING) if small else (LARGER, LARGER_SAMPLING)), unopened)


def model_file(model: str) -> Path:
    """Returns the path of a model's GGUF file. `model`: a catalogue key or a path. Raises BackendError."""
    known = catalogue().get(model or DEFAULTS["llm"])
    if known is None:
        file = Path(model)
        if not is_local_file(file):
            raise BackendError(
                f"There is no model file {file}, so nothing can answer. Choose one of the models in “Models and "
                "servers”, or the path of a GGUF file.",
                "setup",
            )
        return file
    if not is_here(known.key):
        how = completing_command() if known.key == DEFAULTS["llm"] else f"models get {known.key}"
        raise BackendError(
            f"{known.label} is not on this machine. Get it in “Models and servers” or with “{how}”, or choose "
            "another model.",
            "setup",
        )
    return model_path(known.key)
