"""Shared parts of the benches' results: percentiles, Markdown tables, the machine's name, progress reports."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

Progress = Callable[[str], None]
"""Called with a few words on what is being measured."""


def no_progress(text: str) -> None:
    """Ignores progress reports."""


def machine() -> str:
    """The machine in words."""
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


def quantile(values: Sequence[float] | np.ndarray, share: float, digits: int = 3) -> float:
    """The quantile, rounded; nan without values."""
    return round(float(np.quantile(values, share)), digits) if len(values) else float("nan")


def rounded(value: Any, digits: int = 4) -> Any:
    """Rounds all floats in nested lists and dictionaries."""
    if isinstance(value, dict):
        return {key: rounded(one, digits) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one, digits) for one in value]
    return round(value, digits) if isinstance(value, float) else value


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]], *, text_columns: int = 1) -> list[str]:
    """The lines of a Markdown table; all but the first `text_columns` columns hold numbers."""
    marks = ["---" if column < text_columns else "---:" for column in range(len(head))]
    return ["| " + " | ".join(map(str, cells)) + " |" for cells in (head, marks, *rows)]


def paragraphs(sentences: Iterable[str]) -> list[str]:
    """Each sentence as a paragraph of its own."""
    return [line for sentence in sentences for line in ("", sentence)]


def progress_bar(done: int, of: int, width: int = 20) -> str:
    """A bar of `width` characters for `done` of so many."""
    filled = width * done // max(1, of)
    return f"[{'#' * filled}{'.' * (width - filled)}]"
