"""The model catalogue, read from `resources/models.toml`, with the source of each model and the digests of its files.

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

HUB = "https://huggingface.co"


ANY = "*"
"""In `Model.languages`, marks a multilingual model, which detects the language or takes it as a parameter."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of a model. `name`: its path relative to the model's folder.

    `source`: for packages, the files to concatenate, each as PACKAGE/PATH; for the hub, a single path in the
    repository.
    """

    name: str
    bytes: int
    sha256: str
    source: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelVoice:
    """A voice of a multi-voice model.

    - `name`: the engine's name for it.
    - `language`: its two-letter code.
    - `accent`: its language or accent, as a code of the engine or espeak-ng.
    - `gain`: the gain, in dB, that matches its loudness to the other voices.
    """

    name: str
    label: str
    language: str
    accent: str
    gain: float = 0.0


@dataclass(frozen=True, slots=True)
class Packages:
    """Wheels from the package registry, pinned by hash in `packaging/locks/<lock>`.

    `code`: whether the wheels also contain the engine's code, in which case the whole unpacked wheels are kept.
    """

    lock: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class Hub:
    """A repository on the hub. Without a `revision`, the latest files are used, with the digests listed by the hub."""

    repository: str
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """A model in the catalogue.

    - `engine`: the library that runs it.
    - `main`: the file that the engine loads; empty if it loads the whole folder.
    - `memory`: the number of bytes that it occupies when loaded.
    - `right`: the number of correct answers to the 120 questions of `bench facts`, asked as text; 0 if not
      measured.
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
        """The download size; approximate for packages with code."""
        return self.size or sum(file.bytes for file in self.files)

    def speaks(self, language: str) -> bool:
        """Returns whether the model supports a language (a two-letter code)."""
        return ANY in self.languages or language in self.languages


class ModelError(Exception):
    """An error concerning a model. `str(error)` is a user-facing message saying what happened and what to do."""


class DownloadCancelled(ModelError):
    """Raised if the user stopped a download. The partial download is kept for the next attempt."""

    def __init__(self) -> None:
        super().__init__("The download was stopped. What has come stays for the next try.")


DEFAULTS: Mapping[Kind, str] = {
    "frontend": "kame",
    "stt": "whisper-tiny.en",
    "endpointing": "smart-turn",
    "llm": "smollm2-135m",
    "tts": "piper-joe",
}
"""The default model of each kind: KAME's weights for front-ends, otherwise the model that ships with the app."""

FRONTEND_WEIGHTS = {"kame": "kame", "moshi": "moshiko"}
"""The key of the weights that each front-end uses by default."""


@cache
def catalogue() -> Mapping[str, Model]:
    """Returns all models, keyed by `Model.key`, in file order."""
    with resource("models.toml").open("rb") as file:
        return {row["key"]: _model(row) for row in tomllib.load(file)["model"]}


def models_of(kind: Kind) -> list[Model]:
    """Returns all models of a kind."""
    return [model for model in catalogue().values() if model.kind == kind]


def find_model(key: str) -> Model:
    """Returns the model with the given key, or a front-end's default weights if `key` names a front-end.

    Raises ModelError for an unknown key.
    """
    models = catalogue()
    key = FRONTEND_WEIGHTS.get(key, key)
    if key not in models:
        raise ModelError(f"There is no model called “{key}”. There are: {', '.join(models)}.")
    return models[key]


def _model(row: dict[str, Any]) -> Model:
    """Parses an entry of the catalogue. Raises ValueError, KeyError or TypeError if it is malformed."""
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
