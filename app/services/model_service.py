"""The service behind the window's model page, which lists, downloads, measures, checks and removes models."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.backend.base import BackendError
from app.models.catalogue import DEFAULTS, Model, ModelError, catalogue, find_model, models_of
from app.models.catalogue import Kind as ModelKind
from app.models.locations import State as ModelState
from app.models.locations import is_here, remove_model, state_of
from app.models.selection import (
    SHARE_OF_MEMORY,
    Speed,
    best_language_model,
    expected_speed,
    first_clause_seconds,
    in_time,
    keep_speed,
    language_model_here,
    load_speeds,
)
from app.models.store import check_model, get_model
from app.platform.hardware import memory_bytes
from app.session.control import UserError
from app.stt.base import TranscriberError
from app.tts.base import VoiceError

SMALLEST = DEFAULTS["llm"]
"""The smallest language model, which comes with the app."""
MEASURED = ("llm", "stt", "tts")
INSTANT_SECONDS = 1.0
"""A language model whose voice can start within this time is called instant: no filler phrase is needed."""
Pace = Literal["", "instant", "quick", "slow"]
"""How fast a model is on this machine. `slow`: too slow for a conversation; empty if not known."""
_MEASURE_ERRORS = (BackendError, ModelError, TranscriberError, VoiceError, OSError, RuntimeError)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class VoiceView:
    """One voice of a multi-voice model. `key`: its name in the settings; `language`: its two-letter code."""

    key: str
    label: str
    language: str


@dataclass(frozen=True, slots=True)
class ModelView:
    """A model as shown in a list.

    - `languages`: two-letter codes, or "*" for many languages.
    - `state`: "installed" means that the model came with the app and can't be removed.
    - `speed`: the speed on this machine, as text; empty if not known. `estimated`: whether it was not measured, but
      estimated from that of another model. `pace`: the same in a word.
    - `right`: the number of correct answers to the 120 questions of `bench facts`; 0 if not measured.
    - `fits`: a user-facing reason not to use the model on this machine, or empty.
    - `default`: whether it is used if the user hasn't chosen a model.
    - `voices`: the voices of a multi-voice model.
    """

    key: str
    kind: ModelKind
    label: str
    languages: tuple[str, ...]
    bytes: int
    licence: str
    state: ModelState
    speed: str = ""
    right: int = 0
    note: str = ""
    fits: str = ""
    default: bool = False
    voices: tuple[VoiceView, ...] = ()
    estimated: bool = False
    pace: Pace = ""

    @property
    def usable(self) -> bool:
        """Whether all its files are on this machine."""
        return self.state in ("here", "installed")


@functools.cache
def language_model_labels() -> dict[str, str]:
    """Returns the display names of the built-in language models, by key."""
    return {model.key: model.label for model in models_of("llm")}


class ModelService:
    """The models of the catalogue. All methods block, are thread-safe and raise UserError.

    `mirror` returns the address of a mirror of the hub, and `token` the user's access token for the hub or mirror at an
    address; either may be empty.
    """

    def __init__(self, mirror: Callable[[], str], token: Callable[[str], str]) -> None:
        self._mirror = mirror
        self._token = token
        self._measuring = threading.Lock()

    def models(self) -> tuple[ModelView, ...]:
        """Lists all models of the catalogue with their states."""
        speeds, memory, usual = load_speeds(), memory_bytes(), {**DEFAULTS, "llm": language_model_here()}.values()
        return tuple(_view(model, speeds, memory, usual) for model in catalogue().values())

    def best(self, language: str) -> ModelView | None:
        """Returns the best language model that runs fast enough on this machine.

        Measures the smallest model first if necessary. Returns None if no better model is fast enough, or if nothing
        could be measured.
        """
        smallest = find_model(DEFAULTS["llm"])
        with self._measuring:
            if smallest.key not in load_speeds() and is_here(smallest.key):
                self._measure(smallest)
        best = self.recommended(language)
        if best in ("", smallest.key):
            return None
        return next(view for view in self.models() if view.key == best)

    def recommended(self, language: str) -> str:
        """Returns the key of the best language model that runs fast enough on this machine; empty if not known."""
        found = best_language_model(
            catalogue().values(), load_speeds(), memory_bytes(), "" if language == "auto" else language
        )
        return found.key if found is not None else ""

    def get(self, key: str, report: Callable[[str, float], None], cancelled: threading.Event) -> None:
        """Downloads a model and measures its speed; `report` is called with a status message and the fraction done."""
        with _as_user_errors():
            get_model(key, report, cancelled, mirror=self._mirror(), token=self._token)
        model = find_model(key)
        if model.kind in MEASURED:
            report("measuring how fast it is here", 1.0)
            with self._measuring:
                self._measure(model)

    def check(self, key: str) -> str:
        """Verifies the digests of a model's files; returns a user-facing message."""
        with _as_user_errors():
            _, compared = check_model(key)
        label = find_model(key).label
        return f"{label} is complete: all its files are as they were downloaded." if compared else f"{label} is here."

    def remove(self, key: str) -> str:
        """Deletes a model; returns a user-facing message."""
        with _as_user_errors():
            freed = remove_model(key)
        return f"{find_model(key).label} is removed; {freed / 1e9:.1f} GB are free again."

    def sample(self, voice: str) -> np.ndarray:
        """Returns a short sample of a voice as float32 mono at 24 kHz. `voice`: the key of a voice or of its model."""
        from app.tts.voices import make_sample

        with _as_user_errors():
            return make_sample(voice)[1]

    def _measure(self, model: Model) -> None:
        """Measures and saves a model's speed. Failures are only logged: a conversation would fail in the same way."""
        from app.services.model_speed import measure_speed

        try:
            keep_speed(model.key, measure_speed(model))
        except _MEASURE_ERRORS:
            _log.exception("the speed of %s could not be measured or kept", model.key)


