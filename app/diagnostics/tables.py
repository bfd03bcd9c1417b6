"""Helpers for benchmarks: quantiles, Markdown tables, a description of the machine, and progress reports."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

Progress = Callable[[str], None]
"""A callback that receives a short description of the current measurement."""


def no_progress(text: str) -> None:
    """A `Progress` that ignores all reports."""


def machine() -> str:
    """Returns a one-line description of the machine."""
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


def quantile(values: Sequence[float] | np.ndarray, share: float, digits: int = 3) -> float:
    """Returns the rounded quantile at `share` (0 to 1), or NaN without values."""
    return round(float(np.quantile(values, share)), digits) if len(values) else float("nan")


def rounded(value: Any, digits: int = 4) -> Any:
    """Returns `value` with all floats in nested lists and dictionaries rounded."""
    if isinstance(value, dict):
        return {key: rounded(one, digits) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one, digits) for one in value]
    return round(value, digits) if isinstance(value, float) else value


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]], *, text_columns: int = 1) -> list[str]:
    """Returns the lines of a Markdown table; columns after the first `text_columns` are right-aligned."""
    marks = ["---" if column < text_columns else "---:" for column in range(len(head))]
    return ["| " + " | ".join(map(str, cells)) + " |" for cells in (head, marks, *rows)]


def paragraphs(sentences: Iterable[str]) -> list[str]:
    """Returns the lines of Markdown text with one paragraph per sentence."""
    return [line for sentence in sentences for line in ("", sentence)]


def progress_bar(done: int, of: int, width: int = 20) -> str:
    """Returns a textual progress bar, `width` characters wide, for `done` out of `of` items."""
    filled = width * done // max(1, of)
    return f"[{'#' * filled}{'.' * (width - filled)}]"
