"""The catalogue of models, read from the table in `resources/models.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from app.models.entry import KINDS, Hub, Kind, Model, ModelFile, ModelVoice, Packages
from app.models.errors import ModelError
from app.platform.resources import resource

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
