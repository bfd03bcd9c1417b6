"""Locates the files of the folder `resources`: beside `app` in a checkout or installation, inside it in a wheel."""

from __future__ import annotations

from pathlib import Path


def resource(*parts: str) -> Path:
    """Returns the path of a resource, which may not exist."""
    app = Path(__file__).resolve().parent.parent
    inside = app / "_resources"
    return (inside if inside.is_dir() else app.parent / "resources").joinpath(*parts)
