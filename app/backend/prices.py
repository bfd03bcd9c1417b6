"""What a request costs, by a table that the user can edit: model names and US dollars for a million tokens.

The app's own table is `resources/prices.json`; a file of the same form in the user's settings folder goes before it.
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from app.backend.base import Usage
from app.platform.atomic_files import write_json


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
    return name.startswith(start) and (
        not rest or rest[0] in "@:" or rest.lstrip("-")[:1].isdigit() or rest.startswith(("-latest", "-preview"))
    )


def load_prices(own: Path, users: Path | None = None) -> tuple[Prices, str]:
    """The table in `own` with the user's on top; and a sentence when the user's can't be used, else an empty one."""
    table = read_prices(own)
    if users is None:
        return Prices(table), ""
    mine, problem = read_users(users)
    return Prices({**table, **mine}), problem


def read_prices(path: Path) -> dict[str, Price]:
    """The prices in a file, by names in small letters. Raises OSError, and ValueError when it is not of the form."""
    return _prices_of(_read(path))


def read_users(path: Path) -> tuple[dict[str, Price], str]:
    """The user's own prices, none where there is no file; and a sentence when the file can't be used."""
    if not path.exists():
        return {}, ""
    try:
        return read_prices(path), ""
    except (OSError, ValueError) as error:
        reason = error.strerror or error if isinstance(error, OSError) else error
        return {}, (
            f"Your price table can't be used ({reason}), so the app's own is. Mend the file {path}, or delete it."
        )


def differences(own: Mapping[str, Price], table: Mapping[str, Price]) -> dict[str, Price]:
    """What of `table` is not in `own` just so."""
    return {name: price for name, price in table.items() if own.get(name) != price}


def write_prices(path: Path, prices: Mapping[str, Price]) -> None:
    """Writes the user's prices, whole or not at all. Raises OSError.

    What else was in the file stays in it; one that could not be used is kept beside it as `*.broken`.
    """
    path = Path(os.path.realpath(path))  # what is set aside stays beside the file itself
    value: dict[str, Any] = {}
    broken = False
    try:
        value = _read(path)
        _prices_of(value)
    except FileNotFoundError:
        pass
    except (OSError, ValueError):
        value, broken = {}, True
    rows = {name.strip().lower(): row for name, row in value.get("models", {}).items()}
    value["models"] = {name: {**_others(rows.get(name, {})), **_row_of(price)} for name, price in prices.items()}
    write_json(path, value, indent=1, backup=_free(path.with_name(path.name + ".broken")) if broken else None)


def _free(path: Path) -> Path:
    """`path`, with a number behind it if there is such a file already."""
    names = (path.with_name(f"{path.name}{number}") for number in itertools.count(2))
    return path if not path.exists() else next(name for name in names if not name.exists())


def _others(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in ("in", "cached", "out")}


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON from line {error.lineno} on") from None
    except ValueError:
        raise ValueError("it is no text") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(value, dict) or not isinstance(value.get("models"), dict):
        raise ValueError('it is no object with "models"')
    return value


def _prices_of(value: Mapping[str, Any]) -> dict[str, Price]:
    out = {}
    for name, row in value["models"].items():
        if not name.strip():
            raise ValueError("a model has no name")
        try:
            given, cached = float(row["in"]), row.get("cached")
            price = Price(given, given if cached in (None, "") else float(cached), float(row["out"]))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise ValueError(f'“{name}” has not the numbers "in" and "out"') from None
        if not all(math.isfinite(part) and part >= 0 for part in astuple(price)):
            raise ValueError(f"a price of “{name}” is below zero, or no number")
        out[name.strip().lower()] = price
    return out


def _row_of(price: Price) -> dict[str, float]:
    row = {"in": price.tokens_in, "cached": price.tokens_cached, "out": price.tokens_out}
    if price.tokens_cached == price.tokens_in:
        del row["cached"]  # it means just that
    return row