@contextmanager
def _as_user_errors() -> Iterator[None]:
    """Converts errors about models and voices to UserErrors."""
    try:
        yield
    except (ModelError, VoiceError) as error:
        raise UserError(str(error)) from error


def _view(model: Model, speeds: dict[str, Speed], memory: int, usual: Collection[str]) -> ModelView:
    estimated = model.kind == "llm" and model.key not in speeds
    speed = expected_speed(model, speeds) if estimated else speeds.get(model.key)
    pace = _pace(model, speed) if speed is not None else ""
    return ModelView(
        model.key,
        model.kind,
        model.label,
        model.languages,
        model.bytes,
        model.licence,
        state_of(model),
        speed.words(model.kind) if speed is not None else "",
        model.right,
        model.note,
        _fits(model, memory, speed, estimated=estimated),
        model.key in usual,
        tuple(VoiceView(f"{model.key}/{voice.name}", voice.label, voice.language) for voice in model.voices),
        estimated and speed is not None,
        pace,
    )


def _fits(model: Model, memory: int, speed: Speed | None, *, estimated: bool) -> str:
    """Returns a user-facing reason not to use a model on this machine, or an empty string."""
    if memory and model.memory > memory * SHARE_OF_MEMORY:
        return f"It takes {model.memory / 1e9:.1f} GB of memory, and this machine has {memory / 1e9:.0f}."
    if model.kind == "llm" and speed is not None and not in_time(speed):
        return f"This machine is {'probably ' if estimated else ''}too slow for it: {speed.rate:.1f} words a second."
    return ""


def _pace(model: Model, speed: Speed) -> Pace:
    from app.stt.selection import SLOWEST_PASS
    from app.tts.voices import LEAST_RATE

    if model.kind == "llm" and in_time(speed):
        return "instant" if first_clause_seconds(speed) <= INSTANT_SECONDS else "quick"
    quick = {"stt": speed.first <= SLOWEST_PASS, "tts": speed.rate >= LEAST_RATE}
    return "quick" if quick.get(model.kind, False) else "slow"
