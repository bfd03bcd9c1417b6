"""The catalogue of models, read from `resources/models.toml`: models, their sources, and files with sizes and digests.

The text of a `ModelError` is a sentence for the user.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from app.platform.installation import resource

Kind = Literal["frontend", "stt", "endpointing", "llm", "tts"]
KINDS: tuple[Kind, ...] = ("frontend", "stt", "endpointing", "llm", "tts")

ANY = "*"
"""In `Model.languages`: the model was trained on many languages, and is given or detects the one in use."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model, by its name below the model's folder.

    `source`: in packages, the files to join in this order, each as PACKAGE/PATH; on the hub, its one path in the
    repository.
    """

    name: str
    bytes: int
    sha256: str
    source: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelVoice:
    """One of several voices of a model, by the engine's name for it.

    `language`: its two letters; `accent`: the language in the notation of the engine or espeak-ng. `gain`: decibels
    that make it as loud as the other voices.
    """

    name: str
    label: str
    language: str
    accent: str
    gain: float = 0.0


@dataclass(frozen=True, slots=True)
class Packages:
    """Wheels of the package registry, pinned by hash in `packaging/locks/<lock>`.

    `code`: the wheels hold the engine's code, too, so they are kept as they are, with `Model.files` inside them.
    """

    lock: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class Hub:
    """A repository on the hub. Without a `revision` its newest files are used, with the digests that the hub lists."""

    repository: str
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """One model.

    `engine`: the library that runs it. `main`: the file that its engine loads; empty: the folder of all its files.
    `memory`: bytes that it takes when it is loaded. `right`: how many of the 120 questions of `bench facts` it answers
    correctly when they are typed; 0: not measured. `note`: what else the user should know before choosing it. `voices`:
    of a model that has several.
    """

    key: str
    kind: Kind
    label: str
    engine: str
    languages: tuple[str, ...]
    licence: str
    source: Packages | Hub
    files: tuple[ModelFile, ...] = ()
    main: str = ""
    size: int = 0
    memory: int = 0
    right: int = 0
    note: str = ""
    voices: tuple[ModelVoice, ...] = ()

    @property
    def bytes(self) -> int:
        """The size of its download; exact except for packages with code."""
        return self.size or sum(file.bytes for file in self.files)

    def speaks(self, language: str) -> bool:
        """Returns whether it can be used in a language, given by its two letters."""
        return ANY in self.languages or language in self.languages


class ModelError(Exception):
    """`str(error)` is a sentence: what happened, what it means, what to do."""


class DownloadCancelled(ModelError):
    """The user has stopped a download; what has come stays for the next attempt."""

    def __init__(self) -> None:
        super().__init__("The download was stopped. What has come stays for the next try.")


DEFAULTS: Mapping[Kind, str] = {
    "frontend": "kame",
    "stt": "whisper-tiny.en",
    "endpointing": "smart-turn",
    "llm": "smollm2-135m",
    "tts": "piper-joe",
}
"""The model of each kind until the user chooses: of front-ends with weights, KAME; else what comes with the app."""

FRONTEND_WEIGHTS = {"kame": "kame", "moshi": "moshiko"}
"""The weights that each front-end uses if the user names none."""


@cache
def catalogue() -> Mapping[str, Model]:
    """Returns all models by their keys, in the order of the table."""
    with resource("models.toml").open("rb") as file:
        return {row["key"]: _model(row) for row in tomllib.load(file)["model"]}


def models_of(kind: Kind) -> list[Model]:
    """Returns all models of a kind."""
    return [model for model in catalogue().values() if model.kind == kind]


def find_model(key: str) -> Model:
    """Returns the model `key`; “moshi” means its default weights. Raises ModelError when there is none."""
    models = catalogue()
    key = FRONTEND_WEIGHTS.get(key, key)
    if key not in models:
        raise ModelError(f"There is no model called “{key}”. There are: {', '.join(models)}.")
    return models[key]


def _model(row: dict[str, Any]) -> Model:
    """Returns the model of a row. Raises ValueError, KeyError or TypeError when the table is wrong."""
    row = dict(row)
    if row["kind"] not in KINDS:
        raise ValueError(f"{row['key']}: there is no kind {row['kind']}")
    source = (
        Packages(row.pop("lock"), row.pop("code", False))
        if "lock" in row
        else Hub(row.pop("repository"), row.pop("revision", ""))
    )
    return Model(
        source=source,
        languages=tuple(row.pop("languages")),
        files=tuple(map(_file, row.pop("file", ()))),
        voices=tuple(ModelVoice(**voice) for voice in row.pop("voice", ())),
        **row,
    )


def _file(row: dict[str, Any]) -> ModelFile:
    source = row.get("source", row["name"])
    pieces = tuple(source.format(n=n) for n in range(1, row["pieces"] + 1)) if "pieces" in row else (source,)
    return ModelFile(row["name"], row["bytes"], row["sha256"], pieces)
