"""The recognisers, by the engine that runs them. Adapters are imported when they are wanted."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from app.models.entry import Model
from app.platform.installation import packages_command
from app.stt.base import Transcriber, TranscriberError

if TYPE_CHECKING:
    from app.stt.streaming import Decoder


@dataclass(frozen=True, slots=True)
class RecogniserSpec:
    """How an engine is run: `module`'s `make(model, judge, call_soon, language)` and `open_decoder(model, language)`;
    `needs` names its extra, if any.
    """

    label: str
    module: str
    needs: str = ""


ENGINES = {
    "whisper": RecogniserSpec("Whisper (this machine)", "app.stt.faster_whisper", "faster_whisper"),
    "moonshine": RecogniserSpec("Moonshine (this machine)", "app.stt.moonshine"),
}


def make_transcriber(key: str, language: str, call_soon: Callable[[Callable[[], None]], object]) -> Transcriber:
    """A transcriber with the recogniser `key`, or with the app's choice if it is empty, for `language` or "auto".

    Raises TranscriberError when there is none, or it can't be run.
    """
    from app.models.locations import default_model, model_path
    from app.stt.selection import choose_recogniser

    model = choose_recogniser(key, language)
    make = _module(model).make
    return make(model_path(model.key), default_model("endpointing"), call_soon, language)


def open_decoder(model: Model, language: str = "en") -> Decoder:
    """What turns sound to words with a recogniser of the catalogue, loaded. Raises TranscriberError."""
    from app.models.locations import model_path

    return _module(model).open_decoder(model_path(model.key), language)


def _module(model: Model) -> ModuleType:
    spec = ENGINES[model.engine]
    if spec.needs and importlib.util.find_spec(spec.needs) is None:
        raise TranscriberError(
            f"{spec.label} is not installed (package {spec.needs}). Set the app up again: {packages_command()}."
        )
    return importlib.import_module(spec.module)
