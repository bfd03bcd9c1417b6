"""The model catalogue, read from `resources/models.toml`: models, their sources, and files with sizes and digests.

The text of a `ModelError` is a user-facing message.
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
"""In `Model.languages`: a multilingual model, which detects the language or is told which one to use."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model, named relative to the model's folder.

    `source`: for packages, the files to concatenate, each as PACKAGE/PATH; for the hub, the single path in the
    repository.
    """

    name: str
    bytes: int
    sha256: str
    source: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelVoice:
    """One voice of a multi-voice model, by the engine's name for it.

    `language`: two-letter code; `accent`: the language in the engine's or espeak-ng's notation. `gain`: correction in
    dB that makes it as loud as the other voices.
    """

    name: str
    label: str
    language: str
    accent: str
    gain: float = 0.0


@dataclass(frozen=True, slots=True)
class Packages:
    """Wheels from the package registry, pinned by hash in `packaging/locks/<lock>`.

    `code`: the wheels also contain the engine's code, so they are kept as they are, including `Model.files`.
    """

    lock: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class Hub:
    """A repository on the hub. Without a `revision`, its latest files are used, with the digests listed by the hub."""

    repository: str
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """One model.

    - `engine`: the library that runs it.
    - `main`: the file that the engine loads; empty for the folder with all its files.
    - `memory`: bytes it occupies when loaded.
    - `right`: how many of the 120 questions of `bench facts` it answers correctly in typed form; 0 if not measured.
    - `note`: anything else the user should know before choosing it.
    - `voices`: the voices of a multi-voice model.
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
        """Returns whether it supports a language, given by its two-letter code."""
        return ANY in self.languages or language in self.languages


class ModelError(Exception):
    """`str(error)` is a user-facing message: what happened, what it means, what to do."""


class DownloadCancelled(ModelError):
    """The user has stopped a download; the partial download is kept for the next attempt."""

    def __init__(self) -> None:
        super().__init__("The download was stopped. What has come stays for the next try.")


DEFAULTS: Mapping[Kind, str] = {
    "frontend": "kame",
    "stt": "whisper-tiny.en",
    "endpointing": "smart-turn",
    "llm": "smollm2-135m",
    "tts": "piper-joe",
}
"""The model of each kind until the user chooses: KAME for front-ends with weights, otherwise what ships with the app.
"""

FRONTEND_WEIGHTS = {"kame": "kame", "moshi": "moshiko"}
"""The weights each front-end uses if the user specifies none."""


@cache
def catalogue() -> Mapping[str, Model]:
    """Returns all models by key, in the order of the table."""
    with resource("models.toml").open("rb") as file:
        return {row["key"]: _model(row) for row in tomllib.load(file)["model"]}


def models_of(kind: Kind) -> list[Model]:
    """Returns all models of a kind."""
    return [model for model in catalogue().values() if model.kind == kind]


def find_model(key: str) -> Model:
    """Returns the model `key`; “moshi” stands for its default weights. Raises ModelError if it is unknown."""
    models = catalogue()
    key = FRONTEND_WEIGHTS.get(key, key)
    if key not in models:
        raise ModelError(f"There is no model called “{key}”. There are: {', '.join(models)}.")
    return models[key]


def _model(row: dict[str, Any]) -> Model:
    """Parses a row of the table. Raises ValueError, KeyError or TypeError if it is malformed."""
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
