"""How fast models are on this machine: measured once, kept in a file, and estimated for those not yet here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs

from app.models.catalogue import catalogue
from app.models.entry import Model
from app.platform.atomic_files import write_json
from app.platform.hardware import processor_name
from app.untrusted.files import read_versioned
from app.untrusted.limits import SMALL_FILE

VERSION = 1
"""Of the file's format."""


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed of a model on this machine.

    Of a language model, `first` is the time in seconds from a short question to its first word, and `rate` its words
    per second. Of a voice, `first` is the time to the sound of a first clause, and of a recogniser the time to
    transcribe five seconds of speech; `rate` is the seconds of sound that it processes per second.
    """

    first: float
    rate: float

    def words(self, kind: str) -> str:
        """Returns the speed in words, for a list of models."""
        what = {"llm": "words/s", "tts": "× real time", "stt": "× real time"}.get(kind, "× real time")
        return f"{self.first:.2f} s, {self.rate:.1f} {what}"


def speeds_path() -> Path:
    """Returns the file of measured speeds."""
    return platformdirs.user_data_path("kame-desktop", appauthor=False) / "speeds.json"


def load_speeds(path: Path | None = None) -> dict[str, Speed]:
    """Returns the speeds that were measured on this machine; empty when there are none, or the machine has changed."""
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
    """Returns what a measurement is valid for: the processor and its cores."""
    return f"{processor_name()} {os.cpu_count()}"


def expected_speed(model: Model, known: Mapping[str, Speed]) -> Speed | None:
    """Returns a model's speed: measured, or scaled from the largest measured one of its kind and engine; else None.

    On a processor the time of a token is the time to read the weights from memory, so it grows with the model's size.
    """
    if model.key in known:
        return known[model.key]
    others = [m for m in catalogue().values() if m.engine == model.engine and m.kind == model.kind and m.key in known]
    if not others or not model.bytes:
        return None
    nearest = max(others, key=lambda m: m.bytes)
    ratio = model.bytes / nearest.bytes
    return Speed(known[nearest.key].first * ratio, known[nearest.key].rate / ratio)
