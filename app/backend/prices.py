"""What a request costs, by a table that the user can edit: model names and US dollars for a million tokens.

The app's own table is `resources/prices.json`; a file of the same form in the user's settings folder goes before it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.backend.base import Usage


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens: read, read from the server's cache, written."""

    tokens_in: float
    tokens_cached: float
    tokens_out: float

    def of(self, usage: Usage) -> float:
        """US dollars for one request."""
        fresh = max(0, usage.tokens_in - usage.tokens_cached)
        paid = fresh * self.tokens_in + usage.tokens_cached * self.tokens_cached + usage.tokens_out * self.tokens_out
        return paid / 1e6


class Prices:
    """`prices[name]` is for all models whose name begins so; the longest name counts."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        self._prices = sorted(prices.items(), key=lambda pair: -len(pair[0]))

    def find(self, model: str) -> Price | None:
        """The price of a model, with or without its maker before a slash; None when it is not in the table."""
        names = (model.lower(), model.lower().rpartition("/")[2])
        return next((price for start, price in self._prices for name in names if _is(name, start)), None)


def _is(name: str, start: str) -> bool:
    """Whether `name` is the model `start` or a dated one of it: gpt-5-mini is no gpt-5."""
    rest = name.removeprefix(start)
    return name.startswith(start) and (not rest or rest[0] in "@:" or rest.lstrip("-")[:1].isdigit()
                                       or rest.startswith(("-latest", "-preview")))  # fmt: skip


def load_prices(own: Path, users: Path | None = None) -> tuple[Prices, str]:
    """The table in `own` with the user's on top; and a sentence when the user's can't be used, else an empty one."""
    table = _read(own)
    if users is None or not users.exists():
        return Prices(table), ""
    try:
        return Prices({**table, **_read(users)}), ""
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        return Prices(table), (
            f"Your price table can't be used ({error}), so the app's own is. Mend the file {users}, or delete it."
        )


def _read(path: Path) -> dict[str, Price]:
    value = json.loads(path.read_text("utf-8"))
    out = {}
    for name, row in value["models"].items():
        given = float(row["in"])
        out[name.lower()] = Price(given, float(row.get("cached", given)), float(row["out"]))
        if min(given, out[name.lower()].tokens_cached, out[name.lower()].tokens_out) < 0:
            raise ValueError(f"a price of “{name}” is below zero")
    return out
