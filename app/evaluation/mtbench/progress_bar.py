"""Writes how far a run is."""

from __future__ import annotations


def progress_bar(done: int, of: int, width: int = 20) -> str:
    """A bar of `width` characters for `done` of so many."""
    filled = width * done // max(1, of)
    return f"[{'#' * filled}{'.' * (width - filled)}]"
