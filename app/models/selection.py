"""Model speeds on this machine, and selection of the best language model that is fast enough.

Speeds are measured once and stored in a file. For models that aren't installed yet, they are estimated.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs

from app.models.catalogue import DEFAULTS, Model, catalogue, models_of
from app.models.locations import is_here
from app.platform.files import write_json
from app.platform.hardware import memory_bytes, processor_name
from app.untrusted.files import read_versioned
from app.untrusted.limits import SMALL_FILE

VERSION = 1
"""The format version of the speeds file."""


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed of a model on this machine.

    - Language model: `first` is the time (s) from a short question to the first word of the answer; `rate` is in words
      per second.
    - Voice: `first` is the time (s) to synthesize a first clause; `rate` is a multiple of real time.
    - Speech recogniser: `first` is the time (s) to transcribe 5 s of speech; `rate` is a multiple of real time.
    """

    first: float
    rate: float

    def words(self, kind: str) -> str:
        """Formats the speed for the model list."""
        return f"{self.first:.2f} s, {self.rate:.1f} {'words/s' if kind == 'llm' else '× real time'}"


def speeds_path() -> Path:
    """Returns the path of the file with measured speeds."""
    return platformdirs.user_data_path("kame-desktop", appauthor=False) / "speeds.json"


def load_speeds(path: Path | None = None) -> dict[str, Speed]:
    """Returns the measured speeds, keyed by model; empty if there are none or the hardware has changed."""
    try:
        kept = read_versioned(path or speeds_path(), SMALL_FILE, VERSION)
        if kept["machine"] != this_machine():
            return {}
        return {key: Speed(float(row["first"]), float(row["rate"])) for key, row in kept["models"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def keep_speed(key: str, speed: Speed, path: Path | None = None) -> None:
    """Stores the measured speed of a model. Raises OSError."""
    place = path or speeds_path()
    models = {**{name: asdict(known) for name, known in load_speeds(place).items()}, key: asdict(speed)}
    write_json(place, {"version": VERSION, "machine": this_machine(), "models": models})


def this_machine() -> str:
    """Returns an identifier of the hardware (processor and core count) for which a measurement is valid."""
    return f"{processor_name()} {os.cpu_count()}"


def expected_speed(model: Model, known: Mapping[str, Speed]) -> Speed | None:
    """Returns a model's measured speed or an estimate; None if no model of the same kind and engine was measured.

    The estimate is scaled from the largest such model: on a CPU, the time per token is dominated by reading the weights
    from memory, so it is proportional to the model's size.
    """
    if model.key in known:
        return known[model.key]
    others = [m for m in catalogue().values() if m.engine == model.engine and m.kind == model.kind and m.key in known]
    if not others or not model.bytes:
        return None
    nearest = max(others, key=lambda m: m.bytes)
    ratio = model.bytes / nearest.bytes
    return Speed(known[nearest.key].first * ratio, known[nearest.key].rate / ratio)


LEAST_WORDS_A_SECOND = 4.0
"""The minimum speed of a language model. Voices speak about 2.7 words/s; a model only slightly faster causes pauses."""
MOST_FIRST_CLAUSE = 2.5
"""The maximum time (s) until a first clause of `CLAUSE_WORDS` words is complete, so that the voice can start. A filler
phrase starts about 0.4 s after the question and lasts a second or more, so at most a second of silence follows it."""
CLAUSE_WORDS = 8
SHARE_OF_MEMORY = 0.4
"""The maximum share of the machine's memory that a language model may use."""


def in_time(speed: Speed) -> bool:
    """Returns whether a language model with this speed is fast enough for a conversation."""
    return speed.rate >= LEAST_WORDS_A_SECOND and first_clause_seconds(speed) <= MOST_FIRST_CLAUSE


def first_clause_seconds(speed: Speed) -> float:
    """Returns how long a language model with this speed takes until the voice can start."""
    return speed.first + CLAUSE_WORDS / speed.rate if speed.rate > 0 else float("inf")


def best_language_model(
    models: Iterable[Model], speeds: Mapping[str, Speed], memory: int, language: str = "en"
) -> Model | None:
    """Returns the best language model that fits in memory, is fast enough and supports the language, or None.

    Models are compared by the number of correct answers (`Model.right`) if both were measured, otherwise by size.

    - `speeds`: the speeds measured on this machine, keyed by model.
    - `memory`: the machine's memory in bytes; 0 if unknown.
    - `language`: a two-letter code; empty for any.
    """
    fitting = [
        model
        for model in models
        if model.kind == "llm"
        and (not language or model.speaks(language))
        and (not memory or model.memory <= memory * SHARE_OF_MEMORY)
        and (speed := expected_speed(model, speeds)) is not None
        and in_time(speed)
    ]
    best: Model | None = None
    for model in fitting:
        if best is None or _better(model, best):
            best = model
    return best


def language_model_here(language: str = "en") -> str:
    """Returns the key of the best installed language model that is fast enough, or of the default one if none is."""
    here = [model for model in models_of("llm") if is_here(model.key)]
    best = best_language_model(here, load_speeds(), memory_bytes(), language)
    return best.key if best is not None else DEFAULTS["llm"]


def _better(one: Model, other: Model) -> bool:
    if one.right and other.right:
        return one.right > other.right
    return one.bytes > other.bytes
