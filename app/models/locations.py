"""The locations of models on this machine. A model is either downloaded or part of an installed package.

Downloads are in `models_folder()/KEY`. Packages are never imported; only their data files are used.
"""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import Literal

import platformdirs

from app.models.catalogue import DEFAULTS, Hub, Kind, Model, ModelError, Packages, find_model
from app.models.layout import read_layout
from app.models.pool import MODELS
from app.platform.files import delete_file

State = Literal["here", "installed", "incomplete", "absent"]
"""`here`: downloaded; `installed`: part of a package in the app's environment; `incomplete`: partially downloaded."""


def models_folder() -> Path:
    """Returns the folder of downloaded models, which has one subfolder per model."""
    return platformdirs.user_data_path("kame-desktop", appauthor=False) / "models"


def weights_folder() -> Path:
    """Returns the folder for downloaded weights of KAME and Moshi."""
    return platformdirs.user_data_path("kame-desktop", appauthor=False) / "weights"


def repository_folder(repository: str) -> Path:
    """Returns the folder for the weights of a hub repository (`owner/name`)."""
    return weights_folder() / repository.replace("/", "--")


def folder_of(model: Model) -> Path:
    """Returns the folder for downloads of `model`."""
    if isinstance(model.source, Hub) and not model.source.revision:
        return repository_folder(model.source.repository)
    return models_folder() / model.key


def default_model(kind: Kind) -> Path:
    """Returns the path of a kind's default model; the path may not exist."""
    return model_path(DEFAULTS[kind])


def model_path(key: str) -> Path:
    """Returns the path of the file or folder that a model's engine loads; the path may not exist. Raises ModelError."""
    model = find_model(key)
    fetched = folder_of(model)
    inside = None if _complete(fetched, model) else installed_folder(model)
    return (inside or fetched) / model.main


def state_of(model: Model) -> State:
    """Returns the state of a model, judging by the names and sizes of its files."""
    folder = folder_of(model)
    if _complete(folder, model):
        return "here"
    if installed_folder(model) is not None:
        return "installed"
    return "incomplete" if folder.is_dir() or partial_folder(model).is_dir() else "absent"


def is_here(key: str) -> bool:
    """Returns whether a model is complete and can be used."""
    return state_of(find_model(key)) in ("here", "installed")


def partial_folder(model: Model) -> Path:
    """Returns the folder for the pieces of a model that is being downloaded."""
    return models_folder() / f".{model.key}.part"


def installed_folder(model: Model) -> Path | None:
    """Returns the folder of a model within an installed package, or None."""
    if not isinstance(model.source, Packages) or not model.files or any(len(f.source) > 1 for f in model.files):
        return None
    file = installed_file(model.files[0].source[0])
    return file.parent if file is not None and _complete(file.parent, model) else None


def installed_file(source: str) -> Path | None:
    """Returns the path of a file in an installed package, given as PACKAGE/PATH, or None if it doesn't exist."""
    package, _, inside = source.partition("/")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    file = Path(spec.submodule_search_locations[0]) / inside
    return file if file.is_file() else None


def remove_model(key: str) -> int:
    """Deletes a downloaded model and returns the number of bytes freed. Raises ModelError."""
    model = find_model(key)
    folders = [folder for folder in (folder_of(model), partial_folder(model)) if folder.is_dir()]
    if not folders:
        if installed_folder(model) is not None:
            raise ModelError(f"{model.label} came with the app and stays as long as the app does.")
        raise ModelError(f"{model.label} is not on this machine, so there is nothing to remove.")
    MODELS.forget(folder_of(model))
    freed = sum(file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file())
    try:
        for folder in folders:
            if model.main and (folder / model.main).is_file():
                # Delete this file first: on Windows, that fails if it is in use, in which case all others must be kept.
                delete_file(folder / model.main)
            shutil.rmtree(folder)
    except OSError as error:
        raise ModelError(
            f"{model.label} can't be removed from {error.filename or folders[0]} ({error.strerror or error}). If a "
            "conversation uses it or has used it just now, end the conversation and close the window, then remove it "
            "again."
        ) from error
    return freed


def _complete(folder: Path, model: Model) -> bool:
    """Returns whether `folder` contains all files of `model`, judging by their names and sizes."""
    if model.kind == "frontend":
        try:
            read_layout(folder, quickly=True)
        except (ModelError, OSError):
            return False
        return True
    if not model.files:
        return folder.is_dir() and any(folder.iterdir())
    try:
        return all((folder / file.name).stat().st_size == file.bytes for file in model.files)
    except OSError:
        return False
