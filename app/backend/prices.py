"""Price tables (US dollars per million tokens, keyed by model name) and the cost of requests.

The built-in table is `resources/prices.json`. A file in the same format in the user's settings folder takes precedence.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from app.backend.base import Usage
from app.platform.files import free_name, write_json
from app.untrusted.files import read_versioned
from app.untrusted.limits import PRICES, OtherVersion, Refused

VERSION = 1
"""The file format version of the built-in and the user's price table."""


@dataclass(frozen=True, slots=True)
class Price:
    """A model's price in US dollars per million tokens of input, cached input and output."""

    tokens_in: float
    tokens_cached: float
    tokens_out: float

    def of(self, usage: Usage) -> float:
        """Returns the cost of one request in US dollars."""
        fresh = max(0, usage.tokens_in - usage.tokens_cached)
        paid = fresh * self.tokens_in + usage.tokens_cached * self.tokens_cached + usage.tokens_out * self.tokens_out
        return paid / 1e6


class Prices:
    """A price table. `prices[name]` applies to the model `name` and its dated versions; the longest match wins."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        self._prices = sorted(prices.items(), key=lambda pair: -len(pair[0]))

    def find(self, model: str) -> Price | None:
        """Returns the price of a model, or None if unknown. `model` may have a vendor prefix ("vendor/")."""
        names = (model.lower(), model.lower().rpartition("/")[2])
        return next((price for start, price in self._prices for name in names if _is_version_of(name, start)), None)


def _is_version_of(name: str, start: str) -> bool:
    """Returns whether `name` is the model `start` or a dated version of it; gpt-5-mini is not a version of gpt-5."""
    rest = name.removeprefix(start)
    return name.startswith(start) and (
        not rest or rest[0] in "@:" or rest.lstrip("-")[:1].isdigit() or rest.startswith(("-latest", "-preview"))
    )


def load_prices(own: Path, users: Path | None = None) -> tuple[Prices, str]:
    """Returns the prices in the file `own`, overridden by those in `users`, and an error message.

    The message is empty unless `users` is unusable.
    """
    table = read_prices(own)
    if users is None:
        return Prices(table), ""
    mine, problem = read_users(users)
    return Prices({**table, **mine}), problem


def read_prices(path: Path) -> dict[str, Price]:
    """Returns the prices in a file, keyed by lowercase name. Raises OSError, or ValueError if the file is malformed."""
    return _prices_of(_read(path))


def read_users(path: Path) -> tuple[dict[str, Price], str]:
    """Returns the user's prices (none if the file is missing) and an error message (empty if there was no error)."""
    if not path.exists():
        return {}, ""
    try:
        return read_prices(path), ""
    except (OSError, ValueError) as error:
        reason = error.strerror or error if isinstance(error, OSError) else error
        return {}, (
            f"Your price table can't be used ({reason}), so the app's own one is used. Correct the file {path}, or "
            "delete it."
        )


def differences(own: Mapping[str, Price], table: Mapping[str, Price]) -> dict[str, Price]:
    """Returns the entries of `table` that are missing from `own` or have another price there."""
    return {name: price for name, price in table.items() if own.get(name) != price}


def write_prices(path: Path, prices: Mapping[str, Price]) -> None:
    """Writes the user's prices atomically. Raises OSError.

    Unknown fields in the file are preserved. An unusable file is renamed to `*.broken` or `*.version-N`.
    """
    path = Path(os.path.realpath(path))  # resolve symbolic links, so that the backup is created next to the actual file
    value: dict[str, Any] = {}
    unusable = ""
    try:
        value = _read(path)
        _prices_of(value)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        value, unusable = {}, error.ending if isinstance(error, OtherVersion) else "broken"
    rows = {name.strip().lower(): row for name, row in value.get("models", {}).items()}
    value["models"] = {name: {**_others(rows.get(name, {})), **_row_of(price)} for name, price in prices.items()}
    backup = free_name(path, unusable) if unusable else None
    write_json(path, {"version": VERSION, **value}, indent=1, backup=backup)


def _others(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in ("in", "cached", "out")}


def _read(path: Path) -> dict[str, Any]:
    value = read_versioned(path, PRICES, VERSION)
    if not isinstance(value.get("models"), dict):
        raise Refused('it is not an object with "models"')
    return value


def _prices_of(value: Mapping[str, Any]) -> dict[str, Price]:
    prices = {}
    for name, row in value["models"].items():
        if not name.strip():
            raise ValueError("a model has no name")
        try:
            given, cached = float(row["in"]), row.get("cached")
            price = Price(given, given if cached in (None, "") else float(cached), float(row["out"]))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise ValueError(f'“{name}” lacks the numbers "in" and "out"') from None
        if not all(math.isfinite(part) and part >= 0 for part in astuple(price)):
            raise ValueError(f"a price of “{name}” is negative or not a number")
        prices[name.strip().lower()] = price
    return prices


def _row_of(price: Price) -> dict[str, float]:
    row = {"in": price.tokens_in, "cached": price.tokens_cached, "out": price.tokens_out}
    if price.tokens_cached == price.tokens_in:
        del row["cached"]  # the default
    return row
