"""The ears, by name. Adapters are imported when they are wanted."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.installed import packages_command
from app.stt.base import Transcriber, TranscriberError


@dataclass(frozen=True, slots=True)
class EarsSpec:
    """How to make a transcriber: `module`'s `make(model, judge_model, call_soon)`; `needs` names its extra."""

    label: str
    module: str
    needs: str


PROVIDERS = {
    "whisper": EarsSpec("Whisper (this machine)", "app.stt.faster_whisper", "faster_whisper"),
}


def make_transcriber(
    name: str, model: Path, judge: Path, call_soon: Callable[[Callable[[], None]], object]
) -> Transcriber:
    """The transcriber `name`. Raises TranscriberError when it is unknown or not installed."""
    spec = PROVIDERS.get(name)
    if spec is None:
        raise TranscriberError(f"There are no ears called “{name}”. There are: {', '.join(PROVIDERS)}.")
    if importlib.util.find_spec(spec.needs) is None:
        raise TranscriberError(
            f"{spec.label} is not installed (package {spec.needs}). Set the app up again: "
            f"{packages_command()}."
        )
    return importlib.import_module(spec.module).make(model, judge, call_soon)
