"""Serve the page of models: list, fetch, measure, check and remove what the catalogue has."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import numpy as np

from app.backend.base import BackendError
from app.models.catalogue import DEFAULTS, catalogue, find_model
from app.models.entry import Model
from app.models.errors import ModelError
from app.models.locations import is_here, remove_model, state_of
from app.models.selection import SHARE_OF_MEMORY, best_language_model, in_time, language_model_here
from app.models.speeds import Speed, expected_speed, keep_speed, load_speeds
from app.models.store import check_model, get_model
from app.platform.hardware import memory_bytes
from app.services.model_views import ModelView, VoiceView
from app.session.errors import UserError
from app.stt.base import TranscriberError
from app.tts.base import VoiceError

MEASURED = ("llm", "stt", "tts")
_TROUBLE = (BackendError, ModelError, TranscriberError, VoiceError, OSError, RuntimeError)
_log = logging.getLogger(__name__)


class ModelLibrary:
    """See `app.services.model_views.ModelLibrary`. `mirror`: of the hub, by the settings; `token`: the user's for the hub."""

    def __init__(self, mirror: Callable[[], str], token: Callable[[], str]) -> None:
        self._mirror = mirror
        self._token = token
        self._measuring = threading.Lock()

    def models(self) -> tuple[ModelView, ...]:
        """See `ModelLibrary.models`."""
        speeds, memory = load_speeds(), memory_bytes()
        return tuple(_view(model, speeds, memory) for model in catalogue().values())

    def best(self, language: str) -> ModelView | None:
        """See `ModelLibrary.best`."""
        smallest = find_model(DEFAULTS["llm"])
        with self._measuring:
            if smallest.key not in load_speeds() and is_here(smallest.key):
                self._measure(smallest)
        speeds, memory = load_speeds(), memory_bytes()
        found = best_language_model(catalogue().values(), speeds, memory, "" if language == "auto" else language)
        return None if found is None or found.key == smallest.key else _view(found, speeds, memory)

    def get(self, key: str, report: Callable[[str, float], None], cancelled: threading.Event) -> None:
        """See `ModelLibrary.get`."""
        try:
            get_model(key, report, cancelled, mirror=self._mirror(), token=self._token)
            model = find_model(key)
        except ModelError as error:
            raise UserError(str(error)) from error
        if model.kind in MEASURED:
            report("measuring how fast it is here", 1.0)
            with self._measuring:
                self._measure(model)

    def check(self, key: str) -> str:
        """See `ModelLibrary.check`."""
        try:
            _, compared = check_model(key)
        except ModelError as error:
            raise UserError(str(error)) from error
        label = find_model(key).label
        return f"{label} is whole: all its files are what was fetched." if compared else f"{label} is here."

    def remove(self, key: str) -> str:
        """See `ModelLibrary.remove`."""
        try:
            freed = remove_model(key)
        except ModelError as error:
            raise UserError(str(error)) from error
        return f"{find_model(key).label} is removed; {freed / 1e9:.1f} GB are free again."

    def sample(self, voice: str) -> np.ndarray:
        """See `ModelLibrary.sample`."""
        from app.tts.voices import make_sample

        try:
            return make_sample(voice)[1]
        except (VoiceError, ModelError) as error:
            raise UserError(str(error)) from error

    def _measure(self, model: Model) -> None:
        """Keep a model's speed. What fails at it fails in a talk, too, and is told there."""
        from app.evaluation.model_speed import measure_speed

        try:
            keep_speed(model.key, measure_speed(model))
        except _TROUBLE:
            _log.exception("the speed of %s could not be measured or kept", model.key)


def _view(model: Model, speeds: dict[str, Speed], memory: int) -> ModelView:
    measured = speeds.get(model.key)
    return ModelView(
        model.key,
        model.kind,
        model.label,
        model.languages,
        model.bytes,
        model.licence,
        state_of(model),
        measured.words(model.kind) if measured is not None else "",
        model.right,
        model.note,
        _fits(model, speeds, memory),
        model.key in {**DEFAULTS, "llm": language_model_here()}.values(),
        tuple(VoiceView(f"{model.key}/{voice.name}", voice.label, voice.language) for voice in model.voices),
    )


def _fits(model: Model, speeds: dict[str, Speed], memory: int) -> str:
    """Why a language model should not be used here; empty when nothing is known against it."""
    if model.kind != "llm":
        return ""
    if memory and model.memory > memory * SHARE_OF_MEMORY:
        return f"It takes {model.memory / 1e9:.1f} GB of memory, and this machine has {memory / 1e9:.0f}."
    speed = expected_speed(model, speeds)
    if speed is not None and not in_time(speed):
        guessed = "" if model.key in speeds else "probably "
        return f"This machine is {guessed}too slow for it: {speed.rate:.1f} words a second."
    return ""
