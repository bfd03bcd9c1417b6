"""Helpers for results: formatting and plotting figures, grouping records, assembling reports, file errors."""

from __future__ import annotations

import importlib.util
import statistics
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from app.diagnostics.tables import machine, paragraphs, quantile

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


def shown(value: float | None, digits: int = 2) -> str:
    """Formats a figure for a table; a dash stands for None and NaN."""
    return "–" if value is None or value != value else f"{value:.{digits}f}"


def known(values: Iterable[T | None]) -> list[T]:
    """Returns the values that are not None."""
    return [value for value in values if value is not None]


def mean(values: Iterable[float | None]) -> float | None:
    """Returns the mean of the values that are not None; None if there are none."""
    there = known(values)
    return statistics.fmean(there) if there else None


def at_share(values: Iterable[float | None], share: float = 0.5) -> float | None:
    """Returns a quantile of the values that are not None, by default the median; None if there are none."""
    there = known(values)
    return quantile(there, share) if there else None


def grouped(items: Iterable[T], key: Callable[[T], Key]) -> dict[Key, list[T]]:
    """Groups items by key, both in order of first occurrence."""
    out: dict[Key, list[T]] = {}
    for item in items:
        out.setdefault(key(item), []).append(item)
    return out


def report(title: str, costs: str, lines: Iterable[str], notes: Iterable[str] = ()) -> str:
    """Returns a bench's report: title, machine, table and notes. `costs`: describes the stage delays of simulated time;
    empty in real time.
    """
    head = f"{title} in {'simulated' if costs else 'real'} time, {machine()}"
    return "\n".join([head, "", *lines, *paragraphs([*([costs] if costs else []), *dict.fromkeys(notes)])])


@contextmanager
def unreadable(kind: type[Exception], sentence: str) -> Iterator[None]:
    """Converts read and parse errors inside the block to `kind`, with `sentence` as the message, in which `{}` stands
    for the reason.
    """
    try:
        yield
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise kind(sentence.replace("{}", reason)) from error


NOT_DRAWN = "The figures were not drawn: they need matplotlib (the extra “figures” of kame-desktop)."


def draw(file: Path, title: str, plot: Callable[[Any], None]) -> bool:
    """Writes a figure as SVG. `plot` draws on the given axes. Returns False without matplotlib. Raises OSError."""
    if importlib.util.find_spec("matplotlib") is None:
        return False
    import matplotlib
    from matplotlib.figure import Figure

    file.parent.mkdir(parents=True, exist_ok=True)
    # Makes the file reproducible byte for byte.
    with matplotlib.rc_context({"svg.hashsalt": "kame", "font.size": 9, "svg.fonttype": "path"}):
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        axes = figure.add_subplot()
        plot(axes)
        axes.set_title(title)
        axes.grid(alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=8)
        figure.savefig(file, metadata={"Date": None})
    return True
